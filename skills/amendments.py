"""What a new version of a study's document touches: rules that cite a changed section, windows named in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.house.db import atomic
from projects import audit
from projects.models import Project
from skills.models import PassageCheck, Skill
from study.models import ProtocolDocument, VisitPlanEntry
from study.protocol.changes import Changed, changed_between, version_before

RULE, WINDOW = "rule", "window"


@dataclass(frozen=True)
class Touched:
    """A rule or a visit window that leans on a changed section.

    `key`: what it is known by, `skill/rule` or the visit's name and arm; `skill` None for a window.
    """

    kind: str
    key: str
    label: str
    headings: tuple[str, ...]
    skill: Skill | None = None
    rule: str = ""
    visit: str = ""


def touched_by(project: Project, changed: Sequence[Changed]) -> list[Touched]:
    """Rules first, then windows, each once with all changed sections that it leans on."""
    return [*_rules(project, changed), *_windows(project, changed)]


def to_check(document: ProtocolDocument) -> list[Touched]:
    """What the document's version touches and nobody has checked since; [] for a first version."""
    before = version_before(document)
    if before is None or not document.is_active:
        return []
    found = touched_by(document.project, changed_between(before.text, document.text))
    done = {
        (kind, key)
        for kind, key in PassageCheck.objects.filter(document=document).values_list("kind", "key")
    }
    return [one for one in found if (one.kind, one.key) not in done]


def mark_checked(*, document: ProtocolDocument, kind: str, key: str, actor: object) -> None:
    """Note that a person compared a rule or window with the new version; a second time changes nothing."""
    with atomic():
        _row, is_new = PassageCheck.objects.get_or_create(
            document=document,
            kind=kind,
            key=key,
            defaults={"checked_by": audit.actor_name(actor)},
        )
        if is_new:
            new = {"kind": kind, "key": key, "version": document.version}
            audit.record(
                "document.checked",
                actor=actor,
                project=document.project,
                subject=document,
                new=new,
            )


def _rules(project: Project, changed: Sequence[Changed]) -> Iterator[Touched]:
    for skill in Skill.objects.filter(project=project, is_active=True).order_by("name"):
        for rule, label, section in _cited(skill.config):
            if headings := tuple(one.heading for one in changed if _is_within(one, section)):
                key = f"{skill.skill_type}/{rule}"[:250]
                yield Touched(RULE, key, label, headings, skill=skill, rule=rule)


def _cited(config: Any) -> Iterator[tuple[str, str, str]]:
    """(rule or node, what it says, section) of everything in a workflow that cites a section."""
    nodes = config.get("nodes") if isinstance(config, Mapping) else None
    for name, node in nodes.items() if isinstance(nodes, Mapping) else ():
        if not isinstance(node, Mapping):
            continue
        rules = node.get("rules")
        for rule in (node, *(rules if isinstance(rules, list) else ())):
            if isinstance(rule, Mapping) and rule.get("section"):
                said = rule.get("message") or rule.get("description") or ""
                yield str(rule.get("id") or name), str(said), str(rule["section"])


def _is_within(changed: Changed, section: str) -> bool:
    own = section.strip().removeprefix("§").strip()
    return bool(changed.number) and f"{changed.number}.".startswith(f"{own}.")


def _windows(project: Project, changed: Sequence[Changed]) -> Iterator[Touched]:
    for entry in VisitPlanEntry.objects.filter(project=project):
        named = re.compile(rf"(?<![A-Za-z0-9]){re.escape(entry.visit)}(?![A-Za-z0-9])", re.I)
        headings = tuple(
            one.heading
            for one in changed
            if any(named.search(line) for line in {*one.before} ^ {*one.after})
        )
        if headings:
            label = f"Day {entry.day} -{entry.minus}/+{entry.plus}"
            key = f"{entry.visit}/{entry.arm}"
            yield Touched(WINDOW, key, f"{entry.visit} ({label})", headings, visit=entry.visit)
