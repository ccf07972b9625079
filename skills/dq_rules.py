"""A Data Quality rule of REDCap as a hard rule of ours, or why it is not one.

REDCap's rule is true where the data are wrong; ours holds where they are right. It is about one field: the
rows that hold it are looked at.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from projects.models import Project
from rules.errors import RuleError
from rules.redcap.parser import Logic, parse_logic
from rules.redcap.view import HERE, Ref
from skills.dq_file import LONGEST_NAME, Line
from skills.validation import rule_problems
from study.metadata import StudyMetadata

Rule = dict[str, Any]
_HERE = {"", HERE}


@dataclass(frozen=True, slots=True)
class Examined:
    """A line with the rule it became, or why it was not taken."""

    line: Line
    rule: Rule | None
    why: str = ""

    @property
    def key(self) -> str:
        """The rule's id; "" where there is none."""
        return str(self.rule["id"]) if self.rule else ""


def examine(project: Project, metadata: StudyMetadata, lines: Sequence[Line]) -> Iterator[Examined]:
    """Each line of a file, in order."""
    seen: set[str] = set()
    for line in lines:
        why = _named_badly(line, seen)
        seen.add(line.name)
        yield Examined(line, None, why) if why else _one(project, metadata, line)


def _named_badly(line: Line, seen: Collection[str]) -> str:
    if not line.name:
        return _("The rule has no name.")
    if len(line.name) > LONGEST_NAME:
        return _("The name is longer than %d characters.") % LONGEST_NAME
    return _("A rule above has the same name.") if line.name in seen else ""


def _one(project: Project, metadata: StudyMetadata, line: Line) -> Examined:
    if not line.logic:
        return Examined(line, None, _("REDCap’s rule has no logic."))
    try:
        logic = parse_logic(line.logic)
    except RuleError as error:
        return Examined(line, None, str(error))
    about = _about(logic, metadata)
    if about is None:
        return Examined(line, None, _("The logic names no field."))
    rule = {
        "id": rule_id(line.name),
        "field": about.name,
        "logic": {"!": [_limited(about, line.logic)]},
        "message": line.name,
    }
    why = "; ".join(dict.fromkeys(message for _path, message in rule_problems(project, [rule])))
    return Examined(line, None, why) if why else Examined(line, rule)


def rule_id(name: str) -> str:
    """Stays when the logic is mended: findings of a rule go on under its name."""
    return f"dq.{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def _about(logic: Logic, metadata: StudyMetadata) -> Ref | None:
    """The field that says which rows are looked at: of a repeating form first, then without event."""
    named = [ref for ref in logic.refs if "-" not in ref.name]
    repeating = {str(row.get("form_name") or "") for row in metadata.repeating}
    bare = [ref for ref in named if ref.event in _HERE and not ref.instance]
    repeated = [ref for ref in bare if _form(ref.name, metadata) in repeating - {""}]
    others = [ref for ref in bare if ref.name != metadata.record_id_field]
    return next(iter([*repeated, *others, *bare, *named]), None)


def _form(name: str, metadata: StudyMetadata) -> str:
    row = metadata.fields.get(name)
    return str(row["form_name"]) if row else name.removesuffix("_complete")


def _limited(about: Ref, text: str) -> Rule:
    """Logic that names its event everywhere is looked at there, once; REDCap asks it once for a record."""
    own = {"redcap": [text]}
    if about.event in _HERE or "-" in about.event:
        return own
    return {"and": [{"redcap": [f"[{HERE}] = '{about.event}'"]}, own]}
