"""A report's Markdown: composed from figures and narrative, kept beside what people wrote."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.template.loader import render_to_string

from memory.reports import Period
from memory.weekly.checks import Entry
from memory.weekly.narrative import Narrative
from projects.models import Project

UNKNOWN = "未知"
_AGAIN = "\0"
_REASONS = {"too_long": "太长", "inaccurate": "不准确", "unclear": "不清楚"}
# What people call a figure that could not be read.
NAMES = {
    "enrolled": "本周新入组",
    "enrolled_total": "累计入组",
    "completion": "完成率",
    "visits_done": "已完成访视",
    "visits_due": "窗口内访视",
    "visits_overdue": "逾期访视",
    "findings_opened": "新增发现",
    "findings_closed": "关闭发现",
    "queries": "未关闭 Query",
    "qc_runs": "质控运行",
    "messages": "消息",
    "feedback_up": "👍",
    "feedback_down": "👎",
    "preferences": "画像更新",
}

# The lines of weekly_report.v1.md, and the head of a year's digest, that count over all sites.
_COUNTS = re.compile(
    r"^\s*[-*]\s*(?:本周新入组|累计入组|完成率|(?:访视\s*[:：]\s*本周完成|质控\s*[:：]\s*新增|助手\s*[:：]\s*消息))"
    r"|^第 \d+ 年\("
)


@dataclass(frozen=True)
class Shown:
    """The figures as a reader sees them; a name that is missing reads 未知."""

    values: Mapping[str, Any]

    def __getitem__(self, name: str) -> str:
        """One figure; never empty, never a made-up 0."""
        if name in ("reasons", "unread"):
            raise KeyError(name)
        value = self.values.get(name)
        if value is None or value == "":
            return UNKNOWN
        if name == "completion" and isinstance(value, int | float):
            return f"{value:g}%"
        return str(value)

    @property
    def reasons(self) -> str:
        """`(太长 2、不清楚 1)`"""
        found = self.values.get("feedback_reasons")
        given = found if isinstance(found, dict) else {}
        told = [f"{name} {given[key]}" for key, name in _REASONS.items() if given.get(key)]
        return f"({'、'.join(told)})" if told else ""

    @property
    def unread(self) -> str:
        """The names of the figures that could not be read."""
        given = self.values.get("unread")
        named = [NAMES.get(str(key)) for key in given] if isinstance(given, list) else []
        return "、".join(name for name in named if name)


def compose(
    project: Project, period: Period, metrics: Mapping[str, Any], narrative: Narrative | None
) -> str:
    """The Markdown of a report; `narrative` None: still to come."""
    context = {
        "week": period.week,
        "m": Shown(metrics),
        "counts_log": "messages" in metrics,
        "running": _clock(project, period.until) if period.running else "",
        "narrative": narrative,
        "lines": {name: [line(e) for e in found] for name, found in narrative.entries.items()}
        if narrative
        else {},
    }
    text = render_to_string("memory/weekly_report.v1.md", context)
    return joined(sections(text))


def without_figures(text: str) -> str:
    """A report, or a year's digest, for readers of one site: statistics of all sites are not theirs
    (design.md 9.7)."""
    return "\n".join(row for row in text.split("\n") if not _COUNTS.match(row))


def line(entry: Entry) -> str:
    """One entry as a line; whatever subject it concerns is named, so that each reader sees their own.

    A decision: `2026-02-05: 维持 ECOG 0～2 分(张医生)`.
    """
    about = f"{'、'.join(entry.records)}: " if entry.records else ""
    if entry.section != "decision":
        return f"{about}{entry.text}"
    return f"{entry.date}: {about}{entry.text}({entry.speaker})"


def _clock(project: Project, at: datetime) -> str:
    return at.astimezone(ZoneInfo(project.timezone)).strftime("%Y-%m-%d %H:%M")


def sections(text: str) -> dict[str, str]:
    """The text by `###` heading ("" for what stands above the first); a repeated heading gets a number."""
    found: dict[str, list[str]] = {"": []}
    name = ""
    for row in text.replace("\r\n", "\n").split("\n"):
        if row.startswith("### "):
            name, number = row.strip(), 2
            while name in found:
                name, number = f"{row.strip()}{_AGAIN}{number}", number + 1
            found[name] = []
        else:
            found[name].append(row.rstrip())
    return {name: "\n".join(rows).strip() for name, rows in found.items()}


def merged(current: str, base: str, composed: str) -> str:
    """The new text where the current one is still the machine's `base`; a person's sections stay.

    A section that a person removed stays away; one that a person added stays.
    """
    now, was, new = sections(current), sections(base), sections(composed)
    kept: dict[str, str] = {}
    for name in [*new, *(name for name in now if name not in new)]:
        chosen = new.get(name) if now.get(name) == was.get(name) else now.get(name)
        if chosen is not None:
            kept[name] = chosen
    return joined(kept)


def joined(parts: Mapping[str, str]) -> str:
    """The text of sections; `sections(joined(parts)) == parts`."""
    blocks = (f"{name.partition(_AGAIN)[0]}\n{body}".strip() for name, body in parts.items())
    return "\n\n".join(block for block in blocks if block)
