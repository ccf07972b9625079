"""What other layers may react to (design.md 2).

Sent with `send` inside the transaction of what happened; receivers only insert rows with a unique key.
`review_requested(run, review)`: a person is asked. `run_finished(run)`: a run reached an end.
`review_decided(run, review)`: a person answered, or the question was withdrawn.
`review_reminded(run, review)`, `review_escalated(run, review)`: it waits too long, each once a review;
an escalated review names ADMIN among its `reviewers`.
"""

from django.dispatch import Signal

review_requested = Signal()
review_reminded = Signal()
review_escalated = Signal()
review_decided = Signal()
run_finished = Signal()
