"""Data Quality rules of REDCap, taken over from their CSV: a report line each, and a skill that runs them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils import translation
from django.utils.translation import gettext as _

from house.db import atomic
from integrations.redcap import RedcapError
from projects import audit
from projects.models import Project
from skills import dq_file
from skills.dq_rules import Examined, examine
from skills.models import QualityRule, Skill
from skills.services import save_skill
from study import dictionary
from study.client import NotConfiguredError

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
    lines, metadata = dq_file.read(content), _metadata(project)
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
        name=one.line.name[: dq_file.LONGEST_NAME],
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
