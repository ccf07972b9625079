"""What the signals of lower layers become in WeCom: outbox rows with unique keys, nothing else (design.md 2).

Signals arrive inside the transaction of what happened, so a row exists exactly if it did.
"""

from __future__ import annotations

from typing import Any

from django.dispatch import receiver
from django.utils import translation
from django.utils.translation import gettext as _

from engines.models import Review, TaskRun
from engines.signals import (
    review_decided,
    review_escalated,
    review_joined,
    review_reminded,
    review_requested,
    run_finished,
)
from memory import hot
from memory.hot_signals import memory_over_cap
from memory.models import MemoryProposal, ProjectMemory
from projects.models import Member, Person, Role
from projects.signals import login_moved
from wechat import cards, logins, outbox, reconcile, run_events
from wechat.run_events import What


@receiver(review_requested, dispatch_uid="wechat.review_requested")
def on_review_requested(*, run: TaskRun, review: Review, **_kwargs: Any) -> None:
    """The reviewers are to be asked by card, and who ordered the run is to be told that it waits."""
    run_events.keep(What.ASKED, run, review)


@receiver(review_joined, dispatch_uid="wechat.review_joined")
def on_review_joined(*, run: TaskRun, review: Review, **_kwargs: Any) -> None:
    """Who ordered the run is to be told that it waits."""
    run_events.keep(What.JOINED, run, review)


@receiver(review_decided, dispatch_uid="wechat.review_decided")
def on_review_decided(*, run: TaskRun, review: Review, **_kwargs: Any) -> None:
    """The buttons are to be taken off the review's cards."""
    run_events.keep(What.DECIDED, run, review)


@receiver(review_reminded, dispatch_uid="wechat.review_reminded")
def on_review_reminded(*, review: Review, **_kwargs: Any) -> None:
    """Recall a waiting review to its reviewers, once."""
    reconcile.remind(review, f"reminded:{review.pk}@{review.version}")


@receiver(review_escalated, dispatch_uid="wechat.review_escalated")
def on_review_escalated(*, review: Review, **_kwargs: Any) -> None:
    """Put a waiting review to the administrators, once."""
    reconcile.escalate(review)


@receiver(login_moved, dispatch_uid="wechat.login_moved")
def on_login_moved(*, person: Person, lost: str, gained: str, **_kwargs: Any) -> None:
    """Whose login was given or taken is told."""
    logins.tell(person, lost=lost, gained=gained)


@receiver(run_finished, dispatch_uid="wechat.run_finished")
def on_run_finished(*, run: TaskRun, decided: Review | None = None, **_kwargs: Any) -> None:
    """Who ordered the run is to be told what came of it; a batch is told at its end.

    Where a review was decided with it, that event tells it too.
    """
    if decided is None and not run.batch_id:
        run_events.keep(What.FINISHED, run)


@receiver(memory_over_cap, dispatch_uid="wechat.memory_over_cap")
def on_memory_over_cap(
    *, memory: ProjectMemory, tokens: int, proposal: MemoryProposal | None, **_kwargs: Any
) -> None:
    """The administrators are to be told, once for each text that is too long (seed 000, 5.1)."""
    people = Member.objects.filter(project=memory.project, role=Role.ADMIN, is_active=True)
    for member in people:
        with translation.override(member.language):
            text = _over_cap(memory, tokens, proposal)
        outbox.tell(
            to=member,
            content=text,
            key=f"over-cap:{memory.pk}@{memory.version}:{member.wecom_userid}",
        )


def _over_cap(memory: ProjectMemory, tokens: int, proposal: MemoryProposal | None) -> str:
    """How much too long, what is proposed and where to decide; no line of the memory itself."""
    head = _(
        "The hot memory of %(study)s has %(tokens)s tokens; %(limit)s fit. What does not fit is left out"
        " of every answer."
    ) % {"study": memory.project.code, "tokens": tokens, "limit": hot.LIMIT}
    if proposal is None:
        what = _("Nothing can be proposed to leave out; please shorten it by hand.")
        path = f"/admin/memory/projectmemory/{memory.pk}/change/"
    else:
        what = _("Proposed: %(gone)s lines go, %(new)s shorter ones say what matters of them.") % {
            "gone": len(proposal.old.splitlines()),
            "new": len(proposal.new.splitlines()),
        }
        path = f"/admin/memory/memoryproposal/{proposal.pk}/change/"
    return "\n".join((head, what, cards.link(path)))
