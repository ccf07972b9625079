"""`manage.py detect_intents`: a JSON line for every line."""

import io
import json
import sys

import pytest

from core.house.jsonlines import answer_lines
from engines.management.commands.detect_intents import Command

KEYS = ["intents", "record_ids", "confidence", "sure"]


def _run(monkeypatch: pytest.MonkeyPatch, *lines: str) -> list[dict]:
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(lines) + "\n"))
    monkeypatch.setattr(sys, "stdout", out)
    Command().handle()
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_each_line_is_answered_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = _run(
        monkeypatch,
        '{"text": "P081 的肌酐多少"}',
        '{"text": "出一份本月月报"}',
        '{"text": "谢谢哦"}',
    )
    said = [(answer["intents"], answer["record_ids"], answer["sure"]) for answer in answers]
    assert said == [
        (["query_record"], ["P081"], True),
        (["generate_report"], [], True),
        (["general_chat"], [], True),
    ]
    assert all(list(answer) == KEYS for answer in answers)
    assert all(0.5 < answer["confidence"] <= 1 for answer in answers)


@pytest.mark.parametrize(
    "bad", ["", "  ", "{", "[]", "3", "null", '{"text": 3}', "{}", '{"message": "x"}', "[" * 20_000]
)
def test_a_bad_line_is_an_error_and_the_next_is_answered(
    monkeypatch: pytest.MonkeyPatch, bad: str
) -> None:
    first, second = _run(monkeypatch, bad, '{"text": "质控全部受试者"}')
    assert list(first) == ["error"]
    assert first["error"]
    assert second["intents"] == ["qc_task"]


def test_lone_surrogates_are_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    (answer,) = _run(monkeypatch, '{"text": "P082 \\ud800 入组没"}')
    assert answer["record_ids"] == ["P082"]


def test_the_command_needs_no_system_checks() -> None:
    assert Command.requires_system_checks == []


class _Flushes(io.StringIO):
    def __init__(self) -> None:
        super().__init__()
        self.flushed: list[int] = []

    def flush(self) -> None:
        self.flushed.append(len(self.getvalue().splitlines()))
        super().flush()


def test_every_answer_is_flushed_before_the_next_is_read() -> None:
    out = _Flushes()
    answer_lines(['{"n": 1}', '{"n": 2}'], out, lambda line: {"n": line["n"]})
    assert out.flushed == [1, 2]
