"""What a configuration says otherwise than another one, node by node, in words: read before it is published."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from django.utils.translation import gettext as _

from core.house.admin_json import pretty
from projects.models import Project
from skills.drawing import ENDS, NAMES, title
from skills.graph import DEFAULT_TARGETS, KINDS
from skills.outline import ENTRIES, LABELS
from skills.rule_words import in_words
from study import dictionary
from study.blinding.mask import names_blinded

NOTHING = "—"


@dataclass(frozen=True)
class Line:
    """One attribute: what it said and what it says."""

    label: str
    before: str
    after: str


@dataclass(frozen=True)
class Change:
    """A node (`key` "": the workflow itself) that was `added`, `removed` or `changed`."""

    kind: str
    key: str
    name: str
    lines: tuple[Line, ...] = ()


def changes(
    old: object, new: object, project: Project | None, *, is_blinded: bool = False
) -> list[Change]:
    """From `old` to `new`, two valid configurations, the workflow's own attributes first.

    To a blinded reader a workflow that names what unblinds is told as it is written, without labels.
    """
    if not isinstance(old, dict) or not isinstance(new, dict) or old == new:
        return []
    if is_blinded and project and names_blinded(project, [old, new]):
        project = None
    words = _Words(project, old, new)
    own = tuple(words.attributes(old, new, skip={"nodes"}))
    found = [Change("changed", "", _("The workflow itself"), own)] if own else []
    before, after = old.get("nodes") or {}, new.get("nodes") or {}
    for key in {**after, **before}:
        name = title(key, after.get(key, before.get(key)))
        if key not in before:
            lines = tuple(words.attributes({}, after[key], skip={"type"}))
            found.append(Change("added", key, name, lines))
        elif key not in after:
            found.append(Change("removed", key, name))
        elif lines := tuple(words.attributes(before[key], after[key])):
            found.append(Change("changed", key, name, lines))
    return found


class _Words:
    """Values of two configurations as people say them."""

    def __init__(self, project: Project | None, old: dict[str, Any], new: dict[str, Any]) -> None:
        self.nodes = {**(old.get("nodes") or {}), **(new.get("nodes") or {})}
        known = dictionary.stored(project) if project else None
        self.metadata = dictionary.load(project, known) if project and known else None

    def attributes(
        self,
        old: dict[str, Any],
        new: dict[str, Any],
        skip: frozenset[str] | set[str] = frozenset(),
    ) -> Iterator[Line]:
        for name in {**old, **new}:
            usual = DEFAULT_TARGETS.get(name) if old else None
            before, after = old.get(name, usual), new.get(name, usual)
            if name in skip or before == after:
                continue
            if name == "rules":
                yield from self._rules(old.get(name, []), new.get(name, []))
            else:
                label = f"{NAMES[name]} →" if name in NAMES else str(LABELS.get(name, name))
                yield Line(label, self.told(name, before), self.told(name, after))

    def told(self, name: str, value: Any) -> str:
        """One value of the attribute `name`."""
        if name in DEFAULT_TARGETS or name == "start_node":
            return self._node(str(value or DEFAULT_TARGETS.get(name, "")))
        if value in (None, "", [], {}):
            return NOTHING
        if isinstance(value, bool):
            return _("yes") if value else _("no")
        if isinstance(value, list):
            return "、".join(self.told(name, one) for one in value)
        if name == "type":
            return str(KINDS[value].label)
        if name == "checks":
            return "、".join(self._check(key, told) for key, told in value.items())
        if isinstance(value, dict):
            return "; ".join(
                f"{LABELS.get(key, key)}: {self.told(key, one)}" for key, one in value.items()
            )
        return str(ENTRIES.get(name, {}).get(value, value))

    def _node(self, key: str) -> str:
        if key in ENDS:
            return str(ENDS[key])
        return title(key, self.nodes[key]) if key in self.nodes else key or NOTHING

    def _check(self, name: str, told: dict[str, Any]) -> str:
        label = str(ENTRIES["checks"].get(name, name))
        return f"{label} ({self.told('', told)})" if told else label

    def _rules(self, old: list[Any], new: list[Any]) -> Iterator[Line]:
        """Rules of the same id are compared, the others in their order, where they differ."""
        gone, come = _without(old, new), _without(new, old)
        ids = {rule["id"]: rule for rule in gone if "id" in rule}
        pairs = [(ids.pop(rule["id"]), rule) for rule in come if rule.get("id") in ids]
        alike = [[pair[side] for pair in pairs] for side in (0, 1)]
        rest = zip_longest(_without(gone, alike[0]), _without(come, alike[1]))
        if not gone and not come:
            yield Line(_("Rules"), _("in another order"), _("in this order"))
        for before, after in (*pairs, *rest):
            label = _("Rule “%s”") % (after or before)["message"]
            yield Line(label, self._rule(before), self._rule(after))

    def _rule(self, rule: dict[str, Any] | None) -> str:
        if rule is None:
            return NOTHING
        tell: Callable[[Any], str] = pretty
        field = str(rule["field"])
        if metadata := self.metadata:
            field = metadata.label(field) if field in metadata.fields else field
            tell = lambda logic: in_words(logic, metadata)  # noqa: E731
        parts = [f"{field}: {tell(rule['logic'])}", str(rule["message"])]
        others = ("id", "severity", "same_as", "section")
        parts += [f"{LABELS[one]}: {self.told(one, rule[one])}" for one in others if one in rule]
        return "; ".join(parts)


def _without(rules: list[Any], others: list[Any]) -> list[Any]:
    """`rules` less as many of each as there are in `others`."""
    left, others = [], [*others]
    for one in rules:
        if one in others:
            others.remove(one)
        else:
            left.append(one)
    return left
