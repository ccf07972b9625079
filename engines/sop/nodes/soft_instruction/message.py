"""What a workflow's model has the house tell members: run events, which the channels read.

The message carries no identifier, goes to members who may see the subject, and is told once a step and
recipient: a node that is tried again sends nothing twice.
"""

from __future__ import annotations

from core.house.db import atomic
from core.privacy.gate import Gate
from engines.models import TaskRun
from engines.sop import run_events
from engines.sop.nodes.notify import Notice, deliver_at, waits_for_readers
from memory.visibility import concerns, may_know, told_to
from projects.models import Member


def send(run: TaskRun, gate: Gate, roles: list[str], text: str) -> int:
    """Have the text told to the members of these roles; returns how many it has something to tell."""
    urgent = not waits_for_readers(run)
    notices = [
        Notice(
            member=member,
            text=theirs,
            not_before=deliver_at(member, urgent=urgent),
            node=run.current_node or "",
            seq=run.seq,
            replaces=False,
            record=run.record_id or "",
        )
        for member in recipients(run, roles)
        if (theirs := _told(gate, member, text))
    ]
    with atomic():
        for notice in notices:
            run_events.keep_event(run_events.Kind.NOTICE_READY, run, payload=notice.as_payload())
    return len(notices)


def _told(gate: Gate, member: Member, text: str) -> str:
    """The lines that are for this member, masked; "" where there is none."""
    if not concerns(member, text):
        return ""
    # A masked name no longer tells whose line it is, so the lines are chosen before.
    theirs = str(gate.text(told_to(member, text)))
    return theirs if told_to(member, theirs).strip() else ""


def recipients(run: TaskRun, roles: list[str]) -> list[Member]:
    """Active members of these roles who can be reached and may see the workflow's subject."""
    members = Member.objects.filter(project=run.project, is_active=True, role__in=roles)
    members = members.exclude(wecom_userid="").select_related("project", "person")
    return [member for member in members if may_know(member, run.record_id or "")]
