"""Reading the demo study's files; `{{T-12}}` is twelve days before the day the study is laid around."""

from __future__ import annotations

import json
import re
from datetime import date, timedelta
from pathlib import Path
from typing import Any

STUDY = Path(__file__).parent / "study"
_TOKEN = re.compile(r"\{\{T([+-]\d+)?\}\}")


def text(name: str, today: date) -> str:
    """A file of the study with its dates filled in."""
    content = (STUDY / name).read_text("utf-8")
    return _TOKEN.sub(lambda m: (today + timedelta(days=int(m[1] or 0))).isoformat(), content)


def load(name: str, today: date) -> Any:
    """A JSON file of the study with its dates filled in."""
    return json.loads(text(name, today))
