"""Names and other identifiers of the subjects, for the privacy gate and for resolving names.

The decrypted values stay in this process; they are read again when the roster changes.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from uuid import UUID

from django.conf import settings

from core.house import clock
from core.house.encrypted_fields import json_in
from core.language.values import PLACEHOLDER
from core.privacy.fold_text import normalise
from core.privacy.gate import Gate
from core.privacy.identifier_index import Known
from core.privacy.identifiers import BIRTH
from core.privacy.strangers import Strangers
from study import roster
from study.metadata import StudyMetadata
from study.models import Subject
from study.request_cache import Reader

_NAME = re.compile(r"姓名|名字|(?:^|_)(?:name|xm|xingming)(?:$|_)", re.IGNORECASE)
_OTHER_PERSON = re.compile(
    r"医院|机构|科室|联系人|家属|监护人|医生|研究者|缩写|药|contact|guardian|hospital|doctor|drug|initial",
    re.IGNORECASE,
)
_TEXT = ("text", "notes")
_LATIN = re.compile(r"[A-Za-z]")
# Of the other identifiers these mean nobody else, wherever they stand: numbers of telephones and cards, mail.
_TELLING = re.compile(r"(?=(?:\D*\d){6})[A-Za-z\d][A-Za-z\d\s-]*|\S+@\S+")
_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}-\d{1,2}-\d{4}")
_DIGEST = re.compile(r"\b([0-9a-f]{64})\b")
"""Its digits would be taken for a telephone's; an inspector compares it whole."""


@dataclass(frozen=True, slots=True)
class Identity:
    """One subject's names and all (field, value) that identify it."""

    record_id: str
    names: tuple[str, ...]
    values: tuple[tuple[str, str], ...]


def names_in(reader: Reader, text: str) -> dict[str, list[str]]:
    """{name as `text` spells it: records}, of the subjects that the reader may see.

    A name inside a longer known name ("张三" in "张三丰") does not count; namesakes all come back.
    """
    people = _identities(reader)
    # The longer name wins even when its owner is of another site: it is not this subject.
    spoken = _spoken({name for person in people for name in person.names}, text)
    mine = [p for p in people if spoken and p.record_id in reader.roster.present]
    found = {
        name: [p.record_id for p in mine if name.casefold() in map(str.casefold, p.names)]
        for name in spoken
    }
    return {name: records for name, records in found.items() if records}


def names_to_ids(text: str, names: dict[str, list[str]]) -> str:
    """`text` with subjects' names replaced by their record ids; longer names first."""
    for name, ids in sorted(names.items(), key=lambda pair: -len(pair[0])):
        text = text.replace(name, "、".join(ids))
    return text


def known_identifiers(reader: Reader) -> Known:
    """Every stored identifier of every subject of the study, for the privacy gate, by field.

    Codes of choice fields are left out: "1" identifies nobody by itself. Built once per state of the roster.
    """
    identity = reader.metadata.identity
    return _known(_identities(reader), identity.births.union(identity.asked))


def names_of(reader: Reader) -> Names:
    """What every subject of the study is called, whoever reads: names, and numbers that are theirs alone.

    None before the first dictionary was read, which tells where the names stand.
    """
    return _names(_identities(reader)) if reader.roster.ids and reader.stored else NOBODY


@lru_cache(maxsize=16)
def _names(people: tuple[Identity, ...]) -> Names:
    return Names.of((name, person.record_id) for person in people for name in _called(person))


def _called(person: Identity) -> set[str]:
    values = {value for _field, value in person.values}
    telling = {
        value for value in values if _TELLING.fullmatch(value) and not _DATE.fullmatch(value)
    }
    return telling | set(person.names)


@lru_cache(maxsize=16)
def _known(people: tuple[Identity, ...], dates: frozenset[str]) -> Known:
    """`dates`: fields whose values are masked however the day is spelled."""
    by_field: dict[str, list[str]] = {}
    for person in people:
        for name, value in person.values:
            by_field.setdefault(BIRTH if name in dates else name, []).append(value)
    return Known.of(by_field, keep=[person.record_id for person in people])


def name_fields(metadata: StudyMetadata) -> frozenset[str]:
    """Identifier fields that hold the subject's own name."""
    return frozenset(
        name
        for name in metadata.identifier_fields
        if metadata.fields[name]["field_type"] in _TEXT
        and (_NAME.search(name) or _NAME.search(metadata.label(name)))
        and not _OTHER_PERSON.search(f"{name} {metadata.label(name)}")
    )


def _spoken(names: set[str], text: str) -> set[str]:
    """What `text` spells of the names that occur in it on their own."""
    found: set[str] = set()
    taken = [False] * len(text)
    folded = text.casefold()
    for name in sorted((n for n in names if n.casefold() in folded), key=len, reverse=True):
        # Latin names as whole words without case, Chinese names anywhere.
        whole = rf"(?<![A-Za-z]){re.escape(name)}(?![A-Za-z])"
        is_latin = _LATIN.search(name)
        for hit in re.finditer(whole if is_latin else re.escape(name), text, re.IGNORECASE):
            if not all(taken[hit.start() : hit.end()]):
                found.add(hit[0])
                taken[hit.start() : hit.end()] = [True] * len(hit[0])
    return found


def _identities(reader: Reader) -> tuple[Identity, ...]:
    if not reader.roster.ids:
        return ()
    metadata = reader.metadata
    # A code such as "1" identifies nobody by itself.
    texts = frozenset(
        name for name in metadata.identifier_fields if metadata.fields[name]["field_type"] in _TEXT
    )
    return _decrypted(reader.project.pk, reader.roster.state, name_fields(metadata), texts)


@lru_cache(maxsize=16)
def _decrypted(
    project_id: UUID, state: frozenset[str], names: frozenset[str], texts: frozenset[str]
) -> tuple[Identity, ...]:
    """Kept for the state of the roster and which fields are whose."""
    rows = Subject.objects.filter(project_id=project_id).order_by("record_id")
    return tuple(_identity(subject, names, texts) for subject in rows)


def _identity(subject: Subject, names: frozenset[str], texts: frozenset[str]) -> Identity:
    stored: dict[str, str] = json_in(subject.identifiers)
    of_field = [(key.partition("#")[0], value.strip()) for key, value in stored.items()]
    return Identity(
        record_id=subject.record_id,
        names=tuple(value for name, value in of_field if name in names and len(value) > 1),
        values=tuple((name, value) for name, value in of_field if name in texts and value),
    )


_BETWEEN = re.compile(r"(?<=[\u4e00-\u9fff])[\s·・]+(?=[\u4e00-\u9fff])|(?<=\d)[\s-](?=\d)")
_SPACE = re.compile(r"\s+")
_LATIN_LOWER = re.compile(r"[a-z]")


@dataclass(frozen=True, eq=False, repr=False)
class Names:
    """What people are called, and whose records that is; says nothing about who may see them.

    `starts`: the first two characters -> how long names are that begin so, longest first.
    """

    records: Mapping[str, frozenset[str]]
    starts: Mapping[str, tuple[int, ...]]

    @classmethod
    def of(cls, called: Iterable[tuple[str, str]]) -> Names:
        """From (name, record); namesakes are all meant by their name."""
        records: dict[str, set[str]] = {}
        for name, record in called:
            if len(folded := _folded(name.strip())) > 1:
                records.setdefault(folded, set()).add(record)
        starts: dict[str, set[int]] = {}
        for name in records:
            starts.setdefault(name[:2], set()).add(len(name))
        return cls(
            {name: frozenset(found) for name, found in records.items()},
            {start: tuple(sorted(found, reverse=True)) for start, found in starts.items()},
        )

    def named(self, text: str) -> frozenset[str]:
        """The records of everybody a text names; a name inside a longer one ("张三" in "张三丰") is none."""
        if not self.records:
            return frozenset()
        found: set[str] = set()
        reach = 0
        for start, name in self._hits(_folded(text)):
            if start + len(name) > reach:
                reach = start + len(name)
                found |= self.records[name]
        return frozenset(found)

    def _hits(self, text: str) -> Iterator[tuple[int, str]]:
        """The longest name at each place."""
        for at in range(len(text) - 1):
            for size in self.starts.get(text[at : at + 2], ()):
                name = text[at : at + size]
                if name in self.records and _alone(text, at, name):
                    yield at, name
                    break


NOBODY = Names({}, {})


def _alone(text: str, at: int, name: str) -> bool:
    """Latin names are whole words; Chinese names and numbers stand anywhere."""
    if not _LATIN_LOWER.search(name):
        return True
    return not (
        _LATIN_LOWER.match(text[at - 1 : at]) or _LATIN_LOWER.match(text[at + len(name) :][:1])
    )


def _folded(text: str) -> str:
    """However it is spelled: full width, capitals, "张 三", 138 0013 8000."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return _SPACE.sub(" ", _BETWEEN.sub("", plain))


def gate_for(reader: Reader) -> Gate:
    """A fresh gate for one request of the reader's member (None: a job of the house).

    Subjects of other sites are masked like identifiers, and so is what only looks like one: nobody's request
    may name them, nobody's reply tell that they exist (design.md 9.7).
    No transaction may be open. Raises integrations.redcap.RedcapError, study.client.NotConfiguredError
    where the study was never read: without its roster no identifier could be recognised.
    """
    roster.ensure_fresh(reader.project, settings.ROSTER_MAX_AGE_S, reader.stored)
    metadata = reader.metadata
    known, strangers = known_identifiers(reader), None
    if reader.member is not None and reader.member.site:
        known, strangers = _of_site(known, reader.roster.ids, reader.roster.mine)
    return Gate(
        known,
        identifier_fields=metadata.identifier_fields - {metadata.record_id_field},
        birth_fields=metadata.identity.births,
        labels=metadata.labels,
        today=clock.today(reader.project.timezone),
        digest_key=settings.SECRET_KEY.encode(),
        strangers=strangers,
    )


@lru_cache(maxsize=64)
def _of_site(known: Known, ids: tuple[str, ...], mine: frozenset[str]) -> tuple[Known, Strangers]:
    """For a member with a site: record ids that stay are the site's own, all others are strangers."""
    kept = Known.of({}, keep=mine).kept
    return replace(known, kept=kept), Strangers.of(ids, mine)


def unnamed(text: str, gate: Gate) -> str:
    """The text without identifiers; one that holds none, and a digest in it, stays as it was written."""
    parts = _DIGEST.split(text)
    if len(parts) > 1:
        return "".join(
            part if place % 2 else unnamed(part, gate) for place, part in enumerate(parts)
        )
    masked = str(gate.text(text))
    if masked == normalise(text):
        return text
    return PLACEHOLDER.sub(lambda found: f"[{found[1]}]", masked)
