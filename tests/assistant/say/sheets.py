"""Sheets of facts of the demo study for plans made at random; built from the study's own answers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

from engines.assistant.say.sheet import Line, Scope, Sheet, Source
from study.facts import Answer, Fact, Kind
from tests.assistant.studies import DEMO
from tests.study.query.studies import TODAY, Study, demo

SITES = {"crc_b": "site_b", "wanghushi": "site_a"}
_FORMS: tuple[str, ...] = (
    *("labs", "vitals", "ae", "conmed", "eligibility", "enrollment", "demographics"),
    *("disposition", "physical", "consent"),
)
_VISITS = ("visit", "state", "open", "close", "target", "actual", "days")
_ENROLLED = [{"field": "@enrolled", "op": "filled"}]
_LATER_UNDONE = "100元提高到200元"
"""A decision of the reports that a later one takes back."""
_SENTENCE = re.compile(r"[^。]+。?")


def seen_by(user: str) -> Study:
    """The study as a reader sees it."""
    study, site = demo(), SITES.get(user, "")
    return Study(study.design, [r for r in study.records if not site or r.site == site])


@cache
def sheet(user: str, *subjects: str) -> Sheet:
    """All that is known of the subjects, the counts of the study, and all that was written of it."""
    study = seen_by(user)
    lines: list[Line] = []
    for query in _queries(subjects):
        lines += _lines(study, query, len(lines))
    lines += prose()
    sites = study.design.metadata.sites
    site = SITES.get(user, "")
    return Sheet(
        lines=tuple(lines),
        today=TODAY,
        design=study.design,
        subjects=frozenset(record.record_id for record in study.records),
        sites={code: str(name) for code, name in sites.items() if not site or code == site},
    )


@cache
def prose() -> tuple[Line, ...]:
    """Documents by rule or sentence, weekly reports by line, the hot memory by line."""
    found = [*_documents()]
    for week, report in json.loads((DEMO / "weekly_reports.json").read_text("utf-8")).items():
        told = [*report["progress"], *report["pitfalls"]]
        told += [f"{one['date']} {one['text']}" for one in report["decisions"]]
        found += [(Source.REPORT, f"W{week}", f"W{week} {text}") for text in told]
    memory = (DEMO / "hot_memory.md").read_text("utf-8").splitlines()
    found += [
        (Source.MEMORY, "", line.strip("- ").replace("**", ""))
        for line in memory
        if line.startswith("- ")
    ]
    return tuple(
        Line(f"{source}{n}", source, text, section=section, is_newest=_LATER_UNDONE not in text)
        for n, (source, section, text) in enumerate(found, 1)
    )


def _documents() -> Iterator[tuple[Source, str, str]]:
    for path in ("protocol.md", "crf_guide.md", "icf.md"):
        section = ""
        for raw in (DEMO / "documents" / path).read_text("utf-8").splitlines():
            line = raw.strip()
            if line.startswith("#"):
                section = line.strip("# ")
            elif line.startswith("|"):
                yield Source.DOCUMENT, section, f"{section}: {line.strip('|').strip()}"
            elif re.match(r"(?:\d+\.|-) |\*\*", line):
                yield Source.DOCUMENT, section, f"{section}: {line.replace('**', '')}"
            else:
                for part in _SENTENCE.findall(line):
                    yield Source.DOCUMENT, section, f"{section}: {part}"


def _queries(subjects: Iterable[str]) -> Iterator[dict[str, Any]]:
    for name in subjects:
        for form in _FORMS:
            yield {"subjects": [name], "select": [form]}
        yield {"subjects": [name], "select": [f"@visits.{column}" for column in _VISITS]}
    yield {"aggregate": "count", "where": _ENROLLED}
    yield {"aggregate": "count", "where": _ENROLLED, "by": ["@site"]}
    yield {"aggregate": "count", "where": _ENROLLED, "by": ["month:enroll_date"]}
    yield {"aggregate": "count", "where": [*_ENROLLED, {"field": "sex", "op": "=", "value": "2"}]}
    yield {"aggregate": "count", "by": ["@status"]}
    yield {"aggregate": "mean", "select": ["age_calculated"], "where": _ENROLLED}
    yield {"select": ["@project.target"]}
    yield {"select": ["ast"], "where": [{"field": "ast", "op": ">", "value": {"ref": "high"}}]}


def _lines(study: Study, query: dict[str, Any], start: int) -> Iterator[Line]:
    answer = study.ask(**query)
    ids = tuple(query.get("subjects") or sorted(record.record_id for record in study.records))
    rows = list(_rows(answer))
    complete = not answer.left_out and not answer.undecided
    count = answer.basis.rows if query.get("aggregate") else len({_at(row[0]) for row in rows})
    scope = Scope(query, ids, count, complete, answer)
    groups = [*answer.groups] if answer.groups else [None] * len(rows)
    for n, row in enumerate(rows, start + 1):
        line = Line(f"F{n}", Source.FACT, "", row, scope)
        yield replace(line, group=groups[n - start - 1]) if answer.groups else line
    if query.get("subjects"):
        yield Line(f"F{start + len(rows) + 1}", Source.FACT, "", (), scope)


def _rows(answer: Answer) -> Iterator[tuple[Fact, ...]]:
    """Rows of repeating forms and visits whole, all else one by one."""
    found: dict[tuple[str, str, str, int | None], list[Fact]] = {}
    for fact in answer.facts:
        if fact.instance is None and fact.kind is not Kind.WINDOW:
            yield (fact,)
        else:
            found.setdefault(_at(fact), []).append(fact)
    yield from (tuple(row) for row in found.values())


def _at(fact: Fact) -> tuple[str, str, str, int | None]:
    return fact.subject, fact.event, fact.instrument, fact.instance
