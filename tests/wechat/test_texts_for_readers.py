"""What the house tells people names no record, subject or site of another site, whoever wrote the text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engines.models import TaskRun
from projects.models import Member
from study.models import Subject
from tests.engines.cron.kit import delivered
from tests.engines.sop.kit import human, new_skill, review_of, run_of, soft
from tests.support.study import Study
from tests.wechat.working import deliver, outgoing, payloads, receive, work
from wechat.models import OutboxMessage
from wechat.outbound import outbox
from wechat.reviews import reconcile

pytestmark = pytest.mark.django_db
PI, CRC_A, CRC_B = "zhangyi", "wanghushi", "crc_b"
EVERYBODY = (PI, CRC_A, CRC_B)
OF_A, OF_B, OF_NOBODY = "P008", "P020", "P777"
NAME_OF_A = "测试甲一"
DUE = "{} 今天到期 V2 访视"


def written(study: Study, text: str) -> TaskRun:
    """A workflow about the whole study, whose model writes to everybody."""
    arguments = json.dumps({"roles": ["PI", "CRC"], "text": text}, ensure_ascii=False)
    calls = [{"id": "c1", "function": {"name": "send_message", "arguments": arguments}}]
    verdict = {"reason": "已通知", "evidence": ['"sent"'], "passed": True, "confidence": 0.9}
    said = {"content": json.dumps(verdict, ensure_ascii=False)}
    study.stand_ins.script({"tool_calls": calls}, said)
    skill = new_skill(study, {"tell": soft(tools=["send_message"])}, "tell")
    return run_of(study, skill, None, triggered_by="admin")


def told(study: Study, text: str) -> dict[str, list[str]]:
    """What WeCom delivered of it, by reader."""
    written(study, text)
    deliver()
    found = delivered(study)
    return {user: found.get(user, []) for user in EVERYBODY}


def to_a(text: str) -> dict[str, list[str]]:
    return {PI: [text], CRC_A: [text], CRC_B: []}


def to_pi(text: str) -> dict[str, list[str]]:
    return {PI: [text], CRC_A: [], CRC_B: []}


def to_all(text: str) -> dict[str, list[str]]:
    return {PI: [text], CRC_A: [text], CRC_B: [text]}


@pytest.mark.full
@pytest.mark.parametrize(
    "spelled",
    ["P008", "p008", "Ｐ００８", "P-008", "P 008", "p_008", "P零零八", "8号患者", "受试者8号"],
)
def test_a_sentence_about_a_subject_goes_to_who_may_see_it(study: Study, spelled: str) -> None:
    text = DUE.format(spelled)
    found = told(study, text)
    assert {user: len(texts) for user, texts in found.items()} == {PI: 1, CRC_A: 1, CRC_B: 0}


@pytest.mark.full
@pytest.mark.parametrize("spelled", ["P777", "p 777", "777号受试者"])
def test_a_record_that_does_not_exist_reads_as_one_of_another_site(
    study: Study, spelled: str
) -> None:
    text = DUE.format(spelled)
    assert told(study, text) == to_pi(text)


@pytest.mark.full
@pytest.mark.parametrize(
    "line", ["A中心本周入组 3 例", "site_a 的访视已安排", "Ｓｉｔｅ-Ａ 待补录"]
)
def test_a_line_about_a_site_is_for_that_site(study: Study, line: str) -> None:
    assert told(study, line) == to_a(line)


@pytest.mark.full
def test_who_is_called_by_name_is_known_to_their_own_site_only(study: Study) -> None:
    found = told(study, f"{NAME_OF_A} 今天到期\n请按时随访")
    assert found[CRC_B] == ["请按时随访"]
    assert all("今天到期\n请按时随访" in found[user][0] for user in (PI, CRC_A))
    assert NAME_OF_A not in str(found)


@pytest.mark.full
def test_each_reader_gets_their_own_lines_word_for_word(study: Study) -> None:
    common, of_a, of_b = (
        "请按时随访, V2 窗口 ±3 天",
        DUE.format(OF_A),
        f"- {OF_B}:  ALT200 U/L 待复查",
    )
    text = "\n".join((common, of_a, of_b, DUE.format(OF_NOBODY), "8月12号之前 2 次"))
    assert told(study, text) == {
        PI: [text],
        CRC_A: [f"{common}\n{of_a}\n8月12号之前 2 次"],
        CRC_B: [f"{common}\n{of_b}\n8月12号之前 2 次"],
    }


@pytest.mark.full
@pytest.mark.parametrize(
    "text",
    [
        "本周例会改到周三 10:00, 请准备 SHR-1210 与 AZD9291 的发药记录",
        "PLT100、Hb120 请复核; 受试者:12 例",
        "P 110 次/分, 12号开会",
    ],
)
def test_what_names_no_subject_reaches_everybody(study: Study, text: str) -> None:
    assert told(study, text) == to_all(text)


def test_a_study_that_numbers_its_subjects(study: Study) -> None:
    for number, row in enumerate(Subject.objects.filter(project=study.project), 1):
        row.record_id, row.synced_at = str(number), timezone.now()
        row.save()
    own = Subject.objects.filter(project=study.project, site="site_b").first()
    assert own
    mine, theirs, nobodys = f"{own.record_id}号到期", "受试者 3 到期", "99号到期"
    text = "\n".join((mine, theirs, nobodys, "受试者:3 例, 8月3号开会"))
    for user in EVERYBODY:
        outbox.tell(to=study[user], content=text, key=f"n:{user}")
    assert outgoing(PI) == [text]
    assert outgoing(CRC_B) == [f"{mine}\n受试者:3 例, 8月3号开会"]
    assert outgoing(CRC_A) == [f"{theirs}\n受试者:3 例, 8月3号开会"]


def test_a_held_text_is_read_again_before_it_goes(study: Study) -> None:
    """Who moved to another site while a message waited is not told of the former one."""
    from datetime import timedelta

    from wechat.outbound.outbox import Held

    held = Held(timezone.now() + timedelta(seconds=1), {"record": ""})
    text = f"请按时随访\n{DUE.format(OF_A)}"
    outbox.tell(to=study[CRC_A], content=text, key="h", held=held)
    past = timezone.now() - timedelta(hours=1)
    OutboxMessage.objects.update(available_at=past, checked_at=past, status="pending")
    Member.objects.filter(wecom_userid=CRC_A).update(site="site_b")
    deliver()
    assert delivered(study)[CRC_A] == ["请按时随访"]


QUESTIONS = [
    ("请核对重复入组: {}", OF_B, {"admin"}),
    ("请核对重复入组: {}", OF_NOBODY, {"admin"}),
    ("请核对重复入组: {}", OF_A, {CRC_A}),
]


@pytest.mark.full
@pytest.mark.parametrize(("question", "other", "asked"), QUESTIONS)
def test_who_may_not_read_a_question_is_not_asked_it(
    study: Study, question: str, other: str, asked: set[str]
) -> None:
    node = human(description=question.format(other), reviewers=["CRC"])
    run = run_of(study, new_skill(study, {"ask": node}), "P001")
    deliver()
    cards = OutboxMessage.objects.filter(kind="card")
    assert {user for row in cards for user in row.to_user.split("|")} == asked
    reconcile.remind(review_of(run), "again")
    assert all(other in text for user in asked for text in outgoing(user))
    number = review_of(run).pk
    receive(f"通过 {number}", CRC_A)
    work()
    strangers = {CRC_A, CRC_B} - asked
    assert not any(other in text for user in strangers for text in outgoing(user))
    assert other in json.dumps(payloads("card"), ensure_ascii=False)


ORDINARY = [
    "请按时随访",
    "窗口 ±3 天, V2 与 V3",
    "ALT200 U/L, PLT 85×10^9/L",
    "2026-01-12 14:30 例会",
    "共 12 例, 完成率 30%",
]
SPELLINGS = ["{}", "{} 到期", "请看{}的 V2", "- {}: 缺签名", "({})"]


def spelled(record: str) -> st.SearchStrategy[str]:
    forms = [record, record.lower(), f"{record[0]}-{record[1:]}", f"{record[0]} {record[1:]}"]
    return st.sampled_from([shape.format(form) for shape in SPELLINGS for form in forms])


@st.composite
def texts(draw: Any) -> list[tuple[str, set[str]]]:
    """Lines, and which records each of them names."""
    ids = [f"P{number:03}" for number in range(1, 41)] + ["P555", "P999"]
    found: list[tuple[str, set[str]]] = []
    for _line in range(draw(st.integers(1, 6))):
        named = draw(st.lists(st.sampled_from(ids), max_size=2, unique=True))
        parts = [draw(spelled(record)) for record in named]
        found.append((", ".join([*parts, draw(st.sampled_from(ORDINARY))]), set(named)))
    return found


@pytest.mark.full
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(lines=texts())
def test_nobody_is_told_of_others_and_everybody_of_the_rest(
    study: Study, lines: list[tuple[str, set[str]]]
) -> None:
    site = dict(Subject.objects.filter(project=study.project).values_list("record_id", "site"))
    OutboxMessage.objects.all().delete()
    for user in EVERYBODY:
        member = study[user]
        outbox.tell(to=member, content="\n".join(line for line, _named in lines), key=f"p:{user}")
        mine = [
            line
            for line, named in lines
            if not member.site or all(site.get(record) == member.site for record in named)
        ]
        text = "\n".join(mine)
        assert outgoing(user) == ([text] if text.strip() else [])
