"""What a new version of a study's document touches: rules that cite a changed section, windows named in it."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from django.db.models import Exists, OuterRef

from core.house.db import atomic
from projects import audit
from projects.models import Project
from skills.models import PassageCheck, Skill
from study.models import ProtocolDocument, VisitPlanEntry
from study.protocol.changes import Changed, changed_between

RULE, WINDOW = "rule", "window"
MOST_KEY = 250


@dataclass(frozen=True)
class Touched:
    """A rule or a visit window that leans on a changed section.

    `key`: what it is known by, `skill/node/rule/section` or the visit's name and arm; `skill` for a rule, else
    `entry`.
    """

    kind: str
    key: str
    label: str
    changed: tuple[Changed, ...]
    skill: Skill | None = None
    rule: str = ""
    entry: VisitPlanEntry | None = None

    @property
    def headings(self) -> tuple[str, ...]:
        """The changed sections, each once."""
        return tuple(dict.fromkeys(one.heading for one in self.changed))


def touched_by(project: Project, changed: Sequence[Changed]) -> list[Touched]:
    """Rules first, then windows, each once with all changed sections that it leans on."""
    skills = Skill.objects.filter(project=project, is_active=True).order_by("name")
    return _touched(skills, VisitPlanEntry.objects.filter(project=project), changed)


def waiting(projects: Collection[Project]) -> list[tuple[ProtocolDocument, list[Touched]]]:
    """The documents in force with what any of their versions touched and nobody has checked since that one.

    One statement where no document was replaced, else five, however many there are.
    """
    same = {"project": OuterRef("project"), "name": OuterRef("name"), "pk__lt": OuterRef("pk")}
    rows = ProtocolDocument.objects.filter(project__in=projects, is_active=True)
    amended = [*rows.filter(Exists(ProtocolDocument.objects.filter(**same)))]
    if not amended:
        return []
    of = {"project__in": {one.project_id for one in amended}}
    skills, windows = defaultdict(list), defaultdict(list)
    for skill in Skill.objects.filter(**of, is_active=True).order_by("name"):
        skills[skill.project_id].append(skill)
    for entry in VisitPlanEntry.objects.filter(**of):
        windows[entry.project_id].append(entry)
    named = ProtocolDocument.objects.filter(**of, name__in={one.name for one in amended})
    versions = defaultdict(list)
    for project, name, *version in named.order_by("pk").values_list(*_OF_VERSION):
        versions[project, name].append(version)
    checks = PassageCheck.objects.filter(document__in=named).order_by("document_id")
    # The newest check of each is the last one.
    done = {row[:-1]: row[-1] for row in checks.values_list(*_OF_CHECK)}
    found: list[tuple[ProtocolDocument, list[Touched]]] = []
    for one in amended:
        left: dict[tuple[str, str], Touched] = {}
        own = one.project_id, one.name
        for (_before, old), (version, new) in pairwise(versions[own]):
            changed = changed_between(old, new)
            for each in _touched(skills[one.project_id], windows[one.project_id], changed):
                key = each.kind, each.key
                if done.get((*own, *key), 0) < version:
                    earlier = left[key].changed if key in left else ()
                    left[key] = replace(each, changed=(*earlier, *each.changed))
        if left:
            found.append((one, sorted(left.values(), key=lambda each: each.kind)))
    return found


_OF_VERSION = ("project_id", "name", "pk", "text")
_OF_CHECK = ("document__project_id", "document__name", "kind", "key", "document_id")


def flags(projects: Collection[Project], row: Any) -> list[tuple[ProtocolDocument, Touched]]:
    """What is `waiting` of a workflow or planned visit, or all windows: of a study, and of a list (None)."""
    told = ((document, one) for document, left in waiting(projects) for one in left)
    return [(document, one) for document, one in told if _is_of(row, one)]


def _is_of(row: Any, one: Touched) -> bool:
    if isinstance(row, Skill):
        return one.skill == row
    if isinstance(row, VisitPlanEntry):
        return one.entry == row
    return one.kind == WINDOW


def to_check(document: ProtocolDocument) -> list[Touched]:
    """What is `waiting` of a document; [] for a first version, and for one that is not in force."""
    return next((left for one, left in waiting([document.project]) if one.pk == document.pk), [])


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


def _touched(
    skills: Iterable[Skill], entries: Iterable[VisitPlanEntry], changed: Sequence[Changed]
) -> list[Touched]:
    return [*_rules(skills, changed), *_windows(entries, changed)]


def _rules(skills: Iterable[Skill], changed: Sequence[Changed]) -> Iterator[Touched]:
    for skill in skills:
        for rule, place, label, section in _cited(skill.config):
            if within := tuple(one for one in changed if _is_within(one, section)):
                key = _key(skill.skill_type, place, section)
                yield Touched(RULE, key, label, within, skill=skill, rule=rule)


def _key(*parts: str) -> str:
    """One that fits its column, and no two places share."""
    key = "/".join(parts)
    if len(key) <= MOST_KEY:
        return key
    digest = hashlib.sha256(key.encode()).hexdigest()
    return f"{key[: MOST_KEY - len(digest) - 1]}/{digest}"


def _cited(config: Any) -> Iterator[tuple[str, str, str, str]]:
    """(rule or node, its place, what it says, section) of everything in a workflow that cites a section.

    A rule without an id is known by its number in its node.
    """
    nodes = config.get("nodes") if isinstance(config, Mapping) else None
    for name, node in nodes.items() if isinstance(nodes, Mapping) else ():
        if not isinstance(node, Mapping):
            continue
        rules = node.get("rules")
        for at, rule in enumerate((node, *(rules if isinstance(rules, list) else ()))):
            if isinstance(rule, Mapping) and rule.get("section"):
                said = rule.get("message") or rule.get("description") or ""
                own = str(rule.get("id") or (f"#{at}" if at else ""))
                place = f"{name}/{own}" if own else str(name)
                yield str(rule.get("id") or name), place, str(said), str(rule["section"])


def _is_within(changed: Changed, section: str) -> bool:
    own = section.strip().removeprefix("§").strip()
    return bool(changed.number) and f"{changed.number}.".startswith(f"{own}.")


def _windows(entries: Iterable[VisitPlanEntry], changed: Sequence[Changed]) -> Iterator[Touched]:
    for entry in entries:
        named = re.compile(rf"(?<![A-Za-z0-9]){re.escape(entry.visit)}(?![A-Za-z0-9])", re.I)
        telling = tuple(
            one
            for one in changed
            if any(named.search(line) for line in {*one.before} ^ {*one.after})
        )
        if telling:
            label = f"Day {entry.day} -{entry.minus}/+{entry.plus}"
            key = f"{entry.visit}/{entry.arm}"
            yield Touched(WINDOW, key, f"{entry.visit} ({label})", telling, entry=entry)
