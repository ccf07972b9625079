"""The state of one message on its way through the router."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db.models import Max
from django.utils.timezone import localtime

from core.language.values import PLACEHOLDER
from core.llm.asking import Llm
from core.privacy.fold_text import normalise
from core.privacy.gate import AT_SPLITS, Deidentified, Gate
from engines.assistant.read.scan import scan
from engines.assistant.read.setting import Setting, setting_of
from engines.assistant.read.task import Reading, State
from engines.assistant.read.tokens import Kind
from engines.assistant.tools import ToolContext, ToolResult
from engines.models import Review
from engines.models.traces import OPEN
from memory import session
from memory.hot import injection
from memory.hot.tombstones import Guard
from memory.models import MemoryQuestion
from memory.people import fact_store, facts
from memory.visibility import Scope, scope_of
from projects.endpoints import Purpose
from projects.models import Member, Project
from skills import chat
from skills.chat import ChatSkill
from study import free_text_values, roster
from study.blinding import mask
from study.design import StudyDesign, design_of, genes
from study.identities import gate_for, names_in, names_to_ids
from study.record_ids import pattern_of
from study.request_cache import Reader, Roster

LIMIT = 150
"""Characters of an answer, where its reader did not set fewer."""
_UNKNOWN = (Kind.LEFT, Kind.ABSENT)


@dataclass
class Turn:
    """Everything that one message needs; made by the router, read by the handlers.

    `asked`: the message with names turned into record ids. `reading`: what it wants. `answered`: our question
    about the reader that the message answers, and the value it gives. `state`: what follow-ups refer to;
    `is_open`: it was asked back, or the study does not collect what was asked for.
    `order`: what the answer offers to do. `said_yes`: what the message says to what the last one offered.
    `is_bounded`: the reader set the characters of an answer, or wants it short: nothing goes beyond them.
    `undo`: key of what it keeps about the reader, "" where that was taken back.
    """

    project: Project
    member: Member
    text: str
    asked: str
    gate: Gate
    llm: Llm
    context: ToolContext
    scope: Scope
    names: dict[str, list[str]]
    session: session.Session
    hot: injection.Injection
    facts: str
    limit: int
    is_bounded: bool
    at: datetime
    skill: ChatSkill = field(default_factory=ChatSkill)
    answer_id: UUID | None = None
    trace: list[dict[str, Any]] = field(default_factory=list)
    versions: list[str] = field(default_factory=list)
    results: list[ToolResult] = field(default_factory=list)
    task_runs: list[str] = field(default_factory=list)
    outside_down: bool = False
    success: bool = True
    answered: tuple[MemoryQuestion, fact_store.Detail] | None = None
    state: State = field(default_factory=State)
    reading: Reading = field(default_factory=Reading)
    is_open: bool = False
    order: dict[str, Any] | None = None
    said_yes: bool | None = None
    undo: str | None = None

    @cached_property
    def setting(self) -> Setting:
        """What the message is read in."""
        return setting_of(
            design=self.design,
            today=self.context.today,
            sites=self.sites,
            own_site=self.member.site,
            subjects=self.roster.present,
            pattern=pattern_of(self.project, self.roster.ids),
            terms=self.terms,
            reviewed=lambda: self.reviewed,
        )

    @property
    def engines(self) -> Llm:
        """The model of the engines, for answers in several steps."""
        return self.llm.of(Purpose.ENGINES)

    @cached_property
    def roster(self) -> Roster:
        """The stored roster with what this reader may see of it."""
        reader = self.context.reader or Reader(self.project, self.member)
        return reader.roster

    @cached_property
    def withheld(self) -> frozenset[str]:
        """Fields of genes: nothing the assistant says tells them (redcap_dify.md 5.2); and what is blinded."""
        hidden = mask.mask_of_member(self.project, self.member).fields
        return genes(self.context.metadata) | hidden

    @cached_property
    def design(self) -> StudyDesign:
        """The study as this reader's questions may speak of it."""
        return design_of(self.project, self.withheld)

    @cached_property
    def sites(self) -> Mapping[str, str]:
        """The sites that the reader may see: code -> label."""
        known, own = self.context.metadata.sites, self.member.site
        return {own: known.get(own, own)} if own else known

    @cached_property
    def terms(self) -> Mapping[str, frozenset[str]]:
        """What the rows that the reader may see are called."""
        return free_text_values.free_texts_of_member(self.project, self.design, self.member)

    @cached_property
    def reviewed(self) -> str:
        """When the last review of the reader's subjects was decided (ISO, the study's zone), "" for never."""
        seen = Review.objects.for_member(self.member)
        mine = seen.filter(project=self.project, record_id__in=self.roster.present)
        at = mine.aggregate(last=Max("decided_at"))["last"]
        here = localtime(at, ZoneInfo(self.project.timezone)) if at else None
        return here.replace(tzinfo=None).isoformat("T", "seconds") if here else ""

    def keep(self, state: State) -> None:
        """What the next message may refer to; nothing where it names somebody."""
        kept = json.dumps(state.as_json(), ensure_ascii=False)
        self.state = state if str(self.gate.text(kept)) == kept else State()

    def plain(self, text: str) -> str:
        """De-identified, only the kind of what was masked is told: also what the reader typed stays masked."""
        return PLACEHOLDER.sub(lambda found: f"[{found[1]}]", str(self.gate.text(text)))

    def question(self, text: str) -> Deidentified:
        """Words of the message as they may go out: names already turned into record ids, the rest masked."""
        return self.gate.text(self.resolved(text), own=True)

    def typed(self, words: str) -> str:
        """Words of the message with the blanks and stops that the reader typed.

        The gate takes them out of what it knows: whether they are there must not tell whom it knows.
        """
        letters = (re.escape(char) for char in normalise(words) if not AT_SPLITS.match(char))
        found = re.search(f"{AT_SPLITS.pattern}*".join(letters), normalise(self.text))
        return found[0] if found else words

    def resolved(self, text: str) -> str:
        """Names of subjects the reader may see, replaced by their record ids (E47)."""
        return names_to_ids(text, self.names)

    def note(self, what: str, *, spans: Sequence[Mapping[str, Any]] = (), **more: Any) -> None:
        """Add an item to the trace, de-identified; `spans`: of an answer, with the lines behind them."""
        item: dict[str, Any] = {"iteration": len(self.trace), "thought": what}
        item |= {key: str(self.gate.text(str(v)))[:200] for key, v in more.items()}
        self.trace.append(item | ({"spans": json.loads(self.gate.data(spans))} if spans else {}))

    def not_understood(self, words: Iterable[str]) -> None:
        """Keep the question for those who teach the house the study's words: with the words nobody knows."""
        self.is_open = True
        for word in words:
            tokens = scan(word, self.setting)
            unknown = [t.said for t in tokens if t.kind in _UNKNOWN and len(t.said) > 1]
            for one in unknown or [""]:
                self.note(OPEN, observation=one)

    def read(self, result: ToolResult) -> ToolResult:
        """Keep what a tool gave back."""
        self.results.append(result)
        self.outside_down |= result.outside_down
        return result


def prepare(project: Project, member: Member, text: str, at: datetime) -> Turn:
    """The gate, whom the message names, and the context that it is read in: before any outside call.

    Raises RedcapError, NotConfiguredError where the study was never read: without its roster no
    identifier could be recognised.
    """
    reader = Reader(project, member)
    roster.ensure_fresh(project, settings.ROSTER_MAX_AGE_S, reader.stored)
    gate = gate_for(reader)
    names = names_in(reader, text)
    # Names as they stand first. What is split is masked in pieces: an identifier across a split is joined.
    asked = gate.joined(names_to_ids(text, names))
    scope = scope_of(member, reader)
    content = injection.hot_text(project)
    guard = Guard(project, member.identity)
    talk = session.load(member, guard)
    # After an answer of another kind a follow-up refers to the subjects that it was about.
    kept = State.from_json(talk.talk)
    said = facts.holding(member, text, guard=guard, scope=scope)
    own = facts.own(member, text, talk=talk, guard=guard, scope=scope, rows=said)
    wanted = injection.length_ban(content, member.identity, own)
    return Turn(
        project=project,
        member=member,
        text=text,
        asked=asked,
        gate=gate,
        llm=Llm(project, user_id=member.identity),
        context=ToolContext(project, member, gate, question=text, reader=reader),
        scope=scope,
        names=names,
        session=talk,
        hot=injection.inject(project, member, content=content, scope=scope, said=said),
        facts=own,
        skill=chat.active_chat_skill(project),
        limit=min(LIMIT, wanted or LIMIT),
        is_bounded=bool(wanted) or injection.wants_short(content, member.identity, own),
        at=at,
        state=kept if kept.subjects else replace(kept, subjects=tuple(talk.record_ids)),
    )
