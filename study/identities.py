"""Names and other identifiers of the subjects, for the privacy gate and for resolving names.

The decrypted values stay in this process; they are read again when the roster changes.
"""

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from uuid import UUID

from privacy.identifier_index import Known
from study.metadata import StudyMetadata
from study.models import Subject
from study.name_scan import NOBODY, Names
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


def known_identifiers(reader: Reader) -> Known:
    """Every stored identifier of every subject of the study, for the privacy gate, by field.

    Codes of choice fields are left out: "1" identifies nobody by itself. Built once per state of the roster.
    """
    return _known(_identities(reader))


def names_of(reader: Reader) -> Names:
    """What every subject of the study is called, whoever reads: names, and numbers that are theirs alone.

    None before the first dictionary was read, which tells where the names stand.
    """
    if not (reader.roster.ids and reader.stored):
        return NOBODY
    return _names(*_key(reader))


@lru_cache(maxsize=16)
def _names(
    project_id: UUID, state: frozenset[str], names: frozenset[str], texts: frozenset[str]
) -> Names:
    people = _decrypted(project_id, state, names, texts)
    return Names.of((name, person.record_id) for person in people for name in _called(person))


def _called(person: Identity) -> set[str]:
    values = {value for _field, value in person.values}
    telling = {
        value for value in values if _TELLING.fullmatch(value) and not _DATE.fullmatch(value)
    }
    return telling | set(person.names)


@lru_cache(maxsize=16)
def _known(people: tuple[Identity, ...]) -> Known:
    by_field: dict[str, list[str]] = {}
    for person in people:
        for name, value in person.values:
            by_field.setdefault(name, []).append(value)
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
        for hit in _pattern(name).finditer(text):
            if not all(taken[hit.start() : hit.end()]):
                found.add(hit[0])
                taken[hit.start() : hit.end()] = [True] * len(hit[0])
    return found


def _pattern(name: str) -> re.Pattern[str]:
    """Latin names as whole words without case, Chinese names anywhere."""
    if _LATIN.search(name):
        return re.compile(rf"(?<![A-Za-z]){re.escape(name)}(?![A-Za-z])", re.IGNORECASE)
    return re.compile(re.escape(name))


def _identities(reader: Reader) -> tuple[Identity, ...]:
    return _decrypted(*_key(reader)) if reader.roster.ids else ()


def _key(reader: Reader) -> tuple[UUID, frozenset[str], frozenset[str], frozenset[str]]:
    """What the decrypted values depend on: the state of the roster and which fields are whose."""
    metadata = reader.metadata
    return reader.project.pk, reader.roster.state, name_fields(metadata), _text(metadata)


def _text(metadata: StudyMetadata) -> frozenset[str]:
    """Identifier fields with free text; a code such as "1" identifies nobody by itself."""
    return frozenset(
        name for name in metadata.identifier_fields if metadata.fields[name]["field_type"] in _TEXT
    )


@lru_cache(maxsize=16)
def _decrypted(
    project_id: UUID, state: frozenset[str], names: frozenset[str], texts: frozenset[str]
) -> tuple[Identity, ...]:
    rows = Subject.objects.filter(project_id=project_id).order_by("record_id")
    return tuple(_identity(subject, names, texts) for subject in rows)


def _identity(subject: Subject, names: frozenset[str], texts: frozenset[str]) -> Identity:
    stored: dict[str, str] = json.loads(subject.identifiers)
    of_field = [(key.partition("#")[0], value.strip()) for key, value in stored.items()]
    return Identity(
        record_id=subject.record_id,
        names=tuple(value for name, value in of_field if name in names and len(value) > 1),
        values=tuple((name, value) for name, value in of_field if name in texts and value),
    )
