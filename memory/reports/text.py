"""A report's Markdown: composed from figures and narrative, kept beside what people wrote."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from django.template.loader import render_to_string

from memory.hot import similarity
from memory.reports.narrative import Narrative
from memory.reports.narrator import Entry
from memory.reports.weeks import Period
from memory.visibility import Scope, visible, whole
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

# As much of a line as tells how it begins.
_HEAD = 40
_TEMPLATES = Path(__file__).parent.parent / "templates" / "memory"
# A count over all sites as people word it: that it is one of all, and how many of what.
_SOME = r"[\d零〇一二两三四五六七八九十百千万]+"
_ALL_SITES = re.compile(
    rf"全(?:部|体)?(?:研究|分|国)?(?:中心|研究|项目|试验)|(?:各|所有|多|整个)(?:家|个|研究)*(?:中心|研究|项目|试验)"
    rf"|{_SOME}\s*(?:家|个)(?:研究)?中心|all (?:sites|cent(?:er|re)s)|across sites|study-wide|whole study"
)
_IN_ALL = re.compile(
    r"累计|总共|共计|合计|总计|一共|总数|总(?:入组|筛选|例)|in total|overall|altogether"
)
_PEOPLE = re.compile(
    rf"{_SOME}\s*(?:/\s*{_SOME}\s*)?(?:例(?!会|行|外|如)|人|名|位|subjects?|patients?|participants?)"
    r"|(?:入组|筛选|随机|脱落|访视|随访|例数|人数|enrolled|screened|randomi[sz]ed)[^,。;\d]{0,6}\d+\s*(?:[次/,。;、()]|$)"
)
_THINGS = re.compile(rf"{_SOME}\s*(?:条|起|%)")


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
    until = period.until.astimezone(ZoneInfo(project.timezone))
    context = {
        "week": period.week,
        "m": Shown(metrics),
        "counts_log": "messages" in metrics,
        "running": f"{until:%Y-%m-%d %H:%M}" if period.running else "",
        "narrative": narrative,
        "lines": {name: [line(e) for e in found] for name, found in narrative.entries.items()}
        if narrative
        else {},
    }
    text = render_to_string("memory/weekly_report.v1.md", context)
    return join_sections(sections(text))


def shown_to(text: str, opened: Sequence[Scope]) -> str:
    """A report as a reader with these scopes sees it, in chat, console and API alike (design.md 9.7)."""
    shown = visible(text, opened)
    return shown if whole(opened) else _without_figures(shown)


@lru_cache(maxsize=256)
def _without_figures(text: str) -> str:
    """Statistics of all sites are not for readers of one: their lines go with what is indented below."""
    kept, hidden = [], -1
    for row in text.split("\n"):
        depth = len(row) - len(row.lstrip())
        if row.strip() and depth <= hidden:
            hidden = -1
        if hidden < 0 and _counts_all(row):
            hidden = depth
        if hidden < 0:
            kept.append(row)
    return "\n".join(kept)


def _counts_all(row: str) -> bool:
    """Whether a line counts over all sites, as a template or a person words it."""
    if similarity.normal(row[:_HEAD]).startswith(_figure_lines()):
        return True
    said = unicodedata.normalize("NFKC", row).casefold()
    counts = _PEOPLE.search(said)
    if _ALL_SITES.search(said):
        return bool(counts or _THINGS.search(said))
    return bool(counts and _IN_ALL.search(said))


@cache
def _figure_lines() -> tuple[str, ...]:
    """How the lines with figures begin in every version of the template."""
    texts = (path.read_text("utf-8") for path in _TEMPLATES.glob("weekly_report.v*.md"))
    rows = (re.sub(r"{%.*?%}", "", row) for text in texts for row in text.split("\n"))
    return tuple(
        similarity.normal(row.partition("{{")[0]) for row in rows if re.match(r"- .*\{\{ m\.", row)
    )


def line(entry: Entry) -> str:
    """One entry as a line; whatever subject it concerns is named, so that each reader sees their own.

    A decision: `2026-02-05: 维持 ECOG 0～2 分(张医生)`.
    """
    about = f"{'、'.join(entry.records)}: " if entry.records else ""
    if entry.section != "decision":
        return f"{about}{entry.text}"
    return f"{entry.date}: {about}{entry.text}({entry.speaker})"


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
    return join_sections(kept)


def join_sections(parts: Mapping[str, str]) -> str:
    """The text of sections; `sections(join_sections(parts)) == parts`."""
    blocks = (f"{name.partition(_AGAIN)[0]}\n{body}".strip() for name, body in parts.items())
    return "\n\n".join(block for block in blocks if block)
