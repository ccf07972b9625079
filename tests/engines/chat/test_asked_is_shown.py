"""What a question asks for stands in the answer, or the answer says that it does not (design.md 9.8)."""

from __future__ import annotations

import re

import pytest

from memory.models import ConversationHistory
from tests.engines.chat.kit import ask, mute, say
from tests.engines.liar.kit import identifiers, note
from tests.support.study import Study

PERSON = "admin"


@pytest.fixture(params=["up", "mute", "down"])
def llm(request: pytest.FixtureRequest, study: Study) -> str:
    """The stand-in's own answers, an LLM that says nothing, an LLM that is down."""
    if request.param == "mute":
        mute(study)
    if request.param == "down":
        study.stand_ins.fault("llm", "status", 503, times=None)
    return str(request.param)


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("P003有什么AE", ["急性阑尾炎", "乏力"]),
        ("P003有几条AE", ["2"]),
        ("P003的SAE几级", ["3级"]),
        ("P001的皮疹几级", ["1级"]),
        ("P003用过什么合并用药", ["铝碳酸镁片", "头孢呋辛"]),
        ("P019用过酮康唑吗", ["酮康唑"]),
        ("P003的病理类型和临床分期", ["腺癌", "B期"]),
        ("P003的ALT", ["13", "32", "18", "30", "34"]),
        ("P001、P003的AE", ["皮疹", "急性阑尾炎", "乏力"]),
    ],
)
def test_every_instance_and_field_is_told(
    study: Study, llm: str, question: str, told: list[str]
) -> None:
    text = ask(PERSON, question).text
    assert not [word for word in told if word not in text], text
    assert len(text) <= 150


def test_no_model_leaves_an_instance_out(study: Study) -> None:
    part = "P003 有不良事件：乏力。"
    study.stand_ins.script(say(part), say(part))
    assert "急性阑尾炎" in ask(PERSON, "P003有什么AE").text


@pytest.mark.full
def test_many_instances_are_capped_with_their_number(study: Study) -> None:
    rows = [
        {
            "record": "P007",
            "event": "log_arm_1",
            "instrument": "ae",
            "instance": number,
            "values": {"ae_term": f"不适症状之第{number}种", "ae_grade": "1"},
        }
        for number in range(1, 31)
    ]
    study.stand_ins.post("redcap/records", rows)
    mute(study)
    text = ask(PERSON, "P007的AE").text
    assert "30" in text
    assert text.count("不适症状") < 30
    assert "列出 " in text


def test_no_instance_is_not_a_row_of_blanks(study: Study, llm: str) -> None:
    text = ask(PERSON, "P007的AE").text
    assert "不良事件" in text
    assert not re.search(r"AE开始日期|转归|分级", text)


@pytest.mark.parametrize(
    "question",
    ["P003的电话", "P003叫什么名字", "P003的基因检测结果", "P003的血钾多少", "P003的LDH"],
)
def test_nothing_else_is_told_instead(study: Study, llm: str, question: str) -> None:
    text = ask(PERSON, question).text
    assert not re.search(r"20\d\d-|入组|身高|BMI|野生", text), text
    assert not [value for value in identifiers() if value in text]


def test_the_anchor_day_is_that_of_the_study(study: Study) -> None:
    study.project.anchor_is_day = 0
    study.project.save()
    assert re.search(r"Day\s*0", ask(PERSON, "P006的V4窗口期").text)


def test_identifiers_in_notes_reach_neither_reader_nor_log(study: Study, llm: str) -> None:
    typed = "联系电话13912345678,身份证110101199003070011,邮箱a.b@example.com。胆囊结石。"
    note(study, "P006", medical_history_text=typed)
    text = ask(PERSON, "P006的既往史").text
    assert "胆囊结石" in text
    stored = [row.content for row in ConversationHistory.objects.all()]
    for secret in ("13912345678", "110101199003070011", "a.b@example.com"):
        assert secret not in f"{text} {stored}"


def test_who_types_an_identifier_is_not_told_that_it_is_in_a_record(study: Study) -> None:
    note(study, "P006", medical_history_text="家属电话13912345678。胆囊结石。")
    assert "13912345678" not in ask(PERSON, "P006的既往史里有13912345678吗").text


@pytest.mark.full
@pytest.mark.parametrize("question", ["P001、P020 的入组日期", "P020、P001 的入组日期"])
def test_who_is_not_there_is_named(study: Study, llm: str, question: str) -> None:
    text = ask("crc_b", question).text
    assert "P020 入组日期" in text
    assert "2026-02-05" not in text
    unseen = text.replace("P001", "X")
    assert unseen == ask("crc_b", question.replace("P001", "P999")).text.replace("P999", "X")


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("本周目标是几例", "依从性差,需每日提醒"),
        ("本周目标是几例", "本周目标是完成 5 例入组。"),
        ("P003的ECOG评分", "本周目标是完成 3 例入组。"),
    ],
)
def test_hot_memory_beside_the_point_or_misquoted_is_no_answer(
    study: Study, question: str, words: str
) -> None:
    study.stand_ins.script(*[say(words)] * 3)
    assert words not in ask("zhangyi", question).text


@pytest.mark.parametrize(
    ("question", "value"),
    [("P021完成了吗", "完成"), ("P003的SAE什么时候上报的", "2026-01-31")],
)
def test_the_field_that_a_verb_asks_for_is_told(study: Study, question: str, value: str) -> None:
    reply = ask("zhangyi", question).text
    assert value in reply
    assert question[:4] in reply
