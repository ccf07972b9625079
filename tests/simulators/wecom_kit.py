"""A small product for the WeCom stand-in: a callback receiver, and a client of both sides."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from xml.etree.ElementTree import Element

import httpx
from defusedxml import ElementTree

from demo.simulators.http import Request, Response
from demo.simulators.phone.service import PhoneService
from demo.simulators.server import RunningServer, start_in_thread
from demo.simulators.state import State
from demo.simulators.wecom.crypto import Crypt, signature
from demo.simulators.wecom.service import WecomService

TOKEN, AES_KEY = "QDG6eK", "jWmYm7qr5nMoAUwZRjGtBxmz3KA1tkAj3ykkR6q2B2C"
CORP, AGENT, SECRET = "wx5823bf96d3bd56c7", 218, "s-1"
USERS = [
    {"userid": "ZhangYi", "name": "张一", "title": "PI"},
    {"userid": "wanghushi", "name": "王护士", "title": "CRC"},
    {"userid": "hidden", "name": "看不见", "visible": False},
    {"userid": "nolicence", "name": "无许可", "licensed": False},
]
CRYPT = Crypt(AES_KEY, CORP)
Answer = Callable[["Inbound"], Response]


@dataclass
class Inbound:
    """One callback as the product sees it."""

    method: str
    params: dict[str, str]
    content_type: str
    plain: str

    @property
    def xml(self) -> Element:
        root: Element = ElementTree.fromstring(self.plain)
        return root

    def text(self, name: str) -> str:
        return self.xml.findtext(name) or ""


class Receiver:
    """The product's callback: checks the signature, decrypts, then does what `answer` says."""

    name, prefix, logged = "receiver", "/wechat/callback/", False

    def __init__(self) -> None:
        self.seen: list[Inbound] = []
        self.bodies: list[str] = []
        self.answer: Answer = lambda _: Response.text("")
        self.arrived = threading.Condition()

    def handle(self, request: Request) -> Response:
        params = {name: values[0] for name, values in request.query.items()}
        if request.method == "GET":
            encrypted = params["echostr"]
        else:
            root = ElementTree.fromstring(request.text)
            assert root.findtext("ToUserName") == CORP
            assert root.findtext("AgentID") == str(AGENT)
            encrypted = root.findtext("Encrypt") or ""
        expected = signature(TOKEN, params["timestamp"], params["nonce"], encrypted)
        assert params["msg_signature"] == expected
        kind = request.headers.get("content-type", "")
        inbound = Inbound(request.method, params, kind, CRYPT.decrypt(encrypted))
        with self.arrived:
            self.seen.append(inbound)
            self.bodies.append(request.text)
            self.arrived.notify_all()
        return Response.text(inbound.plain) if request.method == "GET" else self.answer(inbound)

    def wait_for(self, count: int) -> list[Inbound]:
        with self.arrived:
            assert self.arrived.wait_for(lambda: len(self.seen) >= count, timeout=10)
            return list(self.seen)

    def reset(self) -> None: ...

    def configure(self, settings: dict[str, Any]) -> None: ...

    def control(self, path: str, request: Request) -> Response | None:
        return None


def passive(user: str, middle: str, *, sender: str = CORP, token: str = TOKEN) -> Response:
    """An encrypted passive reply."""
    plain = (
        f"<xml><ToUserName><![CDATA[{user}]]></ToUserName>"
        f"<FromUserName><![CDATA[{sender}]]></FromUserName>"
        f"<CreateTime>1700000000</CreateTime>{middle}</xml>"
    )
    encrypted = CRYPT.encrypt(plain)
    signed = signature(token, "1700000000", "77", encrypted)
    return Response.text(
        f"<xml><Encrypt><![CDATA[{encrypted}]]></Encrypt>"
        f"<MsgSignature><![CDATA[{signed}]]></MsgSignature>"
        "<TimeStamp>1700000000</TimeStamp><Nonce><![CDATA[77]]></Nonce></xml>"
    )


def passive_text(user: str, text: str, **more: str) -> Response:
    parts = f"<MsgType><![CDATA[text]]></MsgType><Content><![CDATA[{text}]]></Content>"
    return passive(user, parts, **more)


@dataclass
class Kit:
    """The stand-in over HTTP: the server API as the product calls it, and the control API."""

    url: str
    state: State
    receiver: Receiver
    http: httpx.Client = field(default_factory=lambda: httpx.Client(trust_env=False, timeout=30))
    _token: str = ""

    def call(self, path: str, **params: str) -> dict[str, Any]:
        answer = self.http.get(f"{self.url}/wecom/cgi-bin/{path}", params=params)
        assert answer.status_code == 200
        found: dict[str, Any] = answer.json()
        return found

    def gettoken(self, secret: str = SECRET) -> dict[str, Any]:
        return self.call("gettoken", corpid=CORP, corpsecret=secret)

    @property
    def token(self) -> str:
        self._token = self._token or self.gettoken()["access_token"]
        return self._token

    def post(self, path: str, body: Any, token: str | None = None) -> dict[str, Any]:
        params = {"access_token": self.token if token is None else token}
        url = f"{self.url}/wecom/cgi-bin/{path}"
        sent = {"content": body} if isinstance(body, (bytes, str)) else {"json": body}
        found: dict[str, Any] = self.http.post(url, params=params, **sent).json()
        return found

    def send(self, **body: Any) -> dict[str, Any]:
        base = {"touser": "ZhangYi", "agentid": AGENT}
        return self.post("message/send", {**base, **body})

    def text(self, content: Any = "你好", **more: Any) -> dict[str, Any]:
        return self.send(msgtype="text", text={"content": content}, **more)

    def card(self, card: Any, **more: Any) -> dict[str, Any]:
        return self.send(msgtype="template_card", template_card=card, **more)

    def control(self, path: str, body: Any = None, status: int = 200) -> Any:
        answer = self.http.post(f"{self.url}/_control/{path}", json=body or {})
        assert answer.status_code == status, answer.text
        return answer.json()

    def push(self, **order: Any) -> Any:
        return self.control("wecom/push", order)

    def switch(self, **values: Any) -> None:
        self.control("wecom/switches", values)

    def configure(self, **settings: Any) -> None:
        self.control("configure", {"wecom": settings})

    def sent(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.http.get(f"{self.url}/_control/sent").json()
        return rows


def review_card(task_id: str = "review_42@1", **more: Any) -> dict[str, Any]:
    """The human-review card of reference/wecom.md 3.3."""
    options = [{"id": "r_ok", "text": "内容正确"}, {"id": "r_err", "text": "内容有误"}]
    return {
        "card_type": "button_interaction",
        "source": {"desc": "IIT Manager Agent", "desc_color": 2},
        "main_title": {"title": "待人工审核：P001", "desc": "既往史核对"},
        "sub_title_text": "模型对既往史的判断把握不足，请核对。",
        "horizontal_content_list": [
            {"keyname": "受试者", "value": "P001"},
            {"type": 1, "keyname": "全文", "value": "打开审核台", "url": "https://host/review/42"},
        ],
        "task_id": task_id,
        "button_selection": {"question_key": "reason", "title": "理由", "option_list": options},
        "button_list": [
            {"text": "同意", "style": 1, "key": "approve"},
            {"text": "驳回", "style": 2, "key": "reject"},
        ],
        **more,
    }


@contextmanager
def serve_wecom(users: list[dict[str, Any]] | None = None) -> Iterator[Kit]:
    """The stand-in with its phone page, pushing to a receiver beside it."""
    state, receiver = State(), Receiver()
    wecom = WecomService(state)
    running: RunningServer = start_in_thread(state, [wecom, PhoneService(state, wecom)])
    product = start_in_thread(State(), [receiver])
    kit = Kit(running.url, state, receiver)
    kit.configure(
        corp_id=CORP, agent_id=AGENT, secret=SECRET, token=TOKEN, aes_key=AES_KEY,
        callback_url=f"{product.url}/wechat/callback/", users=USERS if users is None else users,
    )  # fmt: skip
    try:
        yield kit
    finally:
        kit.http.close()
        running.stop()
        product.stop()
