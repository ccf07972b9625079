"""`check_rules` in this process: files in, lines in, answers out."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from tests.rules.support import var

RULES = [
    {"id": "age", "field": "age", "logic": {"<=": [18, var("age"), 75]}, "message": "年龄"},
    {"field": "sex", "logic": {"==": [var("sex"), 1]}, "message": "性别", "severity": "info"},
]


@pytest.fixture
def write(tmp_path: Path) -> Any:
    """Write content as a JSON file (text as it is) and give its path."""

    def to_file(name: str, content: Any) -> str:
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
        return str(path)

    return to_file


@pytest.fixture
def run(write: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run the command on lines of text; the parsed answers."""

    def command(*lines: str, rules: Any = RULES, **options: Any) -> list[Any]:
        files = {"rules": rules, **options}
        paths = {
            name: write(f"{name}.json", content) if name != "today" else content
            for name, content in files.items()
        }
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        out = io.StringIO()
        call_command("check_rules", stdout=out, **paths)
        return [json.loads(line) for line in out.getvalue().splitlines()]

    return command
