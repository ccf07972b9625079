"""What higher layers may react to; sent inside the transaction of what happened.

`code_broken(broken)`: a `study.models.CodeBreak` was made; receivers only insert outbox rows.
`study_blinded(project)`: from now on what is written for all is written without what unblinds; receivers take
it out of what stands there already.
"""

from django.dispatch import Signal

code_broken = Signal()
study_blinded = Signal()
