"""Versioned prompt templates: text files `<name>.v<n>.txt`, named in every trace (CONTRIBUTING.md)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template

from django.utils.crypto import salted_hmac

_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Prompt:
    """A filled template and the version it came from."""

    text: str
    version: str


@cache
def _template(name: str, number: int) -> tuple[Template, str]:
    """The template and its version, the newest for 0. Raises FileNotFoundError."""
    numbers = [int(path.stem.rpartition(".v")[2]) for path in _HERE.glob(f"{name}.v*.txt")]
    version = f"{name}.v{number or max(numbers, default=1)}"
    return Template((_HERE / f"{version}.txt").read_text(encoding="utf-8").strip()), version


def load_prompt(name: str, number: int = 0, **values: object) -> Prompt:
    """The template (by default the newest) with its `$names` filled. Raises KeyError where one is missing."""
    template, version = _template(name, number)
    return Prompt(template.substitute({key: str(value) for key, value in values.items()}), version)


def version(name: str) -> str:
    """The version of the newest template. Raises FileNotFoundError."""
    return _template(name, 0)[1]


def marked(text: str) -> str:
    """Text as data between marks that nobody can foresee, so that nothing in it can pretend to be outside.

    The same text has the same marks: two people who may see the same are shown the same.
    """
    mark = salted_hmac("core.llm.prompts.marked", text).hexdigest()[:6]
    return f"<data {mark}>\n{text}\n</data {mark}>"
