"""The graph editor has a word for each attribute of each type of node, and for each value to choose from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from skills.drawing import NAMES
from skills.graph import KINDS, schema
from skills.outline import ENTRIES, LABELS


def attributes(kind: str) -> dict[str, Any]:
    """Name -> JSON Schema of what is no edge."""
    shapes: dict[str, Any] = schema()["$defs"][kind]["properties"]
    return {name: shapes[name] for name in shapes if name not in ("type", *NAMES)}


def choices(shape: Any) -> Iterator[str]:
    """The words that an attribute is limited to, in a list or without one."""
    for one in (shape, shape.get("items", {}), *shape.get("anyOf", ())):
        yield from one.get("enum", ())


@pytest.mark.parametrize("kind", KINDS)
def test_each_attribute_has_a_word(kind: str) -> None:
    assert [name for name in attributes(kind) if name not in LABELS] == []


@pytest.mark.parametrize("kind", KINDS)
def test_each_value_to_choose_has_a_word(kind: str) -> None:
    named = {name: [*choices(shape)] for name, shape in attributes(kind).items()}
    assert named
    assert [
        (name, one)
        for name, values in named.items()
        for one in values
        if one not in ENTRIES.get(name, {})
    ] == []
