"""What a batch of runs tells who ordered it: one message at its end, not one a run (issue 3, Build)."""

from __future__ import annotations

from django.utils import translation
from django.utils.translation import gettext as _

from engines.models import Batch, PendingAction, RunEvent, TaskRun
from engines.sop.batches import progress
from engines.sop.checks import switch
from projects.models import Member
from study.models import Subject
from wechat.outbound.cards import link
from wechat.outbound.outbox import tell

SHOWN = 20


def finished(event: RunEvent) -> None:
    """Tell who ordered the batch what came of it, as far as they may see it today."""
    batch = event.batch
    if batch is None:
        return
    rows = Member.objects.active_of(batch.created_by).filter(project=batch.project)
    member: Member | None = rows.first()
    if member is None:
        return
    with translation.override(member.language):
        text = summary(batch, member)
        tell(to=member, content=text, key=f"batch:{batch.pk}")


def summary(batch: Batch, member: Member) -> str:
    """Workflow, number of subjects by state, whom it found something about, and where to look."""
    subjects = Subject.objects.for_member(member).filter(record_id__in=batch.record_ids)
    seen = {*subjects.values_list("record_id", flat=True)}
    mine = [record_id for record_id in batch.record_ids if record_id in seen or not member.site]
    counts = progress(batch, mine)
    name = batch.skill.name or batch.skill.skill_type
    head = _("the batch was cancelled") if batch.cancelled_at else _("the batch is finished")
    lines = [
        f"{name}: {head}",
        _("Subjects: %(number)d") % {"number": counts["total"]},
        *_states(counts),
        _findings(batch, mine),
        *_checked(batch),
        link(f"/admin/engines/batch/{batch.pk}/change/"),
    ]
    return "\n".join(lines)


def _checked(batch: Batch) -> list[str]:
    """What its last run looked at; they share the workflow."""
    last = batch.runs.filter(status=TaskRun.Status.COMPLETED).order_by("-completed_at")[:1]
    on = switch.running(batch.project)
    return [told for run in last if (told := switch.coverage(run, on))]


def _states(counts: dict[str, int]) -> list[str]:
    return [
        f"{state.label}: {counts[state.lower()]}"
        for state in TaskRun.Status
        if counts[state.lower()]
    ]


def _findings(batch: Batch, record_ids: list[str]) -> str:
    rows = PendingAction.objects.filter(
        project=batch.project,
        skill_type=batch.skill.skill_type,
        record_id__in=record_ids,
    ).unclosed()
    found = {*rows.values_list("record_id", flat=True)}
    named = [record_id for record_id in record_ids if record_id in found]
    if not named:
        return _("No open findings.")
    more = "…" if len(named) > SHOWN else ""
    values = {"number": len(named), "subjects": ", ".join(named[:SHOWN]) + more}
    return _("Subjects with open findings (%(number)d): %(subjects)s") % values
