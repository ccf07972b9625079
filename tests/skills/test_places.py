"""The line of a path in a JSON text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skills.places import line_of, lines_of_paths

KEYS = st.text(alphabet=st.characters(exclude_characters="."), min_size=1, max_size=6)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


def paths(value: Any, path: tuple[str, ...] = ()) -> Any:
    children = value.items() if isinstance(value, dict) else enumerate(value)
    for key, child in children:
        yield (*path, str(key)), child
        if isinstance(child, dict | list):
            yield from paths(child, (*path, str(key)))


@pytest.mark.full
@given(JSON.filter(lambda value: isinstance(value, dict | list)))
def test_every_path_stands_at_its_line(value: Any) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=2)
    rows, found = text.split("\n"), lines_of_paths(text)
    assert len(found) == 1 + len([*paths(value)])
    last = 1
    for path, child in paths(value):
        line = found[".".join(path)]
        assert line > last or line == last == 1
        last = line
        shown = rows[line - 1]
        if not path[-1].isdigit():
            assert json.dumps(path[-1], ensure_ascii=False) in shown
        if not isinstance(child, dict | list):
            assert json.dumps(child, ensure_ascii=False) in shown


@given(st.text(alphabet='{}[]",:\\ \n1a'))
def test_any_text_is_read_to_its_end(text: str) -> None:
    found = lines_of_paths(text)
    assert all(1 <= line <= text.count("\n") + 1 for line in found.values())


def test_a_path_that_is_not_there_is_shown_at_what_it_belongs_to() -> None:
    found = lines_of_paths('{\n "nodes": {\n  "a": {"type": 1}}}')
    assert line_of(found, "nodes.a.rules.0.logic") == 3
    assert line_of(found, "nowhere") == 1


@pytest.mark.full
def test_a_text_without_end_does_not_hang() -> None:
    assert lines_of_paths("[" * 200_000)[""] == 1
