"""The server that stands for a model: silent, or answering from a record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx

from tests.answers.model import (
    PROMPTS,
    key_of,
    prompt_of,
    purpose_of,
    put_on_record,
    recorded,
    served,
    version_of,
)

RULES = (PROMPTS / f"{version_of('ask')}.txt").read_text("utf-8")


def body(said: str, more: str = "") -> dict[str, Any]:
    rules = {"role": "system", "content": RULES + more}
    return {"model": "any", "messages": [rules, {"role": "user", "content": said}]}


def reply(url: str, asked: dict[str, Any]) -> dict[str, Any]:
    answer = httpx.post(f"{url}/chat/completions", json=asked).raise_for_status().json()
    message: dict[str, Any] = answer["choices"][0]["message"]
    return message


def test_a_request_is_known_by_what_it_asks_and_not_by_its_rules() -> None:
    assert key_of(body("a")) == key_of(body("a", "other rules"))
    assert key_of(body("a")) != key_of(body("b"))
    assert key_of(body("<data 0a1f>a</data 0a1f>")) == key_of(body("<data 77>a</data 77>"))
    assert prompt_of(body("a")) != prompt_of(body("a", "other rules"))
    assert purpose_of(body("a")) == "ask"


def test_it_says_what_is_on_record_and_keeps_what_is_not() -> None:
    call = {"name": "say", "arguments": {"say": []}}
    with served() as model:
        model.replies = {
            key_of(body("a")): {"content": "{}"},
            key_of(body("b")): {"tool_calls": [call]},
        }
        assert reply(model.url, body("a"))["content"] == "{}"
        called = reply(model.url, body("b"))["tool_calls"][0]["function"]
        assert called == {"name": "say", "arguments": '{"say": []}'}
        assert reply(model.url, body("c"))["content"] == ""
        assert list(model.unknown) == [key_of(body("c"))]
        assert len(model.asked) == 3


def test_replies_are_put_on_record_with_their_prompt_and_day(tmp_path: Path) -> None:
    asked, key = body("a"), key_of(body("a"))
    for name, what in (("req", asked), ("rep", {"content": "{}"})):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{key}.json").write_text(json.dumps(what), "utf-8")
    target = tmp_path / "recorded" / "replies.jsonl"
    assert put_on_record(tmp_path, target, "2026-11-28") == 1
    assert put_on_record(tmp_path, target, "2026-11-28") == 1
    row = recorded(target.parent)[key]
    assert (row["date"], row["prompt"], row["content"]) == ("2026-11-28", prompt_of(asked), "{}")
