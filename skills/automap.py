"""Proposing field mappings from the REDCap dictionary for an admin to accept (issue 3, Tools).

Nothing is stored before somebody accepts it. A name that could mean two fields is not proposed, and no
name is proposed for a field that identifies a person.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path

from core.house.db import atomic
from core.integrations.redcap import RedcapError
from core.privacy.identifying_fields import GENE
from projects.models import Project
from skills.mapping import aliases
from skills.models import FieldMapping
from skills.services import save_mapping
from study import dictionary
from study.client import NotConfiguredError
from study.metadata import StudyMetadata
from study.models import Dictionary

_PAREN = re.compile(r"\([^)]*\)")
_LATIN = re.compile(r"[a-z][a-z0-9]+(?: [a-z][a-z0-9]+)*")
_HAN = re.compile(r"[\u4e00-\u9fff]{2,}")
_BEFORE = re.compile(r"^(?:是否(?:存在|有)?|有无|请选择|请填写)")
_AFTER = re.compile(r"(?:结果|检查结果|评分)$")
_GENERIC = frozenset(
    (
        *("日期", "时间", "结果", "名称", "单位", "状态", "其他", "备注", "说明", "情况", "评分"),
        *("正常上限", "是否", "id", "no", "date", "name", "type", "text", "data", "score", "time"),
        *("unit", "start", "end", "yes", "if"),
    )
)
_NO_VALUE = frozenset({"descriptive", "file"})
LONGEST = 100

LABEL, PART, CLINICAL = "label", "part of the label", "clinical alias"


@dataclass(frozen=True, slots=True)
class Proposal:
    """`alias` would mean `field`, labelled `label`; `why`: label, part of the label, or clinical alias."""

    alias: str
    field: str
    why: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Offer:
    """Proposals from the dictionary of `read_at`; `is_old`: REDCap did not answer just now."""

    rows: Sequence[Proposal]
    read_at: datetime | None
    is_old: bool


def current_proposals(project: Project, hidden: Collection[str] = ()) -> Offer:
    """Proposals from the dictionary as REDCap has it now, or from the last one it showed us.

    Raises integrations.redcap.RedcapError, study.client.NotConfiguredError where none was ever read.
    """
    is_old = False
    try:
        dictionary.refresh(project)
    except (RedcapError, NotConfiguredError):
        is_old = True
    rows = propose(project, hidden)
    read_at = Dictionary.objects.filter(project=project).values_list("read_at", flat=True).first()
    return Offer(rows, read_at, is_old)


def propose(project: Project, hidden: Collection[str] = ()) -> list[Proposal]:
    """Mappings that the dictionary suggests and the study does not have, by field and alias.

    `hidden`: columns that the reader is not told of (`study.blinding.mask.unnamed_for`).
    Raises integrations.redcap.RedcapError, study.client.NotConfiguredError when none was ever read.
    """
    metadata = dictionary.load(project)
    taken = {_fold(alias) for alias in aliases(project)} | {_fold(n) for n in metadata.fields}
    found: dict[str, dict[str, str]] = {}
    for field in metadata.fields:
        for alias, why in _names(metadata, field):
            found.setdefault(alias, {}).setdefault(field, why)
    rows = [
        Proposal(alias, field, why, metadata.label(field))
        for alias, means in found.items()
        if len(means) == 1 and alias not in taken and _is_useful(alias)
        for field, why in means.items()
    ]
    order = {field: at for at, field in enumerate(metadata.fields)}
    proposed = (row for row in rows if _may(metadata, row.field, hidden))
    return sorted(proposed, key=lambda row: (order[row.field], row.alias))


def store_proposals(
    project: Project, aliases: Collection[str], actor: object, hidden: Collection[str] = ()
) -> list[FieldMapping]:
    """Store the proposals with these aliases, audited as `actor`; what is not proposed is left out."""
    wanted = {_fold(alias) for alias in aliases}
    chosen = [row for row in propose(project, hidden) if row.alias in wanted]
    with atomic():
        return [
            save_mapping(
                mapping=FieldMapping(project=project, alias_name=row.alias, actual_name=row.field),
                actor=actor,
            )
            for row in chosen
        ]


def _may(metadata: StudyMetadata, field: str, hidden: Collection[str]) -> bool:
    label = metadata.label(field)
    if field in hidden or field in metadata.identifier_fields or field == metadata.record_id_field:
        return False
    if metadata.fields[field]["field_type"] in _NO_VALUE:
        return False
    return not (GENE.search(field) or GENE.search(label))


def _is_useful(alias: str) -> bool:
    return 2 <= len(alias) <= LONGEST and alias not in _GENERIC


def _names(metadata: StudyMetadata, field: str) -> Iterable[tuple[str, str]]:
    """All that a field may be called. Fields without a proposal count too: they make a name ambiguous."""
    label = _fold(metadata.label(field))
    bare = _PAREN.sub("", label).strip()
    yield bare, LABEL
    parts = _parts(bare)
    yield from ((part, PART) for part in parts)
    own = {_fold(field), bare, *parts}
    for term in own:
        yield from ((alias, CLINICAL) for alias in _clinical().get(term, ()) if alias not in own)


def _parts(bare: str) -> Sequence[str]:
    core = _AFTER.sub("", _BEFORE.sub("", bare))
    pieces = [core, *_LATIN.findall(bare), *_HAN.findall(core)]
    return tuple(dict.fromkeys(piece for piece in pieces if piece and piece != bare))


@cache
def _clinical() -> Mapping[str, tuple[str, ...]]:
    path = Path(__file__).with_name("aliases.v1.json")
    groups = json.loads(path.read_text(encoding="utf-8"))
    return {_fold(term): tuple(map(_fold, group)) for group in groups for term in group}


def _fold(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
