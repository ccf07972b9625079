"""The one function that puts a prompt together (decisions.md, "prompt layout")."""

from __future__ import annotations

import pytest
from pytest_django import Settings

from engines.assistant.context import (
    Assembled,
    Material,
    assemble,
    marked,
)
from llm import prompts
from privacy.gate import Deidentified, Gate
from privacy.identifier_index import Known

DATA = "[F1] P001 · ALT · V1 = 38"
TEXT = "[D1] 方案 §4.2 排除标准: 妊娠"


NEWEST = "system.v3+hot.v1+data.v2+documents.v2"


def build(task: str = "query_record", gate: Gate | None = None, **material: object) -> Assembled:
    used = gate or Gate()
    return assemble(
        gate=used,
        task=task,
        question=used.text("P001 入组了吗?"),
        limit=100,
        material=Material(**material),  # type: ignore[arg-type]
    )


def whole(prompt: Assembled) -> str:
    return "\n".join(str(message.content) for message in prompt.messages)


def test_the_order_of_the_parts() -> None:
    prompt = build(
        "query_history",
        hot="- 只看结论",
        facts="- 简短",
        history="[W11] 一\n[W12] 二",
        data=DATA,
        documents=TEXT,
        session="用户: 你好\n\nAI: 您好",
    )
    marks = [
        "【重要原则】",
        "【你的能力】",
        "【回复原则】",
        "[Hot Memory]",
        "[User Memory]",
        "[History Context]",
        "[W11] 一\n[W12] 二",
        "【REDCap数据查询结果】",
        "【研究方案文档检索结果】",
        TEXT,
        "用户: 你好",
        "P001 入组了吗?",
    ]
    places = [whole(prompt).index(mark) for mark in marks]
    assert places == sorted(places)
    assert [message.role for message in prompt.messages] == ["system"] * 4 + ["user"]


@pytest.mark.parametrize("task", ["query_history", "analyze_trend"])
def test_history_for_questions_of_the_past(task: str) -> None:
    assert "[W12]" in whole(build(task, history="[W12] 二"))


@pytest.mark.parametrize(
    "task", ["qc_task", "query_record", "general_chat", "remember", "qa_query"]
)
def test_history_for_nothing_else(task: str) -> None:
    assert "[W12]" not in whole(build(task, history="[W12] 二"))


def test_tokens_are_counted_for_each_part() -> None:
    prompt = build(hot="- 只看结论", data=DATA)
    assert set(prompt.parts) == {"system", "hot", "data", "question"}
    assert all(count > 0 for count in prompt.parts.values())
    assert prompt.tokens == sum(prompt.parts.values())


def test_the_versions_of_all_templates_are_named() -> None:
    assert build(hot="x", data=DATA, documents=TEXT).version == NEWEST


def test_everything_passes_the_gate() -> None:
    gate = Gate(Known.of({"name": ["张三"]}), identifier_fields={"phone"})
    prompt = build(
        "query_history",
        gate=gate,
        hot="- 张三需随访",
        facts="- 张三",
        history="[W1] 张三入组",
        data="[F1] 备注 = 张三 13800138000",
        documents="[D1] 张三的方案",
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


def test_the_limit_stands_in_the_system_prompt() -> None:
    assert "100字以内" in whole(build())


def test_a_missing_value_of_a_template_is_an_error() -> None:
    with pytest.raises(KeyError):
        prompts.load("system")
    with pytest.raises(FileNotFoundError):
        prompts.load("nothing")
