"""Notify nodes: a message to members, its contents from data (decisions.md, "cron skills").

No model writes it and the run never waits for a person. The channel keeps it until its reader's time has
come and asks `renewed` before it sends what has waited.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Any
from uuid import UUID

from django.utils.timezone import now
from django.utils.translation import gettext as _
from pydantic import ValidationError

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
# More than the longest holiday has of an hourly schedule.
_NEWEST = 31 * 24


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
    reading, past = _read(node, run), Past.of(run)
    may_wait = "retry" in node.model_fields_set and run.attempts <= node.retry.times
    if reading.transient and may_wait:
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
            visits=_asked_about(made, member),
            has_picture=node.content == "weekly_report",
        )
        for member in recipients(node, run)
        if (made := briefing_material.Material(run.project, node, past.since(member), reading))
        and (text := briefing.compose(made, member))
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


def may_remind(run: TaskRun, member: Member) -> bool:
    """Whether a run that reminded a member of visits would still do so; not where its graph is broken."""
    try:
        nodes = Graph.model_validate(run.config).nodes.values()
    except ValidationError:
        return False
    reminders = (node for node in nodes if node.content == "visit_reminder")
    return run.skill.is_active and any(member in recipients(node, run) for node in reminders)


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
    reading = _read(node, run)
    if reading.records is None:
        raise Unreadable
    since = Past.of(run).since(member)
    return briefing.compose(briefing_material.Material(run.project, node, since, reading), member)


def _read(node: Node, run: TaskRun) -> briefing_material.Reading:
    if briefing.CONTENTS[node.content].needs_data:
        return briefing_material.read_study(run.project)
    return briefing_material.Reading()


@dataclass(frozen=True)
class Past:
    """The runs of the same workflow before a scheduled one: the times they were due, newest first."""

    run: TaskRun
    dues: Sequence[datetime]
    never_replaced: bool

    @classmethod
    def of(cls, run: TaskRun) -> Past:
        """Without the runs that told nobody because they failed."""
        graph = Graph.model_validate(run.config)
        runs = TaskRun.objects.filter(skill=run.skill, cause__startswith=SCHEDULED)
        runs = runs.exclude(status__in=(TaskRun.Status.FAILED, TaskRun.Status.CANCELLED))
        newest = runs.exclude(pk=run.pk).order_by("-created_at").values_list("cause", flat=True)
        dues = {_due(cause or "") for cause in newest[:_NEWEST]}
        return cls(run, sorted(dues, reverse=True), graph.urgent or graph.catch_up == "all")

    def since(self, member: Member) -> datetime:
        """When a member was told before: by the run before this one, however long the house was down.

        What waited for its reader until the next one was due, that one replaced: the reader was not told.
        Where no run told them, it is when the workflow was due before; a day ago where it runs out of turn.
        """
        cause, schedule = self.run.cause or "", self.run.skill.cron_schedule
        if not schedule or not cause.startswith(SCHEDULED):
            return self.run.created_at - timedelta(days=1)
        this = following = _due(cause)
        rest, best = Rest.of(self.run.project), best_time(member)
        for due in (one for one in self.dues if one < this):
            if self.never_replaced or not _waits(due, following, rest, best):
                return due
            following = due
        at = following - timedelta(minutes=1)
        last = cron.last_due(schedule, zone=self.run.project.timezone, at=at)
        return last or following - timedelta(days=1)


def _due(cause: str) -> datetime:
    return datetime.fromisoformat(cause.removeprefix(SCHEDULED))


def _waits(due: datetime, following: datetime, rest: Rest, best: time | None) -> bool:
    """Whether a message still waits when the following one is due, or has waited for that day over a rest.

    Either of the two may then be the first that is read: rather told twice than never.
    """
    told = delivery_time(due, rest, best).astimezone(rest.zone)
    on_rest = rest.rests_on(due.astimezone(rest.zone).date())
    is_same_day = told.date() == following.astimezone(rest.zone).date()
    return told >= following or (on_rest and is_same_day)


TYPE = NodeType(
    _work, is_slow=True, rehearse=lambda _node, _asks_llm: Skipped("would_notify", edge="on_pass")
)
