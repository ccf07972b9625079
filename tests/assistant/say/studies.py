"""Sheets of the demo study by StudyQueries, without a database: what a test words an answer from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from django.utils import translation

from engines.assistant.read.question import Query, Question
from engines.assistant.say.lines import Builder, sheet_of
from engines.assistant.say.plan import Plan, Told
from engines.assistant.say.reader import Reader
from engines.assistant.say.render import parts_of
from engines.assistant.say.sheet import Sheet
from study.query.run import answer_query
from study.query.schema import parse_query
from tests.assistant.plain_small import small
from tests.study.query.studies import TODAY, Study, demo

NOW = datetime(2026, 11, 23, 1, 30, tzinfo=UTC)
SITES = {"wanghushi": "site_a", "crc_b": "site_b"}


def _run(status: str, skill: str = "qc_process", **more: str) -> dict[str, str]:
    """The newest run of a workflow."""
    return {"status": status, "skill": skill, "newest": "yes", **more}


STUDIES = {"demo": demo, "small": small, "worked": lambda: replace(demo(), work=WORK.__getitem__)}
WORK: dict[str, dict[str, list[dict[str, Any]]]] = {
    "findings": {
        "P007": [
            {
                "rule": "EL01",
                "field": "-",
                "text": "年龄 17 岁,小于 18 岁",
                "status": "open",
                "opened": "2026-11-20",
            }
        ],
        "P013": [
            {
                "rule": "VW2",
                "field": "-",
                "text": "V2 超窗 4 天",
                "status": "open",
                "opened": "2026-11-21",
            },
            {
                "rule": "AE1",
                "field": "-",
                "text": "已关",
                "status": "closed",
                "opened": "2026-11-01",
            },
        ],
    },
    "reviews": {
        "P002": [{"question": "能否入组?", "waiting_for": "张医生", "since": "2026-11-22"}]
    },
    "runs": {
        "P020": [_run("FAILED", ended="2026-11-22", reason="年龄大于75岁")],
        "P002": [_run("SUSPENDED")],
        "P009": [_run("COMPLETED", final_state="end_with_violation")],
    },
    "changes": {
        "P001": [
            {"field": "weight_kg", "from": "61.5", "to": "81.5", "at": "2026-11-20T10:30:00+08:00"}
        ]
    },
}


def render(sheet: Sheet, plan: Plan, reader: Reader) -> list[Told]:
    """The sentences of a plan, whole, each with the marks that it rests on."""
    with translation.override(reader.language):
        return [Told(part.text(), part.marks) for part in parts_of(sheet, plan, reader)]


def reader_of(study: Study, user: str = "zhangyi", **more: Any) -> Reader:
    """Who may see all of a study, or one of its sites."""
    site = SITES.get(user, "")
    ids = [record.record_id for record in study.records if not site or record.site == site]
    known = study.design.metadata.sites.items()
    sites = {code: label for code, label in known if not site or code == site}
    return Reader(study.design, NOW, ids, sites, site, **more)


def sheet(reader: Reader, study: Study, asked: Sequence[tuple[Question, Sequence[Query]]]) -> Sheet:
    """The sheet of questions with their queries."""
    seen = [record for record in study.records if record.record_id in reader.subjects]
    builder, answered = Builder(masked=reader.masked), []
    for question, queries in asked:
        results = [
            (
                query,
                answer_query(parse_query(query), study.design, seen, today=TODAY, work=study.work),
            )
            for query in queries
        ]
        answered.append(builder.answered(question, results, reader))
    return sheet_of(builder, reader, answered)
