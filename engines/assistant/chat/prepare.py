"""Steps 2 to 4: intents and subjects locally on the raw text, the gate, the context."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from django.conf import settings

from engines.assistant.chat.turn import LIMIT, Turn, resolve
from engines.assistant.intents import detect
from engines.assistant.tools import ToolContext
from engines.assistant.understand import State
from llm.asking import Llm
from memory import session
from memory.hot import injection
from memory.hot.tombstones import Guard
from memory.people import facts
from memory.visibility import scope_of
from projects.models import Member, Project
from skills import chat
from study import roster
from study.identities import names_in
from study.request_cache import Reader
from study.study_gate import gate_for


def prepare(project: Project, member: Member, text: str, at: datetime) -> Turn:
    """Everything a message needs before the first outside call of its own.

    Raises RedcapError, NotConfiguredError where the study was never read: without its roster no
    identifier could be recognised.
    """
    reader = Reader(project, member)
    roster.ensure_fresh(project, settings.ROSTER_MAX_AGE_S, reader.stored)
    gate = gate_for(reader)
    names = names_in(reader, text)
    # What is split is masked in pieces: an identifier that lies across a split is put together before.
    asked = resolve(gate.joined(text), names)
    scope = scope_of(member, reader)
    content = injection.read(project)
    ban = injection.length_ban(content, member.identity)
    guard = Guard(project, member.identity)
    talk = session.load(member, guard)
    said = facts.holding(member, text, guard=guard, scope=scope)
    return Turn(
        project=project,
        member=member,
        text=text,
        detection=detect(asked, record_id_pattern=project.record_id_pattern or None),
        gate=gate,
        llm=Llm(project, user_id=member.identity),
        context=ToolContext(project, member, gate, question=text, reader=reader),
        scope=scope,
        names=names,
        session=talk,
        hot=injection.inject(project, member, content=content, scope=scope, said=said),
        facts=facts.own(member, text, talk=talk, guard=guard, scope=scope, rows=said),
        skill=chat.of(project),
        limit=min(LIMIT, ban) if ban else LIMIT,
        at=at,
        talk=_spoken_of(talk),
    )


def _spoken_of(talk: session.Session) -> State:
    """What a follow-up refers to; after an answer of another kind the subjects that it was about."""
    kept = State.from_json(talk.talk)
    return kept if kept.subjects else replace(kept, subjects=tuple(talk.record_ids))
