"""Sheets made by hand from the demo study: its facts as the query tells them, its documents cut into lines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date
from functools import cache
from typing import Any

from engines.assistant.lines.types import Line, Scope, Sheet, Source
from study.facts import Answer, Fact, Flag, Kind, plain
from tests.assistant.studies import DEMO
from tests.study.query.studies import TODAY, Study, demo

_SITES = {"crc_b": "site_b", "wanghushi": "site_a"}
_STATES = {
    "overdue": "超窗 {days} 天，尚未完成",
    "late": "超窗 {days} 天完成",
    "early": "提前 {days} 天完成",
    "in_window": "在窗口期内完成",
    "due": "在窗口期内，尚待完成",
    "not_due": "窗口尚未开放，还有 {days} 天",
    "not_applicable": "不适用",
    "unknown": "无法计算",
}
_FORMS = (
    "labs", "vitals", "ae", "conmed", "eligibility", "enrollment", "demographics", "disposition",
    "medical_history", "consent",
)  # fmt: skip
_VISITS = ("visit", "state", "open", "close", "target", "actual", "days")
_MARK = re.compile(r"\{([^{}]*)\}")


def sheet(user: str, text: str, *, more: Iterable[str] = (), only: Any = None) -> Sheet:
    """The sources of one question: all of the subjects named, what is counted, documents, reports, memory.

    `more`: further subjects, or words for passages; `only`: queries in place of those of the subjects.
    """
    study = demo()
    site = _SITES.get(user, "")
    records = [record for record in study.records if not site or record.site == site]
    seen = Study(study.design, records)
    named = [r.record_id for r in records if r.record_id in " ".join([text, *more])]
    named = [name for name in named if len(name) > 2]
    queries = list(only if only is not None else _queries(named))
    lines: list[Line] = []
    for query in queries:
        lines += _lines(seen, query, len(lines))
    told = " ".join([text, *more])
    lines += _passages(told) + _reports() + _memory(user)
    sites = {code: str(name) for code, name in study.design.metadata.sites.items()}
    sites = {code: name for code, name in sites.items() if not site or code == site}
    ids = frozenset(record.record_id for record in records)
    terms = dict(study.design.mapped)
    return Sheet(tuple(lines), text, TODAY, study.design, ids, sites, terms)


def _queries(named: list[str]) -> Iterator[dict[str, Any]]:
    for name in named:
        for form in _FORMS:
            yield {"subjects": [name], "select": [form]}
        yield {"subjects": [name], "select": [f"@visits.{column}" for column in _VISITS]}
    enrolled = [{"field": "enrolled", "op": "=", "value": "1"}]
    yield {"aggregate": "count", "where": enrolled}
    yield {"aggregate": "count", "where": enrolled, "by": ["@site"]}
    yield {"aggregate": "count", "where": enrolled, "by": ["month:enroll_date"]}
    yield {"aggregate": "count", "where": [{"field": "subject_status", "op": "=", "value": "4"}]}
    yield {"select": ["@project.target"]}


def _lines(study: Study, query: dict[str, Any], start: int) -> list[Line]:
    answer = study.ask(**query)
    rows = _rows(answer, query)
    counted = len({(f.subject, f.event, f.instance) for f in answer.facts})
    ids = tuple(query.get("subjects") or sorted(record.record_id for record in study.records))
    scope = Scope(query, ids, counted, not answer.left_out and not answer.undecided)
    told = [Line("", Source.FACT, _told(row, query, study), row, scope) for row in rows]
    if not query.get("aggregate") and query["select"] != ["@project.target"]:
        form = study.design.metadata.form_label(str(query["select"][0]))
        text = f"{'、'.join(query.get('subjects', ()))} · {form} · 共 {counted} 条，全部列出"
        told.append(Line("", Source.FACT, text, (), scope))
    return [replace(line, mark=f"F{start + n}") for n, line in enumerate(told, 1)]


def _rows(answer: Answer, query: dict[str, Any]) -> list[tuple[Fact, ...]]:
    if not str((query.get("select") or [""])[0]).startswith("@visits"):
        return [(fact,) for fact in answer.facts if fact.value != ()]
    rows: dict[tuple[str, str], list[Fact]] = {}
    for fact in answer.facts:
        rows.setdefault((fact.subject, fact.event), []).append(fact)
    return [tuple(row) for row in rows.values()]


def _told(row: tuple[Fact, ...], query: dict[str, Any], study: Study) -> str:
    first = row[0]
    if first.kind is Kind.WINDOW:
        named = {fact.field.partition(".")[2]: fact for fact in row}
        state = _STATES[str(named["state"].value)].format(days=named["days"].text)
        parts = [first.subject, str(named["visit"].value)]
        parts += [f"窗口 {named['open'].text} 至 {named['close'].text}"]
        parts += [f"目标 {named['target'].text}", f"实际 {named['actual'].text or '无'}", state]
        return " · ".join(parts)
    if first.kind is Kind.AGGREGATE:
        words = [_condition(c, study) for c in query.get("where", ())]
        return " · ".join(filter(None, [*words, first.label, f"= {plain(first.value)} 例"]))
    metadata = study.design.metadata
    place = (
        metadata.event_label(first.event).split()[-1]
        if first.instrument in ("labs", "vitals")
        else ""
    )
    number = f"#{first.instance}" if first.instance else ""
    head = [first.subject, number, first.label, place, first.date if place else ""]
    value = "未填写" if first.kind is Kind.BLANK else f"{first.text} {first.unit}".strip()
    limit = first.limit.high if first.limit else None
    note = f" ({'高于' if Flag.HIGH in first.flags else '未超过'}上限 {limit})" if limit else ""
    return " · ".join(filter(None, head)) + f" = {value}{note}"


def _condition(condition: dict[str, Any], study: Study) -> str:
    name = condition["field"]
    label = study.design.metadata.label(name)
    choice = study.design.metadata.choices(name).get(str(condition["value"]), "")
    return f"{label} {choice}"


@cache
def _documents() -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for path in ("protocol.md", "crf_guide.md", "icf.md"):
        section, kept = "", ""
        for raw in (DEMO / "documents" / path).read_text(encoding="utf-8").splitlines():
            line = raw.strip()
            if line.startswith("#"):
                section = line.strip("# ")
            elif line.startswith("|"):
                cells = [cell.strip() for cell in line.strip("|").split("|")]
                found.append((section, " | ".join(cells)))
            elif re.match(r"(?:\d+\.|-) ", line):
                found.append((section, line))
            elif line.startswith("**"):
                found.append((section, line.replace("**", "")))
            elif line:
                found += [(section, part) for part in re.findall(r"[^。]+。?", line)]
        kept = kept or section
    lists: dict[str, list[str]] = {}
    for section, line in found:
        if re.match(r"\d+\. ", line):
            lists.setdefault(section, []).append(line)
    found += [(section, " ".join(rows)) for section, rows in lists.items() if len(rows) > 2]
    return found


def _passages(text: str) -> list[Line]:
    """The passages nearest to a question by the pairs of characters they share."""
    folded = re.sub(r"\W", "", text).lower()
    pairs = {folded[at : at + 2] for at in range(len(folded) - 1)}

    def score(row: tuple[str, str]) -> float:
        body = re.sub(r"\W", "", row[0] + row[1]).lower()
        own = {body[at : at + 2] for at in range(len(body) - 1)}
        return float(len(own & pairs) / (6 + len(own)) ** 0.5)

    best = sorted(_documents(), key=score, reverse=True)[:40]
    return [
        Line(f"D{n}", Source.DOCUMENT, f"方案 §{section}: {body}", section=section)
        for n, (section, body) in enumerate(best, 1)
    ]


@cache
def _book() -> list[tuple[str, str, date | None]]:
    book = json.loads((DEMO / "weekly_reports.json").read_text(encoding="utf-8"))
    rows: list[tuple[str, str, date | None]] = []
    for week, report in book.items():
        if int(week) > 46:
            continue
        parts = [("", text) for text in report["progress"]]
        parts += [(d["date"], d["text"]) for d in report["decisions"]]
        parts += [("", text) for text in report["pitfalls"]]
        for n, (day, text) in enumerate(parts):
            when = date.fromisoformat(day) if day else None
            rows.append((f"W{week}{'abcdefgh'[n]}", f"{day} {text}".strip(), when))
    return rows


def _reports() -> list[Line]:
    old = {"100元提高到200元"}
    return [
        Line(mark, Source.REPORT, text, (), None, mark.rstrip("abcdefgh"), day,
             not any(word in text for word in old))
        for mark, text, day in _book()
    ]  # fmt: skip


def _memory(user: str) -> list[Line]:
    text = (DEMO / "hot_memory.md").read_text(encoding="utf-8")
    _head, own, rest = "", "", []
    for block in re.split(r"\n(?=#)", text):
        is_profile = block.startswith("## ")
        if is_profile and f"user_id: {user}" not in block:
            continue
        rest += [line[2:].replace("**", "") for line in block.splitlines() if line.startswith("- ")]
    _ = own
    return [Line(f"M{n}", Source.MEMORY, line) for n, line in enumerate(rest, 1)]


def marked(say: str, told: Sheet) -> str:
    """A scripted answer: `{a|b|c}` becomes the mark of the first line that holds all the tokens."""

    def mark(hit: re.Match[str]) -> str:
        wanted = [_bare(token) for token in hit[1].split("|")]
        for line in told.lines:
            if all(token in _bare(f"[{line.mark}] {line.text}") for token in wanted):
                return f"[{line.mark}]"
        return ""

    return _MARK.sub(mark, say)


def _bare(text: str) -> str:
    return re.sub(r"\s", "", text)
