"""Notify nodes: a message to members, its contents from data (decisions.md, "cron skills").

No model writes it and the run never waits for a person. The channel keeps it until its reader's time has
come and asks `renewed` before it sends what has waited.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.utils.timezone import now
from django.utils.translation import gettext as _

from core.house import cron
from engines import briefing, briefing_material
from engines.models import RunEvent, TaskRun
from engines.sop.errors import Fault
from engines.sop.nodes.base import Done, NodeType, Skipped, Visit
from memory.people.own_settings import best_time
from projects.models import Member, Project
from projects.quiet import Rest, delivery_time
from skills.graph import Graph, Node

SCHEDULED = "cron:"
# More than the longest holiday has.
_NEWEST = 31


@dataclass(frozen=True)
class Notice:
    """A message for one member, not to be delivered before `not_before`.

    `node` and `seq` say which step of the run it comes from; a step that is tried again is the same one.
    `replaces`: an older one of the same node that still waits is not needed any more. `visits`: what the
    member is asked about beside the text, (subject, visit, first day, last day of the window) as ISO text.
    `record`: the subject ("": none) of a text that is not worked out again when it has waited; it goes to who
    may still know of them.
    `has_picture`: charts of the week go with it, drawn for the member when they are sent.
    """

    member: Member
    text: str
    not_before: datetime
    node: str
    seq: int
    replaces: bool = True
    visits: Sequence[Sequence[str]] = ()
    record: str | None = None
    has_picture: bool = False

    def as_payload(self) -> dict[str, Any]:
        """What a run event keeps of it."""
        at = self.not_before.isoformat()
        return {**vars(self), "member": str(self.member.pk), "not_before": at}

    @classmethod
    def of(cls, event: RunEvent) -> Notice | None:
        """The message that an event is about; None where its reader is none any more."""
        kept: dict[str, Any] = event.payload or {}
        people = Member.objects.select_related("project", "person").filter(is_active=True)
        member = people.filter(pk=kept["member"]).first()
        at = datetime.fromisoformat(kept["not_before"])
        return cls(**{**kept, "member": member, "not_before": at}) if member else None


class Unreadable(Exception):
    """Whether a message that waited still holds cannot be said now."""


def _work(visit: Visit) -> Done:
    """Everybody's message, for the channels.

    Where REDCap cannot be read the messages say so, after the retries if the node asks for any (Fault).
    """
    node, run = visit.node, visit.run
    visit.keep_alive()
    material = _material(node, run)
    may_wait = "retry" in node.model_fields_set and run.attempts <= node.retry.times
    if material.reading.transient and may_wait:
        raise Fault(_("REDCap could not be read."), transient=True)
    graph = Graph.model_validate(run.config)
    notices = [
        Notice(
            member=member,
            text=text,
            not_before=deliver_at(member, urgent=graph.urgent),
            node=run.current_node or "",
            seq=run.seq,
            replaces=graph.catch_up != "all",
            visits=_asked_about(material, member),
            has_picture=node.content == "weekly_report",
        )
        for member in recipients(node, run)
        if (text := briefing.compose(material, member))
    ]
    told = [notice.as_payload() for notice in notices]
    return Done("on_pass", {"messages": len(notices)}, notices=told)


def _asked_about(
    material: briefing_material.Material, member: Member
) -> list[tuple[str, str, str, str]]:
    """The visits of a reminder; other messages ask nothing."""
    if material.node.content != "visit_reminder":
        return []
    found = briefing.upcoming(material.for_reader(member), material.node.days)
    return [(record.record_id, one.visit, str(one.open), str(one.close)) for record, one in found]


def recipients(node: Node, run: TaskRun) -> list[Member]:
    """Active members of the node's roles who can be reached; nobody once the study is closed."""
    if run.project.status == Project.Status.CLOSED:
        return []
    people = Member.objects.filter(project=run.project, is_active=True, role__in=node.roles)
    people = people.exclude(wecom_userid="").select_related("project", "person")
    if run.unblinds and run.project.blinded_since:
        people = people.filter(is_unblinded=True)  # that there is a message may tell an arm
    return [*people.order_by("wecom_userid")]


def deliver_at(member: Member, *, urgent: bool = False) -> datetime:
    """The reader's next good time; at once for what is urgent."""
    if urgent:
        return now()
    return delivery_time(now(), Rest.of(member.project), best_time(member))


def waits_for_readers(run: TaskRun) -> bool:
    """Whether nobody asked for what the run tells, so that it can wait: a schedule that is not urgent."""
    is_scheduled = (run.cause or "").startswith(SCHEDULED)
    return is_scheduled and not Graph.model_validate(run.config).urgent


def renewed(run_id: UUID | str, node_key: str, userid: str) -> str:
    """The message as it would read now; "" when there is nothing (any more) to tell this member.

    Visits get done, people leave, workflows are switched off while a message waits. Raises Unreadable.
    """
    run = TaskRun.objects.select_related("project", "skill").filter(pk=run_id).first()
    if run is None or not run.skill.is_active:
        return ""
    node = Graph.model_validate(run.config).nodes[node_key]
    member = next((one for one in recipients(node, run) if one.wecom_userid == userid), None)
    if member is None:
        return ""
    material = _material(node, run)
    if material.reading.records is None:
        raise Unreadable
    return briefing.compose(material, member)


def _material(node: Node, run: TaskRun) -> briefing_material.Material:
    needs_data = briefing.CONTENTS[node.content].needs_data
    reading = (
        briefing_material.read_study(run.project) if needs_data else briefing_material.Reading()
    )
    return briefing_material.Material(run.project, node, since(run), reading)


def since(run: TaskRun) -> datetime:
    """When members were told before: the run before this one, however long the house was down.

    What a holiday held back, a newer message replaced: nobody was told. Where there is no such run, it is when
    the workflow was due before; a day ago where it runs out of turn.
    """
    cause, schedule = run.cause or "", run.skill.cron_schedule
    if not schedule or not cause.startswith(SCHEDULED):
        return run.created_at - timedelta(days=1)
    due = _due(cause)
    told = [before for before in _told(run) if before < due]
    last = cron.last_due(schedule, zone=run.project.timezone, at=due - timedelta(minutes=1))
    return max(told, default=last or due - timedelta(days=1))


def _due(cause: str) -> datetime:
    return datetime.fromisoformat(cause.removeprefix(SCHEDULED))


def _told(run: TaskRun) -> Iterator[datetime]:
    """The due times of the newest runs that reached their readers."""
    rest, urgent = Rest.of(run.project), Graph.model_validate(run.config).urgent
    runs = TaskRun.objects.filter(skill=run.skill, cause__startswith=SCHEDULED)
    runs = runs.exclude(status__in=(TaskRun.Status.FAILED, TaskRun.Status.CANCELLED))
    newest = runs.exclude(pk=run.pk).order_by("-created_at").values_list("cause", flat=True)
    for due in (_due(cause or "") for cause in newest[:_NEWEST]):
        if urgent or not rest.rests_on(due.astimezone(rest.zone).date()):
            yield due


TYPE = NodeType(
    _work, is_slow=True, rehearse=lambda _node, _asks_llm: Skipped("would_notify", edge="on_pass")
)
