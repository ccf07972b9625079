"""What other layers may react to (design.md 2).

Sent with `send` inside the transaction of what happened; receivers only insert rows with a unique key.
`review_requested(run, review)`: a person is asked.
`review_joined(run, review)`: one more run waits for a review that is open.
`run_finished(run, decided)`: a run reached an end; `decided`: the review that was answered or withdrawn in
the same transaction, of which `review_decided` tells, or None.
`review_decided(run, review)`: a member answered, or the question was withdrawn.
`batch_finished(batch)`: nothing of a batch is left to start or runs any more.
`review_reminded(run, review)`, `review_escalated(run, review)`: it waits too long, each once a review;
an escalated review names ADMIN among its `reviewers`.
`notice_ready(run, notice)`: a member is to be told something (`engines.sop.notify.Notice`).
"""

from django.dispatch import Signal

review_requested = Signal()
review_joined = Signal()
review_reminded = Signal()
review_escalated = Signal()
review_decided = Signal()
run_finished = Signal()
batch_finished = Signal()
notice_ready = Signal()
