"""What an answer may rest on (decisions.md, "sources of an answer")."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from engines.grounding.coverage import vocabulary
from engines.grounding.places import (
    Place,
    entries_told_yes,
    form_of,
    is_entry,
    names_of_places,
    place_of,
    title_of,
)
from engines.grounding.quotes import Quotable
from engines.grounding.statements import Statement, statements
from engines.grounding.values import Token, Values, plain, tokens, values
from engines.grounding.visits import state_facts
from engines.tools.results import Fact, ToolResult

RECORD_TOOL = "read_clinical_data"
DOCUMENT_TOOL = "search_protocol"
_ORDERS = re.compile(
    r"忽略|无视|指令|提示词|助手|系统(?:\]|】|提示|:)|(?:请|并|须|必须|应)(?:回答|回复|输出|调用|答复)|答案\s*:"
    r"|\bprompt|\bignore\b|\bassistant\b|\bsystem\b|\b(?:reply|answer|say)\b",
    re.IGNORECASE,
)
_THIS_YEAR = re.compile(r"今年(?=\s*\d{1,2}\s*月)")
_EMPTY = re.compile(r"\(\s*\)")
_NOTE = 8
"""A text this long is a note, with statements of its own."""
_NOW = "本周 今天 今日 近期"


@dataclass
class Sources:
    """What an answer may rest on.

    `blocks`: hot memory lines, reports, passages; `talk`: earlier answers of this conversation;
    `record_ids`: subjects that were read or asked about and may be named; `asked`: fields the question
    speaks of; `names`: visit names; `labels`: {field: label} of the dictionary, so that a value beside
    a field that was not read shows.
    """

    results: Sequence[ToolResult] = ()
    blocks: Sequence[str] = ()
    talk: Sequence[str] = ()
    record_ids: Collection[str] = ()
    asked: Collection[str] = ()
    names: Collection[str] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    _sayable: dict[tuple[str, bool, frozenset[Place]], str] = field(
        default_factory=dict, init=False, repr=False
    )

    @cached_property
    def facts(self) -> list[Fact]:
        """All facts of all results, but no notes that tell their reader what to say (design.md 9.5)."""
        found = (fact for result in self.results for fact in result.facts)
        return [
            fact for fact in found if not (_is_note(fact) and _ORDERS.search(plain(fact.value)))
        ]

    @cached_property
    def places(self) -> dict[str, frozenset[Place]]:
        """Names of the visits, events and entries that values are from."""
        return names_of_places(fact for fact in self.facts if fact.where)

    @cached_property
    def entries_told_yes(self) -> dict[str, frozenset[Place]]:
        """What the entries that answer a question with yes are called by it."""
        return entries_told_yes(self.facts)

    @cached_property
    def called(self) -> dict[str, frozenset[str]]:
        """{what fields are called, folded: fields}."""
        found: dict[str, set[str]] = {}
        for name, label in self.labels.items():
            found.setdefault(bare(label), set()).add(name)
        for name, field_ in {(name, fact.field) for fact in self.facts for name in fact.names}:
            for said in (_folded(name), bare(name)):
                found.setdefault(said, set()).add(field_)
        return {name: frozenset(fields) for name, fields in found.items()}

    def has_name(self, token: Token) -> bool:
        """Whether a name (V2, 5.2.1) stands in a source."""
        known = {*self.places, *(name.casefold() for name in self.names)}
        return str(token.value).casefold() in known or any(
            held.holds(token) for _text, held in self.texts
        )

    @property
    def is_read(self) -> bool:
        """Whether anything was read for the answer; talk without it needs no source for its words."""
        return bool(self.results) or any("\n" in block for block in self.blocks)

    @property
    def has_documents(self) -> bool:
        """Whether passages of documents were read."""
        return any(result.tool == DOCUMENT_TOOL for result in self.results)

    @cached_property
    def statements(self) -> list[Statement]:
        """What the text sources and the notes of records say, statement by statement."""
        ids = self.subjects
        found = [one for block in self.blocks for one in statements(block, ids)]
        found += [one for text in self.talk for one in statements(text, ids, owned=True)]
        for result in self.results:
            counted = result.tool != DOCUMENT_TOOL
            blocks = () if result.tool == RECORD_TOOL else result.blocks
            for block in (*blocks, *_told(result.data)):
                found += statements(block, ids, counted=counted)
        return found + [one for fact in self.facts if _is_note(fact) for one in _of_note(fact)]

    @property
    def today(self) -> str:
        """The day that visits were looked at, "" where none were."""
        days = (r.data.get("今天") for r in self.results if isinstance(r.data, Mapping))
        return next((str(day) for day in days if day), "")

    def unread(self, subject: str) -> list[str]:
        """What questions that were not read of a subject ask for: `是否严重不良事件` asks for one."""
        read = {fact.field for fact in self.facts if fact.record_id == subject}
        known = {bare(name) for name in self.blank(subject)}
        asks = {f: bare(n) for f, n in self.labels.items() if subject and n.startswith("是否")}
        cores = {re.sub("^是否(?:存在|有)?", "", n) for f, n in asks.items() if f not in read}
        return sorted(core for core in cores if len(core) > 1 and core not in known)

    def notes(self, subject: str) -> list[str]:
        """What people wrote about a subject."""
        own = [f.value for f in self.facts if f.record_id == subject and _is_note(f)]
        return own + [one.text for one in self.statements if subject and subject in one.ids]

    @cached_property
    def trusted(self) -> str:
        """What those who run the study wrote, as one text: no values of records, no earlier answers."""
        return plain("\n".join([*self.blocks, *self._passages()])).casefold()

    @cached_property
    def everything(self) -> str:
        """All sources as one text."""
        parts = [*self.blocks, *self.talk, *self._passages(), *(f.value for f in self.facts)]
        for result in self.results:
            parts += [*_strings(result.data), *result.lines]
        return plain("\n".join(parts)).casefold()

    def vocabulary(
        self, subject: str, *, denied: bool, places: frozenset[Place] = frozenset()
    ) -> str:
        """Words that may be said of a subject (""; of the study): names, values, what is told of it.

        Where entries of a form are spoken of (`places`), the words of its other entries are not.
        """
        named = frozenset(place for place in places if place[0] == subject and is_entry(place[1]))
        key = subject, denied, named
        if key not in self._sayable:
            told = plain(" ".join(self._sayings(subject, named, denied=denied)))
            self._sayable[key] = vocabulary(told)
        return self._sayable[key]

    def _sayings(self, subject: str, named: frozenset[Place], *, denied: bool) -> list[str]:
        parts = [*self.labels.values(), *self.blank(subject)]
        forms = {form_of(where) for _subject, where in named}
        for fact in self.of(subject) if subject else self.facts:
            if form_of(fact.where) in forms and place_of(fact) not in named:
                continue
            parts += [*fact.names, fact.value, fact.where, *(fact.others if denied else ())]
        for result in self.results:
            if result.tool not in (RECORD_TOOL, DOCUMENT_TOOL):
                parts += [*_strings(result.data), *result.lines]
        if state_facts(self.facts):
            parts.append(_NOW)
        return parts + [one.text for one in self.statements if subject and subject in one.ids]

    @cached_property
    def texts(self) -> list[tuple[str, Values]]:
        """All text sources with their values."""
        blocks = [*self.blocks, *self.talk, *self._passages()]
        blocks += [text for result in self.results for text in _told(result.data)]
        return [(plain(block), values(block, self.record_ids)) for block in blocks]

    @cached_property
    def quotable(self) -> list[Quotable]:
        """All sources whose statements may be repeated word for word.

        What people typed into a record counts as a whole only: a sentence in it could be an instruction.
        An earlier answer that names nobody may have been about somebody else.
        """
        ids = self.record_ids
        found = [Quotable(block, ids) for block in (*self.blocks, *self._passages())]
        found += [Quotable(answer, ids, owned=True) for answer in self.talk]
        lines = (line for result in self.results for line in result.lines)
        return found + [Quotable(line, ids, whole=True) for line in lines]

    def undated(self, sentence: str) -> str:
        """Without the dates of a counted period that a sentence names: `上周(2026-11-10 ~ 2026-11-16)`.

        This year's number stands for `今年` before a month.
        """
        for fact in self.facts:
            if fact.field.startswith("period:") and fact.names[-1] in sentence:
                told = [t for t in tokens(plain(fact.names[0])) if t.kind == "date"]
                days = [t for t in tokens(sentence) if t.kind == "date"]
                same = (values(own.text).holds(day) for own, day in zip(told, days, strict=False))
                if len(days) == len(told) == 2 and all(same):
                    end = days[1].start + len(days[1].text)
                    sentence = _EMPTY.sub("", sentence[: days[0].start] + sentence[end:])
        return _THIS_YEAR.sub(f"{self._read_at}年", sentence) if self._read_at else sentence

    @property
    def _read_at(self) -> str:
        """The year in which the data were read, "" where it is not told."""
        times = (r.data.get("读取时间") for r in self.results if isinstance(r.data, Mapping))
        return next((str(time)[:4] for time in times if time), "")

    def unbracketed(self, sentence: str) -> str:
        """Names of fields without the brackets they end in, where only one field is called so."""
        return self._long_names.sub(lambda hit: bare(hit[0]), sentence)

    @cached_property
    def _long_names(self) -> re.Pattern[str]:
        names = {name for fact in self.facts for name in fact.names} | set(self.labels.values())
        names |= {name for result in self.results for name in result.blank}
        long = {name for name in map(_folded, names) if name.endswith(")") and bare(name)}
        same = Counter(map(bare, long))
        ordered = sorted((n for n in long if same[bare(n)] == 1), key=len, reverse=True)
        return re.compile("|".join(map(re.escape, ordered)) or r"(?!)", re.IGNORECASE)

    @cached_property
    def subjects(self) -> frozenset[str]:
        """Ids that may be named."""
        ids = {fact.record_id for fact in self.facts if fact.record_id} | set(self.record_ids)
        ids |= {rid for result in self.results for rid in result.record_ids}
        return frozenset(ids | {rid for _text, held in self.texts for rid in held.ids})

    def of(self, subject: str) -> list[Fact]:
        """Facts of a subject and of the study as a whole."""
        return [fact for fact in self.facts if fact.record_id in (subject, "")]

    def words(self, subject: str, *, alone: bool) -> str:
        """Everything that is told of a subject; `alone`: without what is told of the whole study."""
        whole = not (alone and subject)
        parts = [f.value for f in self.facts if f.record_id == subject]
        for result in self.results:
            own = result.record_ids == (subject,)
            if result.tool != RECORD_TOOL and (own or (whole and not _is_of_one(result))):
                parts += [*_strings(result.data), *result.lines]
                parts += [name for fact in result.facts for name in fact.names]
        blocks = [*self.blocks, *self.talk, *self._passages(of_several=whole)]
        parts += [b for b in blocks if not subject or _speaks_of(b, subject, self.subjects)]
        return plain("\n".join(parts)).casefold()

    def _passages(self, *, of_several: bool = True) -> Iterator[str]:
        """Text blocks of results; what is said of blank fields names them without telling anything.

        A sum over several subjects tells nothing of one (`of_several`).
        """
        for result in self.results:
            for block in result.blocks if result.tool != RECORD_TOOL else ():
                if of_several or len(result.record_ids) < 2 or values(block, result.record_ids).ids:
                    yield block

    def blank(self, subject: str) -> tuple[str, ...]:
        """Names of fields that were read and found empty."""
        found = (r.blank for r in self.results if r.record_ids == (subject,) or not subject)
        return tuple(name for names in found for name in names)


def _is_note(fact: Fact) -> bool:
    return (
        bool(fact.record_id)
        and not fact.others
        and len(fact.value) >= _NOTE
        and ":" not in fact.field
        and not title_of(fact)
    )


def _of_note(fact: Fact) -> list[Statement]:
    name = fact.names[0] if fact.names else ""
    found = statements(fact.value, ())
    return [
        replace(
            one, ids=frozenset({fact.record_id}), context=plain(name).casefold(), noted=fact.field
        )
        for one in found
    ]


def bare(label: str) -> str:
    """A label without its unit: `谷丙转氨酶ALT（U/L）`."""
    return plain(label).partition("(")[0].strip().casefold()


def _folded(name: str) -> str:
    return plain(name).strip().casefold()


def _is_of_one(result: ToolResult) -> bool:
    return len(result.record_ids) == 1


def _speaks_of(block: str, subject: str, known: Collection[str]) -> bool:
    ids = values(block, known).ids
    return not ids or subject in ids


def _strings(data: object) -> Iterator[str]:
    if isinstance(data, Mapping):
        for key, value in data.items():
            yield str(key)
            yield from _strings(value)
    elif isinstance(data, list | tuple):
        for value in data:
            yield from _strings(value)
    else:
        yield str(data)


def _told(data: object) -> Iterator[str]:
    """Texts of a result that are about no single field: times of reading, conventions, lists."""
    if isinstance(data, dict):
        for key in ("读取时间", "锚点约定", "今天", "汇总", "全部名单", "入组名单"):
            if isinstance(data.get(key), str):
                yield f"{key}:{data[key]}"
