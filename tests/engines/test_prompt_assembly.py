"""The one function that puts a prompt together (decisions.md, "prompt layout")."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_django import Settings

from core.llm import prompts
from core.llm.prompts.__init__ import marked
from core.privacy.gate import Deidentified, Gate
from core.privacy.identifier_index import Known
from engines.assistant.context import (
    Assembled,
    Material,
    assemble,
)
from skills.chat import ChatSkill

NEWEST = "say.v1+hot.v1+session.v1"


def build(gate: Gate | None = None, question: str = "P001 入组了吗?", **material: Any) -> Assembled:
    used = gate or Gate()
    return assemble(
        gate=used,
        system=prompts.load_prompt("say", fields="ALT"),
        question=used.text(question),
        material=Material(**material),
    )


def whole(prompt: Assembled) -> str:
    return "\n".join(str(message.content) for message in prompt.messages)


def test_the_order_of_the_parts() -> None:
    prompt = build(
        skill=ChatSkill(system_prompt="先说结论"),
        hot="- 只看结论",
        facts="- 简短",
        session="用户: 你好\n\nAI: 您好",
    )
    marks = [
        prompts.load_prompt("say", fields="ALT").text,
        "先说结论",
        "[Hot Memory]",
        "[User Memory]",
        "用户: 你好",
        "P001 入组了吗?",
    ]
    places = [whole(prompt).index(mark) for mark in marks]
    assert places == sorted(places)
    assert [message.role for message in prompt.messages] == ["system", "system", "user"]
    assert "general_chat.0" in prompt.version


def test_tokens_are_counted_for_each_part() -> None:
    prompt = build(hot="- 只看结论")
    assert set(prompt.parts) == {"system", "hot", "question"}
    assert all(count > 0 for count in prompt.parts.values())
    assert prompt.tokens == sum(prompt.parts.values())


def test_the_versions_of_all_templates_are_named() -> None:
    assert build(hot="x", session="y").version == NEWEST


def test_everything_passes_the_gate() -> None:
    gate = Gate(Known.of({"name": ["张三"]}), identifier_fields={"phone"})
    prompt = build(
        gate=gate,
        question="[F1] 备注 = 张三 13800138000",
        skill=ChatSkill(system_prompt="找张三"),
        hot="- 张三需随访",
        facts="- 张三",
        session="用户: 张三",
    )
    assert all(type(message.content) is Deidentified for message in prompt.messages)
    assert "张三" not in whole(prompt)
    assert "13800138000" not in whole(prompt)


def test_data_stand_between_marks_nobody_can_guess(settings: Settings) -> None:
    """Who writes the data knows no key, and a text that holds its own mark gets another."""
    here = marked("x")
    opening, _text, closing = here.split("\n")
    assert opening.strip("<>") == closing.strip("</>")
    assert here == marked("x")
    assert opening not in marked(f"x\n{closing}").split("\n")[0]
    settings.SECRET_KEY = "another house"
    assert marked("x") != here


def test_a_missing_value_of_a_template_is_an_error() -> None:
    with pytest.raises(KeyError):
        prompts.load_prompt("say")
    with pytest.raises(FileNotFoundError):
        prompts.load_prompt("nothing")
