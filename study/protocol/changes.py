"""Which sections of a document another version of it changes."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache

from core.house.line_diff import changed_lines
from projects.models import Project
from study.models import ProtocolDocument
from study.protocol.rules import rule_lines
from study.protocol.units import Unit, units


@dataclass(frozen=True)
class Changed:
    """A section that is not the same in two versions: its lines before and after, () where it is not there."""

    number: str
    heading: str
    before: tuple[str, ...]
    after: tuple[str, ...]

    @property
    def diff(self) -> list[str]:
        """What changed, line by line."""
        return list(changed_lines("\n".join(self.before), "\n".join(self.after)))

    @property
    def is_new(self) -> bool:
        """Whether the version before has no such section."""
        return not self.before

    @property
    def is_gone(self) -> bool:
        """Whether it is in the version before only."""
        return not self.after


@lru_cache(maxsize=32)
def changed_between(old: str, new: str) -> tuple[Changed, ...]:
    """Sections whose rules are others, in the order of the new text; what only moved is not one of them.

    Kept: the pages that tell of an amendment ask for the same texts of all versions again and again.
    """
    before, after = _sections(old), _sections(new)
    found = []
    for key in dict.fromkeys([*after, *before]):
        was, now = (tuple(rule_lines(own.get(key, []))) for own in (before, after))
        if was != now:
            first = [*after.get(key, []), *before.get(key, [])][0]
            found.append(Changed(first.number, first.heading, was, now))
    return tuple(found)


def names_in_force(project: Project) -> list[str]:
    """The documents that another version of may come."""
    active = ProtocolDocument.objects.filter(project=project, is_active=True)
    return [*active.order_by("name").values_list("name", flat=True)]


def changed_sections(project: Project, name: str, text: str) -> tuple[Changed, ...] | None:
    """What `text` changes of the document in force under this name; None where there is none."""
    active = ProtocolDocument.objects.filter(project=project, name=name, is_active=True).first()
    return changed_between(active.text, text) if active and text else None


def version_before(document: ProtocolDocument) -> ProtocolDocument | None:
    """The version that a document replaced."""
    same = ProtocolDocument.objects.filter(project=document.project_id, name=document.name)
    return same.filter(pk__lt=document.pk).order_by("-pk").first()


def _sections(text: str) -> dict[tuple[str, str], list[Unit]]:
    """Rules by (number, title); a section with a number is the same whatever its title becomes."""
    found: defaultdict[tuple[str, str], list[Unit]] = defaultdict(list)
    for unit in units([("", text)]):
        found[unit.number, "" if unit.number else unit.title].append(unit)
    return found
