"""What differs between two texts, line by line."""

from __future__ import annotations

from difflib import unified_diff


def changed_lines(old: str, new: str) -> list[str]:
    """The lines in which two texts differ, each with its sign."""
    changed = unified_diff(old.split("\n"), new.split("\n"), lineterm="", n=0)
    return [line for line in changed if not line.startswith(("---", "+++", "@@"))]
