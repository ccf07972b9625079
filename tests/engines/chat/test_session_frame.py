"""The frame of a numbered reply is written by code alone: the session does not hand it to the model."""

from __future__ import annotations

from engines.assistant.chat import texts
from tests.engines.chat.kit import ask, prompts, say
from tests.support.study import Study

TWO = "P003 的 ECOG 是几分,然后录入今天的访视数据"


def test_the_session_keeps_the_answers_alone(study: Study) -> None:
    ask("wanghushi", TWO)
    ask("wanghushi", "你好")
    sent = "\n".join(message["content"] for message in prompts(study)[-1]["messages"])
    assert "REDCap" in sent
    assert texts.DONE.rstrip(":") not in sent


def test_a_frame_that_the_model_writes_is_taken_off(study: Study) -> None:
    framed = f"[查询] {texts.DONE}1. [访视] 已完成 / 结果\uff1a您好,请问需要什么"
    study.stand_ins.script(say(framed))
    assert ask("wanghushi", "你好").text == "您好,请问需要什么"
