"""Words about the last answer: 👍, 👎, or asked back (decisions.md, "feedback")."""

from __future__ import annotations

import pytest

from engines.assistant.chat.opinions import judged
from memory.models import ConversationHistory
from tests.engines.chat.kit import ask, mute
from tests.support.study import Study


@pytest.mark.parametrize(
    ("text", "value", "reason"),
    [
        ("👍", "thumbs_up", None),
        ("给力", "thumbs_up", None),
        ("没毛病", "thumbs_up", None),
        ("very helpful", "thumbs_up", None),
        ("👎", "thumbs_down", None),
        ("太啰嗦", "thumbs_down", "too_long"),
        ("和台账对不上", "thumbs_down", "inaccurate"),
        ("看不懂", "thumbs_down", "unclear"),
        ("不好用", "thumbs_down", None),
        ("好是好,就是错了一个数", "thumbs_down", "inaccurate"),
        ("特别好", "thumbs_up", None),
        ("特别棒,谢谢", "thumbs_up", None),
        ("搞定了,谢谢", "thumbs_up", None),
        ("重点突出,很好", "thumbs_up", None),
        ("难得这么准", "thumbs_up", None),
        ("省了我半天功夫,赞", "thumbs_up", None),
        ("比上次快多了", "thumbs_up", None),
        ("perfect match", "thumbs_up", None),
        ("promising, thanks", "thumbs_up", None),
        ("belongs, great", "thumbs_up", None),
        ("numbers don't match", "thumbs_down", None),
        ("还没搞定", "thumbs_down", None),
        ("重点不突出", "thumbs_down", None),
        ("特别不准", "thumbs_down", "inaccurate"),
        ("等了半天", "thumbs_down", None),
        ("建议加个图,谢谢", None, None),
        ("嗯哼", None, None),
    ],
)
def test_praise_blame_and_neither(text: str, value: str | None, reason: str | None) -> None:
    assert (judged(text).value, judged(text).reason) == (value, reason)


@pytest.mark.parametrize("text", ["%s%s%n", "n", "嗯哼", "----"])
def test_what_says_nothing_rates_nothing(study: Study, text: str) -> None:
    mute(study)
    answered = ask("zhangyi", "P001 入组了吗?")
    ask("zhangyi", text)
    assert ConversationHistory.objects.get(pk=answered.conversation_id).feedback is None


def test_a_bare_thumb_down_is_asked_for_its_reason_once(study: Study) -> None:
    mute(study)
    answered = ask("zhangyi", "P001 入组了吗?")
    first, second = ask("zhangyi", "👎").text, ask("zhangyi", "👎").text
    assert "太长" in first
    assert "太长" not in second
    ask("zhangyi", "太长了")
    ask("zhangyi", "👎")
    row = ConversationHistory.objects.get(pk=answered.conversation_id)
    assert (row.feedback, row.feedback_reason) == ("thumbs_down", "too_long")
    ask("zhangyi", "P002 入组了吗?")
    assert ask("zhangyi", "👎").text == first
