"""Our judge of answers: what it takes and refuses, and that the published checker says the same."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.answers.judge import Sort, judge, of
from tests.answers.play import load

HERE = Path(__file__).parent
PUBLISHED = HERE.parents[2] / "shared" / "tools" / "chat_check.py"


def case(**more: Any) -> dict[str, Any]:
    return {"id": "x", "kind": "k", "user": "u", "turns": ["?"], **more}


@pytest.mark.parametrize(
    ("asked", "reply", "useful"),
    [
        (case(must=[["2026-02-05"]]), "P001于2026年2月5日入组。", True),
        (case(must=[["2026-02-05"]]), "P001于2026年2月6日入组。", False),
        (case(must=[["13"]]), "已超期13天", True),
        (case(must=[["13"]]), "P013 已超期", False),
        (case(must=[["3"]]), "还差三例", True),
        (case(must=[["3"]]), "还差30例", False),
        (case(numbers=["5.8", "5.0"]), "V1 5.8、V2 5", True),
        (case(numbers=["5.8", "5.0"]), "V2 5、V1 5.8", True),
        (case(numbers=["5.8", "5.0", "7"]), "V2 7、V1 5.8、5", False),
        (case(ids=["P003"]), "P003 和 P010", False),
        (case(ids=["P003", "P010"]), "P010、P003", True),
        (case(must=[["106"]], focus=["115", "138"]), "最低 106(V3)", True),
        (case(must=[["106"]], focus=["115", "138"]), "106、115、138", False),
        (case(must_not=["13800000006"]), "电话 138-0000-0006", False),
        (case(), "", False),
        (case(), "长" * 501, False),
    ],
)
def test_what_is_useful(asked: dict[str, Any], reply: str, useful: bool) -> None:
    assert judge(asked, reply).useful is useful


def test_twins_read_alike() -> None:
    asked = case(twin=["?"])
    assert judge(asked, "没有 P001", "没有 P099").useful
    assert not judge(asked, "P001 无权查看", "没有 P099").useful
    assert not judge(asked, "没有 P001").useful


@pytest.mark.parametrize(
    ("asked", "answer", "sort"),
    [
        (case(must=[["53.1"]]), {"reply": "P008 体重 53.1"}, Sort.USEFUL),
        (case(must=[["53.1"]]), {"reply": "P008 身高 162"}, Sort.WRONG),
        (case(must=[["53.1"]], turns=["P008体重"]), {"reply": "P009 体重 53.1"}, Sort.WRONG),
        (case(must=[["53.1"]]), {"reply": "没有 P008 的体重记录"}, Sort.WRONG),
        (case(must=[["53.1"]]), {"reply": "这句话没能理解"}, Sort.USELESS),
        (
            case(must=[["53.1"]]),
            {"reply": "您要问体重 1 还是身高?", "asked_back": True},
            Sort.ASKED_BACK,
        ),
        (case(must=[["53.1"], ["Ⅳ"]]), {"reply": "体重 53.1"}, Sort.USELESS),
        (case(must=[["53.1"]], wrong=["62"]), {"reply": "体重 53.1,不是 62"}, Sort.WRONG),
        (case(wrong=["re:已启动.{0,8}质控"]), {"reply": "已启动 P012 的质控"}, Sort.WRONG),
        (case(no_run=True), {"reply": "在复核", "task_run_ids": ["1"]}, Sort.WRONG),
        (case(expect="asked_back"), {"reply": "您指哪位受试者?", "asked_back": True}, Sort.USEFUL),
        (case(expect="asked_back"), {"reply": "ALT 28"}, Sort.USELESS),
        (
            case(kind="protocol", must=[["28天"]]),
            {"reply": "方案 §9:「每季度监查一次」"},
            Sort.WRONG,
        ),
        (case(kind="protocol", must=[["28天"]]), {"reply": "方案里没有找到"}, Sort.USELESS),
        (case(kind="identifier", must=[["不能"]]), {"reply": "1977-01-01"}, Sort.USELESS),
        (case(kind="identifier", must_not=["re:19\\d\\d-"]), {"reply": "1977-01-01"}, Sort.WRONG),
    ],
)
def test_what_an_answer_is_worth(asked: dict[str, Any], answer: dict[str, Any], sort: Sort) -> None:
    assert of(asked, answer, None)[0] is sort


def published() -> ModuleType:
    if not PUBLISHED.exists():
        pytest.skip("NOT RUN: the published checker is not beside this checkout")
    spec = importlib.util.spec_from_file_location("chat_check", PUBLISHED)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CASES = load(HERE / "chat_public.jsonl")
PIECES = [
    *(text for one in CASES for options in one.get("must", []) for text in options[:3]),
    *(text for one in CASES for text in [*one.get("must_not", [])[:3], *one.get("numbers", [])]),
    *(text for one in CASES for text in one.get("ids", [])),
    *(
        "、",
        ",",
        "\n1. ",
        " ",
        "例",
        "年",
        "P0",
        "2026-",
        "三",
        "十二",
        "两个",
        "还有3条未显示",
        "12:30",
    ),
]


@given(st.sampled_from(CASES), st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_the_published_checker_says_the_same(one: dict[str, Any], reply: str) -> None:
    missing, wrong = published().judge(one, reply, reply)
    verdict = judge(one, reply, reply)
    assert (bool(verdict.missing), bool(verdict.unsafe)) == (bool(missing), bool(wrong))
