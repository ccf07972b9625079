"""What is said of somebody else is nobody's own fact, and half a sentence is no statement."""

from __future__ import annotations

import pytest

from memory.hot import proposals
from memory.models import MemoryProposal, UserMemory
from memory.people import screen
from tests.engines.chat.kit import ask
from tests.memory.agent.kit import extracted, item, kept, save
from tests.memory.hot_kit import base, kill, write
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


def waiting() -> list[str]:
    return [row.new for row in MemoryProposal.objects.filter(state="pending")]


def test_a_proposal_is_made_again_where_nobody_decides_on_it_any_more(study: Study) -> None:
    """The same words were kept once, and nobody was asked a second time, whatever had become of them."""
    base(study)
    text, line = "记住:我们项目改为每周三开会", "- 记住:我们项目改为每周三开会"
    promised = ask("wanghushi", text).text
    assert ask("wanghushi", text).text == promised
    assert waiting() == [line]
    proposals.refuse_proposal(proposal=MemoryProposal.objects.get(), actor=study["admin"])
    assert ask("wanghushi", text).text == promised
    assert waiting() == [line]
    assert ask("wanghushi", "你记得我什么").text.count("每周三") == 1

    proposals.accept(proposal=MemoryProposal.objects.get(state="pending"), actor=study["admin"])
    assert "已有这一条" in ask("wanghushi", text).text
    assert waiting() == []
    kill(study, line)
    assert ask("wanghushi", text).text == promised
    assert waiting() == [line]


def test_what_is_too_long_to_be_proposed_is_said_to_be(study: Study) -> None:
    text = "记住:我们项目" + "每周三开会并且" * 50
    assert "298" in ask("wanghushi", text).text
    assert not UserMemory.objects.exists()
    assert "已作为建议" in ask("wanghushi", text[:290]).text
    assert len(waiting()) == 1


def test_what_stands_there_of_a_hidden_subject_reads_like_what_does_not(study: Study) -> None:
    write(study, "# 当前状态", "- 记住P005换药")
    told = [ask("crc_b", f"记住{record}换药").text for record in ("P005", "P006", "P777")]
    assert len(set(told)) == 1


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
