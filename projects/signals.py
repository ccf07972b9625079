"""What higher layers may react to; sent inside the transaction of what happened.

`login_moved(person, lost, gained)`: a superuser took the login `lost` from a person or gave them `gained`;
the name of a console user, "" where there is none.

`membership_offered(member, actor)`: somebody invited a person into a study, or a superuser made them a member.

`house_restored(moved)`: the database is that of a backup; `moved`: nothing has run since it was made.
"""

from django.dispatch import Signal

login_moved = Signal()
membership_offered = Signal()
house_restored = Signal()
