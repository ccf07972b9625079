"""Message → understanding → query → plain answer, in one process and without a database."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.utils import translation

from engines.assistant.answer import Reader, reply
from engines.assistant.understand import State, understand
from study.query.run import answer
from study.query.schema import parse
from tests.answers.judge import judge
from tests.answers.play import load
from tests.assistant.plain_small import small
from tests.study.query.studies import TODAY, Study, demo

NOW = datetime(2026, 11, 23, 1, 30, tzinfo=UTC)
SITES = {"wanghushi": "site_a", "crc_b": "site_b"}
WITHOUT = ("qc", "protocol", "history", "memory", "injection")
"""Kinds that ask for more than the data: findings in a database, documents, what is remembered."""
HERE = Path(__file__).parent
PUBLIC = load(HERE.parent / "answers" / "chat_public.jsonl")
PATTERN = r"P\d{3}|\d{1,3}"
LIMIT = 150
INTERNAL = re.compile(r"@[a-z]|_arm_|None|Decimal|[a-z]+_[a-z]+|{|\[")


def said(study: Study, turns: Sequence[str], user: str = "zhangyi", **more: Any) -> str:
    """The reply to the last of the turns."""
    site = SITES.get(user, "")
    records = [record for record in study.records if not site or record.site == site]
    known = {c: label for c, label in study.design.metadata.sites.items() if not site or c == site}
    ids = [record.record_id for record in records]
    reader = Reader(study.design, NOW, ids, known, site, **more)
    state, told = State(), ""
    with translation.override(reader.language):
        for text in turns:
            found = understand(
                text,
                design=study.design,
                today=TODAY,
                sites=study.design.metadata.sites,
                own_site=site,
                subjects=ids,
                pattern=PATTERN if study.design.metadata.longitudinal else r"\d{2}-\d{3}",
                state=state,
            )
            answers = [
                [
                    answer(parse(query), study.design, records, today=TODAY, work=study.work)
                    for query in asked.queries
                ]
                for asked in found.asked
            ]
            told = reply(found, answers, reader)
            subjects = [f.subject for own in answers for a in own for f in a.facts if f.subject]
            state = found.state.found(tuple(dict.fromkeys(subjects)))
    return told


def called(case: dict[str, Any]) -> str:
    """How a case is called."""
    return str(case.get("id") or case["q"])


@pytest.mark.parametrize("case", [c for c in PUBLIC if c["kind"] not in WITHOUT], ids=called)
def test_an_ordinary_question_gets_a_useful_answer(case: dict[str, Any]) -> None:
    told = said(demo(), case["turns"], case["user"])
    twin = said(demo(), case["twin"], case["user"]) if "twin" in case else None
    verdict = judge(case, told, twin)
    assert verdict.useful, f"{told}\n{verdict}"


@pytest.mark.parametrize("case", load(HERE / "plain_questions.jsonl"), ids=called)
def test_the_answer_is_the_figure_that_was_asked_for(case: dict[str, Any]) -> None:
    told = said(demo(), case["q"].split("|"), case.get("user", "zhangyi"))
    assert judge(case, told).useful, f"{told}\n{judge(case, told)}"
    assert len(told) <= LIMIT


@pytest.mark.parametrize("case", load(HERE / "plain_questions_small.jsonl"), ids=called)
def test_another_study_is_told_in_its_own_words(case: dict[str, Any]) -> None:
    told = said(small(), case["q"].split("|"))
    assert judge(case, told).useful, f"{told}\n{judge(case, told)}"


@pytest.mark.parametrize("study", [demo, small], ids=["demo", "small"])
def test_no_name_of_the_data_reaches_the_reader(study: Callable[[], Study]) -> None:
    name = "questions.jsonl" if study is demo else "questions_small.jsonl"
    for case in load(HERE / name):
        told = said(study(), case["q"].split("|"), case.get("user", "zhangyi"))
        assert not INTERNAL.search(told), (case["q"], told)
        assert len(told) <= 2 * LIMIT, (case["q"], told)


def test_a_list_that_does_not_fit_is_cut_at_whole_entries_with_its_count() -> None:
    question = ["还没报过AE的受试者有哪些"]
    whole, short = said(demo(), question, limit=500), said(demo(), question, limit=60)
    everyone = whole.partition(":")[2].split("、")
    shown = short.partition(":")[2].partition(";")[0].split("、")
    assert whole.startswith("共 20 例:")
    assert len(short) <= 60
    assert everyone[: len(shown)] == shown
    assert short.endswith(f";另有 {20 - len(shown)} 项未列出")


def test_details_go_before_subjects_do() -> None:
    question = ["发生过SAE的都有谁"]
    assert "阑尾炎" in said(demo(), question)
    assert said(demo(), question, limit=30) == "共 3 例:P003、P010、P011"


def test_a_value_that_all_share_is_told_once_with_everyones_place() -> None:
    question = ["谁的收缩压最高,是哪次"]
    told = said(demo(), question, limit=100)
    shared = "P005(V1)、P010(基线)、P029(V1)、P034(基线)、P036(V4)"
    assert told.startswith(f"收缩压最高 139 mmHg:{shared}")
    assert "139 mmHg(V1,2026-09-09)" in said(demo(), question, limit=300)


def test_of_the_three_lowest_days_go_before_subjects_do() -> None:
    told = said(demo(), ["体重最轻的三个人"], limit=60)
    assert told == "体重最低:P034 46.0 kg、P036 47.8 kg、P021 49.4 kg;11 例无数据"


def test_an_answer_in_english() -> None:
    told = said(demo(), ["latest ALT of P013"], language="en")
    assert "latest reading 38 U/L (V4, 2026-11-10)" in told


def test_several_questions_are_answered_in_their_order() -> None:
    told = said(demo(), ["入组几例了？还在筛选的几例？P006抽烟吗"])
    assert told == "已入组:27 例\n筛选中:10 例\n本研究未采集抽烟。"


def test_a_site_that_is_not_the_readers_gets_no_figures() -> None:
    told = said(demo(), ["A中心入组了几例"], "crc_b")
    assert told == "您只能查看演示医院B的数据。"
    assert said(demo(), ["A中心入组了几例"], "wanghushi") == "演示医院A 已入组:15 例"


@pytest.mark.parametrize(
    "question", ["{}的ALT多少", "{}下次访视是哪天", "{}得过什么AE", "{}年龄和身高"]
)
def test_a_subject_of_another_site_reads_like_one_that_does_not_exist(question: str) -> None:
    foreign, absent = (said(demo(), [question.format(i)], "crc_b") for i in ("P001", "P099"))
    assert foreign == absent
    assert "无权查看" in foreign


def test_a_word_with_several_readings_is_asked_back() -> None:
    told = said(demo(), ["P005的依存性多少"])
    assert told == "您说的“依存性”是指 用药依从性 吗?"
    assert "AE结束日期 还是 用药结束日期" in said(demo(), ["P019的结束日期是哪天"])


def test_what_people_typed_is_masked() -> None:
    told = said(demo(), ["P015有什么基础病"], masked=lambda text: text.replace("甲状腺", "[x]"))
    assert "[x]结节病史" in told


def test_the_time_of_an_old_reading_is_told() -> None:
    question = ["P020的年龄"]
    assert said(demo(), question) == "P020 年龄 76"
    assert said(demo(), question, fresh_minutes=10) == "P020 年龄 76;数据截至 2026-11-23 09:00"
