"""`manage.py ask --lines`: many questions of many people in one process (contracts.md, Commands)."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from memory.models import ConversationHistory
from tests.support.study import Study


def play(monkeypatch: pytest.MonkeyPatch, *lines: Any, json_too: bool = False) -> list[Any]:
    given = "".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in lines)
    monkeypatch.setattr("sys.stdin", io.StringIO(given))
    out = io.StringIO()
    call_command("ask", "--lines", *(["--json"] if json_too else []), stdout=out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def line(text: str, user: str = "zhangyi", **more: Any) -> dict[str, Any]:
    return {"user": user, "text": text, **more}


@pytest.mark.full
def test_a_line_each_in_order_and_a_bad_one_stops_none(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = play(
        monkeypatch,
        line("P001入组了吗"),
        "no json",
        {"user": "zhangyi"},
        line("P001入组了吗", strange=1),
        line("   "),
        line("P001入组了吗", user="nobody-of-ours"),
        line("P003入组了吗", user="wanghushi"),
    )
    assert [sorted(one) for one in told] == [
        ["reply"],
        ["error"],
        ["error"],
        ["error"],
        ["code", "error"],
        ["code", "error"],
        ["reply"],
    ]
    assert [one.get("code") for one in told] == [None, None, None, None, 2, 3, None]
    assert "2026" in told[0]["reply"]
    assert ConversationHistory.objects.filter(role="user").count() == 2


def test_json_says_what_the_command_says(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    (told,) = play(monkeypatch, line("P001入组了吗", project="LUNG-IIT"), json_too=True)
    assert set(told) == {
        "reply",
        "intents",
        "record_ids",
        "task_run_ids",
        "tokens",
        "calls",
        "sources",
        "asked_back",
    }
    assert told["record_ids"] == ["P001"]


@pytest.mark.full
def test_a_session_goes_on_until_a_new_one_is_asked_for(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = play(
        monkeypatch,
        line("P001入组了吗"),
        line("那首次用药日期呢"),
        line("那首次用药日期呢", new=True),
        json_too=True,
    )
    assert "P001" in told[1]["reply"]
    assert told[2]["reply"] != told[1]["reply"]


def test_one_way_of_asking_at_a_time(study: Study) -> None:
    for given in (
        [],
        ["--user", "zhangyi"],
        ["--lines", "--user", "zhangyi", "x"],
        ["--lines", "x"],
    ):
        with pytest.raises(CommandError) as caught:
            call_command("ask", *given, stdout=io.StringIO())
        assert caught.value.returncode == 2
