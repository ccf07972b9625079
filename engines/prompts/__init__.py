"""Versioned prompt templates: text files `<name>.v<n>.txt`, named in every trace (CONTRIBUTING.md)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template

_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Prompt:
    """A filled template and the version it came from."""

    text: str
    version: str


@cache
def _template(name: str, number: int) -> Template:
    return Template((_HERE / f"{name}.v{number}.txt").read_text(encoding="utf-8").strip())


def load(name: str, number: int = 1, **values: object) -> Prompt:
    """The template with its `$names` filled. Raises KeyError for one that is missing."""
    text = _template(name, number).substitute({key: str(value) for key, value in values.items()})
    return Prompt(text, f"{name}.v{number}")
