"""The smart bot of the stand-in (reference/wecom.md 5), against a small product of its own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from demo.simulators.http import Request, Response
from demo.simulators.server import start_in_thread
from demo.simulators.state import State
from demo.simulators.wecom.crypto import Crypt, signature
from tests.simulators.wecom_kit import Kit, serve_wecom

TOKEN, AES_KEY = "botToken", "kWxPEV2UEDyxWpmPdKC3F4dgPDmOvfKX1HGnEUDS1aR"
CRYPT = Crypt(AES_KEY, "")


class Bot:
    """A product that answers what `answer` says."""

    name, prefix, logged = "bot", "/bot/", False

    def __init__(self) -> None:
        self.seen: list[dict[str, Any]] = []
        self.answer: Callable[[dict[str, Any]], Any] = lambda _: None
        self.spoil: dict[str, Any] = {}

    def handle(self, request: Request) -> Response:
        query = {name: values[0] for name, values in request.query.items()}
        encrypted = request.json()["encrypt"]
        expected = signature(TOKEN, query["timestamp"], query["nonce"], encrypted)
        assert query["msg_signature"] == expected
        plain = json.loads(CRYPT.decrypt(encrypted))
        self.seen.append(plain)
        said = self.answer(plain)
        if said is None:
            return Response.text("")
        sealed = CRYPT.encrypt(json.dumps(said))
        signed = signature(TOKEN, "1700000000", query["nonce"], sealed)
        body = {
            "encrypt": sealed,
            "msgsignature": signed,
            "timestamp": 1700000000,
            "nonce": query["nonce"],
        }
        return Response.json({**body, **self.spoil})

    def reset(self) -> None: ...

    def configure(self, settings: dict[str, Any]) -> None: ...

    def control(self, path: str, request: Request) -> Response | None:
        return None


@pytest.fixture
def bot() -> Bot:
    return Bot()


@pytest.fixture
def kit(bot: Bot) -> Iterator[Kit]:
    product = start_in_thread(State(), [bot])
    with serve_wecom() as found:
        found.configure(
            aibot_callback_url=f"{product.url}/bot/",
            aibot_token=TOKEN,
            aibot_aes_key=AES_KEY,
            aibot_response_base=f"{found.url}/wecom/cgi-bin",
            aibot_poll_s=0.01,
        )
        yield found
    product.stop()


def stream(content: str, *, finish: bool, **more: Any) -> dict[str, Any]:
    return {
        "msgtype": "stream",
        "stream": {"id": "s1", "finish": finish, "content": content, **more},
    }


def ask(kit: Kit, **order: Any) -> Any:
    return kit.control("aibot/push", {"user": "ZhangYi", "text": "你好", **order})


def chat(kit: Kit, wait: float = 5) -> list[dict[str, Any]]:
    query = {"user": "ZhangYi", "after": "0", "wait": str(wait)}
    rows: list[dict[str, Any]] = kit.http.get(f"{kit.url}/simulator/state", params=query).json()[
        "entries"
    ]
    return [row for row in rows if row["type"] == "stream"]


def test_a_message_arrives_as_wecom_sends_it(kit: Kit, bot: Bot) -> None:
    ask(kit, deliveries=2, msgid="M1")
    assert bot.seen[0] == bot.seen[1]
    plain = bot.seen[0]
    assert (plain["msgid"], plain["aibotid"], plain["chattype"]) == ("M1", "AIBOTID", "single")
    assert (plain["from"], plain["text"]) == ({"userid": "ZhangYi"}, {"content": "你好"})
    assert plain["response_url"].startswith(kit.url)


@pytest.mark.full
def test_a_stream_is_polled_until_it_is_finished(kit: Kit, bot: Bot) -> None:
    polls = iter(["一", "一二", "一二三"])

    def answer(plain: dict[str, Any]) -> Any:
        if plain["msgtype"] == "text":
            return stream("请稍候", finish=False, feedback={"id": "FB"})
        text = next(polls)
        return stream(text, finish=text == "一二三")

    bot.answer = answer
    assert ask(kit)["reply"]["stream"]["content"] == "请稍候"
    while not (rows := chat(kit))[0]["finish"]:
        pass
    assert (rows[0]["content"], rows[0]["feedback_id"]) == ("一二三", "FB")
    assert [plain["stream"] for plain in bot.seen[1:]] == [{"id": "s1"}] * 3
    kinds = [(row["type"], row["content"]) for row in kit.sent()]
    assert kinds == [("stream_first", "请稍候"), ("stream", "一二三")]


@pytest.mark.full
@pytest.mark.parametrize(
    "spoil",
    [{"nonce": "x"}, {"timestamp": "1700000000"}, {"msgsignature": "0" * 40}, {"encrypt": "AAAA"}],
)
def test_a_bad_envelope_is_not_shown(kit: Kit, bot: Bot, spoil: dict[str, Any]) -> None:
    bot.answer, bot.spoil = lambda _: stream("x", finish=True), spoil
    answer = ask(kit)
    assert answer["reply"] is None
    assert answer["deliveries"][0]["reply_error"]
    assert kit.sent() == []


def test_a_stream_over_its_limit_is_not_shown(kit: Kit, bot: Bot) -> None:
    bot.answer = lambda _: stream("字" * 6827, finish=True)
    assert "20481 bytes" in ask(kit)["deliveries"][0]["reply_error"]


def test_votes_name_the_answer(kit: Kit, bot: Bot) -> None:
    kit.control("aibot/feedback", {"user": "ZhangYi", "type": 1}, 409)
    bot.answer = lambda plain: (
        stream("好", finish=True, feedback={"id": "FB"}) if plain["msgtype"] == "text" else None
    )
    ask(kit)
    vote = {"user": "ZhangYi", "type": 2, "reasons": [2, 4], "content": "再详细些"}
    kit.control("aibot/feedback", vote)
    assert bot.seen[-1]["event"] == {
        "eventtype": "feedback_event",
        "feedback_event": {
            "id": "FB",
            "type": 2,
            "content": "再详细些",
            "inaccurate_reason_list": [2, 4],
        },
    }
    assert chat(kit)[0]["vote"] == 2
    kit.control("aibot/feedback", {"user": "ZhangYi", "type": 3, "id": "FB"})
    assert bot.seen[-1]["event"]["feedback_event"] == {"id": "FB", "type": 3}
    assert chat(kit)[0]["vote"] is None
    kit.control("aibot/feedback", {"user": "ZhangYi", "type": 9}, 400)
    kit.control("aibot/feedback", {"user": "ZhangYi", "type": 2, "reasons": [5]}, 400)


def test_a_click_and_entering(kit: Kit, bot: Bot) -> None:
    order = {"user": "ZhangYi", "task_id": "t@1", "key": "approve", "selected": {"reason": "r_ok"}}
    kit.control("aibot/click", order)
    event = bot.seen[-1]["event"]["template_card_event"]
    assert (event["event_key"], event["task_id"]) == ("approve", "t@1")
    assert event["selected_items"]["selected_item"] == [
        {"question_key": "reason", "option_ids": {"option_id": ["r_ok"]}}
    ]
    bot.answer = lambda _: {"msgtype": "text", "text": {"content": "您好"}}
    kit.control("aibot/enter", {"user": "ZhangYi"})
    assert kit.sent()[-1]["content"] == "您好"


def respond(url: str, body: Any) -> int:
    code: int = httpx.post(url, json=body, trust_env=False).json()["errcode"]
    return code


@pytest.mark.full
def test_a_response_url_works_once_and_for_an_hour(kit: Kit) -> None:
    url = ask(kit)["response_url"]
    good = {"msgtype": "markdown", "markdown": {"content": "**好**", "feedback": {"id": "F2"}}}
    assert respond(url, {"msgtype": "text"}) == 40008
    assert respond(url, {"msgtype": "markdown", "markdown": {"content": "字" * 6827}}) == 45002
    assert respond(url, good) == 0
    assert respond(url, good) == 60140
    assert (kit.sent()[-1]["type"], chat(kit)[0]["feedback_id"]) == ("aibot_markdown", "F2")
    late = ask(kit)["response_url"]
    kit.control("clock", {"advance_s": 3601})
    assert respond(late, good) == 60140


def test_nobody_listens(kit: Kit) -> None:
    kit.configure(aibot_callback_url="http://127.0.0.1:9/")
    assert ask(kit)["deliveries"][0]["status"] is None


def test_any_json_can_be_pushed(kit: Kit, bot: Bot) -> None:
    kit.control("aibot/push", {"json": {"msgtype": "new", "x": [1]}})
    assert bot.seen == [{"msgtype": "new", "x": [1]}]
