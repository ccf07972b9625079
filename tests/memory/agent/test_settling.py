"""The question about two values is answered as people answer (issue 4, "asked, not stored")."""

from __future__ import annotations

import pytest

from memory.models import MemoryQuestion, UserMemory
from tests.engines.chat.kit import ask, say
from tests.memory.agent.kit import extracted, item, kept, save
from tests.support.study import Study

TORN = "记住我是心内科的,也是肿瘤科的"


@pytest.fixture
def asked(study: Study) -> Study:
    """Who was just asked 心内科 / 肿瘤科, with the torn statement kept word for word."""
    ask("zhangyi", TORN)
    assert kept("zhangyi") == [TORN]
    study.stand_ins.reset()
    study.stand_ins.script(
        extracted(
            item("department", "心内科", "我是心内科的"),
            item("department", "肿瘤科", "也是肿瘤科的"),
        ),
        say("您好。"),
    )
    save("zhangyi", TORN)
    assert "心内科 / 肿瘤科" in ask("zhangyi", "你好").text
    study.stand_ins.reset()
    return study


@pytest.mark.full
@pytest.mark.parametrize(
    "text",
    [
        "肿瘤科",
        "是肿瘤科。",
        "以肿瘤科为准",
        "应该是肿瘤科吧",
        "就肿瘤科",
        "第二个",
        "后者",
        "以后者为准",
    ],
)
def test_the_one_that_is_meant_is_kept_and_the_torn_statement_goes(asked: Study, text: str) -> None:
    assert ask("zhangyi", text).intents == ["remember"]
    assert kept("zhangyi") == ["科室:肿瘤科"]
    assert MemoryQuestion.objects.count() == 0
    assert asked.stand_ins.requests("llm") == []


@pytest.mark.parametrize("text", ["第一个", "前者"])
def test_the_first_as_well(asked: Study, text: str) -> None:
    ask("zhangyi", text)
    assert kept("zhangyi") == ["科室:心内科"]


@pytest.mark.full
@pytest.mark.parametrize(
    "text",
    [
        "科",
        "骨科",
        "不是肿瘤科",
        "第三个",
        "心内科和肿瘤科",
        "肿瘤科有多少受试者",
        "第二个受试者的血压",
        "王主任是肿瘤科的",
        "以肿瘤科为准吗",
    ],
)
def test_other_words_settle_nothing(asked: Study, text: str) -> None:
    ask("zhangyi", text)
    assert MemoryQuestion.objects.count() == 1
    assert not UserMemory.objects.filter(field="department").exists()


@pytest.mark.full
def test_the_second_one_is_of_another_list_later(asked: Study) -> None:
    asked.stand_ins.script(say("您好。"))
    ask("zhangyi", "你好")
    ask("zhangyi", "第二个")
    assert MemoryQuestion.objects.count() == 1
    ask("zhangyi", "以肿瘤科为准")
    assert kept("zhangyi") == ["科室:肿瘤科"]


@pytest.mark.full
def test_a_clear_word_later_ends_the_torn_statement_too(asked: Study) -> None:
    asked.stand_ins.script(extracted(item("department", "肿瘤科", "我在肿瘤科")))
    save("zhangyi", "我在肿瘤科")
    assert kept("zhangyi") == ["科室:肿瘤科"]


@pytest.mark.full
def test_another_statement_that_names_a_value_stays(asked: Study) -> None:
    ask("zhangyi", "记住我喜欢看心内科的列表")
    ask("zhangyi", "以肿瘤科为准")
    assert set(kept("zhangyi")) == {"科室:肿瘤科", "记住我喜欢看心内科的列表"}
