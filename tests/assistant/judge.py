"""Whether what was understood is what was expected; short forms for the columns of a work question."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from engines.assistant.understand import Understood

_COLUMNS = ("@visits", "@findings", "@reviews", "@runs", "@changes")


def cases(name: str) -> list[dict[str, Any]]:
    """The questions of a file beside this one."""
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def wrong(case: dict[str, Any], understood: Understood) -> str:
    """What differs, "" for nothing."""
    got = [_short(query) for asked in understood.asked for query in asked.queries]
    if got != (want := [_sorted(query) for query in case["expect"]]):
        return f"want {_text(want)}\n     got  {_text(got)}"
    for key in ("unknown", "withheld"):
        if list(getattr(understood, key)) != case.get(key, []):
            return f"{key}: {getattr(understood, key)}"
    if "shape" in case and understood.asked[-1].shape.value != case["shape"]:
        return f"shape {understood.asked[-1].shape.value}"
    return ""


def _short(query: dict[str, Any]) -> dict[str, Any]:
    select = query.get("select", [])
    for name in _COLUMNS:
        if select and all(isinstance(c, str) and c.startswith(f"{name}.") for c in select):
            return _sorted(query | {"select": name})
    return _sorted(query)


def _sorted(query: dict[str, Any]) -> dict[str, Any]:
    where = query.get("where")
    return query | {"where": sorted(where, key=_text)} if where else query


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
