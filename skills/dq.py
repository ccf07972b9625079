"""Data Quality rules of REDCap, taken over from their CSV: a report line each, and a skill that runs them."""

from __future__ import annotations

import csv
import hashlib
import io
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils import translation
from django.utils.translation import gettext as _

from core.house.db import atomic
from core.integrations.redcap import RedcapError
from core.rules.limits import RuleError
from core.rules.redcap.nodes import HERE, Ref
from core.rules.redcap.parser import Logic, parse_logic
from projects import audit
from projects.models import Project
from skills.models import QualityRule, Skill
from skills.rule_check import check_rules
from skills.services import save_skill
from study import dictionary
from study.client import NotConfiguredError
from study.metadata import StudyMetadata

COLUMNS = ("rule_name", "rule_logic", "real_time_execution")
MOST_BYTES = 2 * 1024 * 1024
MOST_RULES = 1000
LONGEST_NAME = 500
_TRUE = {"y", "yes", "1", "true"}


@dataclass(frozen=True, slots=True)
class Line:
    """One rule of the file as it stands there; `number` counts from 1 without the head."""

    number: int
    name: str
    logic: str
    real_time: bool


def read_lines(content: bytes) -> list[Line]:
    """The rules of a file, blank lines left out. Raises ValidationError for what is no such file."""
    if len(content) > MOST_BYTES:
        raise ValidationError(_("The file is larger than %d MB.") % (MOST_BYTES // 1024 // 1024))
    rows = _rows(_text(content))
    head = [cell.strip().lower() for cell in rows[0]] if rows else []
    if missing := [name for name in COLUMNS[:2] if name not in head]:
        told = _("The first line of the file names no column “%s”.")
        raise ValidationError(told % "”, “".join(missing))
    places = {name: head.index(name) for name in COLUMNS if name in head}
    lines: list[Line] = []
    for row in rows[1:]:
        cell = {name: row[at].strip() if at < len(row) else "" for name, at in places.items()}
        if not any(part.strip() for part in row):
            continue
        is_at_once = cell.get(COLUMNS[2], "").lower() in _TRUE
        lines.append(Line(len(lines) + 1, cell[COLUMNS[0]], cell[COLUMNS[1]], is_at_once))
    if not lines:
        raise ValidationError(_("The file holds no rule."))
    if len(lines) > MOST_RULES:
        raise ValidationError(_("The file holds more than %d rules.") % MOST_RULES)
    return lines


def _text(content: bytes) -> str:
    """UTF-8, else as a Chinese spreadsheet saves it."""
    for encoding in ("utf-8-sig", "gb18030"):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise ValidationError(_("The file is no text."))


def _rows(text: str) -> list[list[str]]:
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    try:
        return list(
            csv.reader(io.StringIO(text.replace("\0", ""), newline=""), delimiter=delimiter)
        )
    except csv.Error as error:
        raise ValidationError(_("The file is no CSV: %s") % error) from error


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
    problems = (one.message for one in check_rules(project, [rule]) if not one.is_hint)
    why = "; ".join(dict.fromkeys(problems))
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


SKILL_TYPE = "qc_process:redcap_dq"
NODE = "redcap_rules"
MATCH = ["数据质量规则", "数据质量", "data quality"]
State = QualityRule.State


@dataclass(frozen=True, slots=True)
class Taken:
    """What an upload came to; `changed`: it differs from the file before."""

    taken: int
    refused: int
    changed: bool


def take_over(*, project: Project, content: bytes, actor: object) -> Taken:
    """Replace the study's report by that of a file; rules that were switched off stay off.

    The same file again changes nothing. The skill is made switched off. Raises ValidationError, also where
    the data dictionary was never read.
    """
    lines, metadata = read_lines(content), _metadata(project)
    with translation.override(
        settings.LANGUAGE_CODE
    ):  # the report is the study's, not one reader's
        examined = [*examine(project, metadata, lines)]
    count = Counter(one.rule is not None for one in examined)
    with atomic():
        Project.objects.select_for_update().get(pk=project.pk)
        before = [*QualityRule.objects.filter(project=project)]
        off = {row.rule_key for row in before if row.rule_key and not row.is_on}
        rows = [_row(project, one, off, actor) for one in examined]
        is_changed = [_content(row) for row in before] != [_content(row) for row in rows]
        if is_changed:
            QualityRule.objects.filter(project=project).delete()
            QualityRule.objects.bulk_create(rows)
            new = {"taken": count[True], "not_taken": count[False], "rules": _keys(rows)}
            audit.record(
                "dq.import", actor=actor, project=project, old={"rules": _keys(before)}, new=new
            )
            _to_skill(project, rows, actor)
    return Taken(count[True], count[False], is_changed)


def _metadata(project: Project) -> Any:
    try:
        return dictionary.load(project)
    except (RedcapError, NotConfiguredError) as error:
        told = _("REDCap could not be read, and no data dictionary was ever read.")
        raise ValidationError(told) from error


def switch_rules(*, project: Project, keys: Collection[str], on: bool, actor: object) -> int:
    """Switch taken rules on or off; how many that changed."""
    with atomic():
        rows = QualityRule.objects.filter(project=project, state=State.TAKEN)
        changed = [row.rule_key for row in rows.filter(rule_key__in=keys, is_on=not on)]
        if changed:
            rows.filter(rule_key__in=changed).update(is_on=on)
            audit.record(
                "dq.switch", actor=actor, project=project, new={"on": on, "rules": changed}
            )
            _to_skill(project, [*rows], actor)
    return len(changed)


def switch_skill(*, project: Project, on: bool, actor: object) -> Skill:
    """Whether the rules are run at all. Raises ValidationError where no rule is on."""
    skill = Skill.objects.filter(project=project, skill_type=SKILL_TYPE).first()
    is_any = QualityRule.objects.filter(project=project, is_on=True, state=State.TAKEN).exists()
    if skill is None or (on and not is_any):
        raise ValidationError(_("No rule is switched on."))
    skill.is_active = on
    return save_skill(skill=skill, actor=actor)


def _row(project: Project, one: Examined, off: Collection[str], actor: object) -> QualityRule:
    return QualityRule(
        project=project,
        position=one.line.number,
        name=one.line.name[:LONGEST_NAME],
        logic=one.line.logic,
        real_time=one.line.real_time,
        state=State.TAKEN if one.rule else State.REFUSED,
        reason=one.why,
        rule_key=one.key,
        rule=one.rule,
        is_on=one.rule is not None and one.key not in off,
        imported_by=audit.actor_name(actor),
    )


def _content(row: QualityRule) -> tuple[object, ...]:
    told = (row.position, row.name, row.logic, row.real_time)
    return (*told, row.state, row.reason, row.rule_key, row.rule, row.is_on)


def _keys(rows: Sequence[QualityRule]) -> list[str]:
    return [row.rule_key for row in rows if row.rule_key]


def _to_skill(project: Project, rows: Sequence[QualityRule], actor: object) -> None:
    """The skill's node holds the rules that are on; what else a person made of the skill stays."""
    rules = [row.rule for row in rows if row.rule and row.is_on]
    skill = Skill.objects.filter(project=project, skill_type=SKILL_TYPE).first()
    if not rules:
        if skill is not None and skill.is_active:
            skill.is_active = False
            save_skill(skill=skill, actor=actor)
        return
    if skill is None:
        with translation.override(settings.LANGUAGE_CODE):
            name = _("REDCap data quality rules")
        skill = Skill(project=project, skill_type=SKILL_TYPE, name=name, is_active=False)
        nodes = {NODE: {"type": "hard_rule", "rules": rules}}
        skill.config = {"name": name, "start_node": NODE, "match": MATCH, "nodes": nodes}
    else:
        nodes = skill.config.get("nodes", {})
        if NODE not in nodes:
            raise ValidationError(
                _("The skill of the data quality rules has no node “%s” any more.") % NODE
            )
        skill.config = {**skill.config, "nodes": {**nodes, NODE: {**nodes[NODE], "rules": rules}}}
    save_skill(skill=skill, actor=actor)
