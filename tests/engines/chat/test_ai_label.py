"""A study may have each reply labelled in which a language model took part; others are never labelled."""

from __future__ import annotations

import pytest

from tests.engines.chat.kit import ask, say
from tests.support.study import Study

LABEL = "(含人工智能生成内容)"


@pytest.mark.parametrize("is_on", [False, True])
def test_the_label_is_the_studys_choice(study: Study, is_on: bool) -> None:
    study.project.labels_replies = is_on
    study.project.save()
    study.stand_ins.script(*[say("您好,请讲。")] * 3)
    reply = ask("zhangyi", "今天心情不错呀,你觉得呢")
    assert reply.calls > 0
    assert reply.text.endswith(LABEL) is is_on
    plain = ask("zhangyi", "P001的入组日期")
    assert plain.calls == 0
    assert LABEL not in plain.text
