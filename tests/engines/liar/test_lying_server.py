"""A model that answers honestly and then bends one thing: the bent sentence never reaches the reader.

It stands before the honest stand-in on a port of its own and changes what passes (must-show 5).
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest
from pytest_django import Settings

from tests.engines.chat.kit import ask
from tests.support.study import Study

Bend = Callable[[str, str], str]
DATE = re.compile(r"20\d\d-\d\d-\d\d")
NUMBER = re.compile(r"(?<![\dA-Za-z.#-])\d{2,3}(?:\.\d+)?(?![\d.%-])")
QUESTIONS = (
    "P001 入组了吗?",
    "P003 的 ALT 和 AST 是多少",
    "P001 的性别和年龄",
    "P003 的 ECOG 是几分",
    "目前有多少位患者入组?",
    "P005 的 V2 什么时候做",
    # What the model still words: the plan, the study, a subject's unsure questions.
    "V2 的窗口期是多少天?",
    "V3 的窗口期是多少天?",
    "V4 窗口期前后允许几天",
    "这个项目的PI是谁",
    "项目什么时候启动的,现在什么状态",
    "告诉我P001的入组情况,我要写进汇报里发给主任看",
    "帮我看看P003这个人的肝功能最近到底行不行啊,我有点担心",
)


def other_number(text: str, prompt: str) -> str:
    def bent(found: re.Match[str]) -> str:
        number = int(float(found[0])) + 7
        while str(number) in prompt:
            number += 7
        return str(number)

    return NUMBER.sub(bent, text)


def other_date(text: str, prompt: str) -> str:
    return DATE.sub(lambda found: f"20{int(found[0][2:4]) - 3:02}{found[0][4:]}", text)


def next_day(text: str, prompt: str) -> str:
    def bent(found: re.Match[str]) -> str:
        for day in range(1, 28):
            if (said := f"{found[0][:8]}{day:02}") not in prompt:
                return said
        return found[0]

    return DATE.sub(bent, text)


def stranger(text: str, prompt: str) -> str:
    return re.sub(r"\bP\d{3}\b", "P888", text)


def flipped(text: str, prompt: str) -> str:
    return (
        text.replace("是否入组:是", "未入组").replace("男", "女")
        if "入组" in text or "男" in text
        else text
    )


def verdict(text: str, prompt: str) -> str:
    return f"质控不通过。{text}"


def named(text: str, prompt: str) -> str:
    return f"患者王小明,电话13900001234。{text}"


def advice(text: str, prompt: str) -> str:
    return f"{text}建议停药。"


BENDS: tuple[Bend, ...] = (
    other_number,
    other_date,
    next_day,
    stranger,
    flipped,
    verdict,
    named,
    advice,
)


LINE = re.compile(r"^(\[F\d+\]) (?!今天)(.+)$", re.MULTILINE)


def prompt_of(body: bytes) -> str:
    return "\n".join(str(one["content"]) for one in json.loads(body)["messages"])


def quoted(prompt: str) -> str:
    """The first lines of the data as they are told, each with its mark: what an honest model says."""
    lines = LINE.findall(prompt)[:2]
    return "".join(f"{re.sub(r' [·=] ', ' ', told)}{mark}。" for mark, told in lines)


def unmarked(text: str) -> str:
    return re.sub(r"\[F\d+\]", "", text)


class Liar:
    """The server; `bend` is what it does, `lies` what it said."""

    def __init__(self, honest: str) -> None:
        self.honest = honest
        self.bend: Bend = other_number
        self.lies: list[str] = []
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}/llm/v1"

    def answer(self, body: bytes, headers: dict[str, str]) -> bytes:
        reply = httpx.post(self.honest, content=body, headers=headers, timeout=30, trust_env=False)
        whole: dict[str, Any] = reply.json()
        message = whole["choices"][0]["message"]
        prompt = json.dumps(json.loads(body), ensure_ascii=False)
        said = quoted(prompt_of(body)) or message.get("content") or ""
        message["content"] = said
        bent = self.bend(said, prompt)
        if said and bent != said:
            self.lies.append(unmarked(bent))
            message["content"] = bent
        return json.dumps(whole).encode()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        liar = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                kept = ("authorization", "content-type")
                answer = liar.answer(body, {name: self.headers[name] for name in kept})
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_args: object) -> None:
                pass

        return Handler


@pytest.fixture
def liar(study: Study, settings: Settings) -> Iterator[Liar]:
    made = Liar(f"{study.stand_ins.url}/llm/v1/chat/completions")
    settings.LLM_BASE_URL = made.url
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.mark.parametrize("userid", ["zhangyi", "wanghushi"])
def test_no_bent_sentence_reaches_the_reader(liar: Liar, userid: str) -> None:
    passed, told = [], 0
    for bend in BENDS:
        liar.bend, liar.lies = bend, []
        for question in QUESTIONS:
            reply = ask(userid, question).text
            passed += [f"{bend.__name__}: {lie}" for lie in liar.lies if lie.strip() in reply]
        told += len(liar.lies)
        # Who is asked about by number is answered without a model: no stranger and no state to bend.
        assert liar.lies or bend in (stranger, flipped), f"{bend.__name__} changed nothing"
    assert passed == []
    assert told > 40


def test_the_honest_answers_do_reach_the_reader(liar: Liar) -> None:
    """Otherwise a check that refuses everything would pass the test above."""
    said: list[str] = []

    def listen(text: str, prompt: str) -> str:
        said.append(unmarked(text))
        return text

    liar.bend = listen
    replies = [ask("zhangyi", question).text for question in QUESTIONS]
    taken = sum(any(text.strip() and text.strip() in reply for text in said) for reply in replies)
    assert taken >= 3, list(zip(said, replies, strict=False))
