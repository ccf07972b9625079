"""Steps 2 to 4: intents and subjects locally on the raw text, the gate, the context."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings

from engines.chat.turn import LIMIT, Turn, resolve
from engines.intents import detect
from engines.llm import Llm
from engines.outgoing import gate_for
from engines.tools import ToolContext
from memory import facts, hot, session
from memory.tombstones import Guard
from memory.visibility import scope_of
from projects import roster
from projects.identities import names_in
from projects.models import Member, Project
from projects.reader import Reader


def prepare(project: Project, member: Member, text: str, at: datetime) -> Turn:
    """Everything a message needs before the first outside call of its own.

    Raises RedcapError, NotConfiguredError where the study was never read: without its roster no
    identifier could be recognised.
    """
    reader = Reader(project, member)
    roster.ensure_fresh(project, settings.ROSTER_MAX_AGE_S, reader.stored)
    gate = gate_for(reader)
    names = names_in(reader, text)
    scope = scope_of(member, reader)
    content = hot.read(project)
    ban = hot.length_ban(content, member.wecom_userid)
    guard = Guard(project, member.identity)
    talk = session.load(member, guard)
    said = facts.holding(member, text, guard=guard, scope=scope)
    return Turn(
        project=project,
        member=member,
        text=text,
        detection=detect(resolve(text, names), record_id_pattern=project.record_id_pattern or None),
        gate=gate,
        llm=Llm(project, user_id=member.identity),
        context=ToolContext(project, member, gate, question=text, reader=reader),
        scope=scope,
        names=names,
        session=talk,
        hot=hot.inject(project, member, content=content, scope=scope, said=said),
        facts=facts.own(member, text, talk=talk, guard=guard, scope=scope, rows=said),
        limit=min(LIMIT, ban) if ban else LIMIT,
        at=at,
    )
