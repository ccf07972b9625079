"""What is said of somebody else is nobody's own fact, and half a sentence is no statement."""

from __future__ import annotations

import pytest

from memory.models import UserMemory
from memory.people import screen
from tests.engines.chat.kit import ask
from tests.memory.agent.kit import extracted, item, kept, save
from tests.support.study import Study


@pytest.mark.parametrize("text", ["记住:我是统计师", "请记一下我喜欢看表格", "以后我只看结论"])
def test_ones_own_words_count(study: Study, text: str) -> None:
    assert screen.has_news(study["zhangyi"], text)


def test_a_colleagues_role_is_not_stored_for_the_speaker(study: Study) -> None:
    text = "记住:王护士每周三不在医院"
    study.stand_ins.script(
        extracted(item("角色", "护士", "王护士每周三不在医院", of_speaker=False))
    )
    assert save("zhangyi", text)["saved_count"] == 0
    assert kept("zhangyi") == []
    ask("zhangyi", text)
    assert list(UserMemory.objects.values_list("category", flat=True)) == ["proposal"]


@pytest.mark.parametrize("text", ["以后都记住", "记住", "请你记一下", "我负责 A"])
def test_a_fragment_is_asked_back_and_not_kept(study: Study, text: str) -> None:
    reply = ask("zhangyi", text)
    assert "已记" not in reply.text
    assert not UserMemory.objects.exists()


@pytest.mark.parametrize("text", ["我负责 A 中心的访视安排", "我叫张伟,负责肺癌研究的入组"])
def test_who_introduces_themselves_says_it_of_themselves(study: Study, text: str) -> None:
    reply = ask("zhangyi", text)
    assert reply.intents[0] == "remember"
    (told,) = kept("zhangyi")
    assert text.startswith(told)
    assert not UserMemory.objects.filter(category="proposal").exists()


@pytest.mark.parametrize(
    "text", ["记住:我们项目改为每周三开会", "记住,我是说方案换成V3", "记一下:王PI下周出差"]
)
def test_what_is_said_of_the_study_stays_a_proposal(study: Study, text: str) -> None:
    ask("zhangyi", text)
    assert set(UserMemory.objects.values_list("category", flat=True)) == {"proposal"}
