"""智能机器人 of the stand-in corp: JSON callbacks, polled streams, votes (reference/wecom.md 5)."""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Mapping
from typing import Any

import httpx

from demo.simulators.state import State
from demo.simulators.wecom.config import Config
from demo.simulators.wecom.crypto import Crypt, CryptoError, signature
from demo.simulators.wecom.errors import WecomError
from demo.simulators.wecom.longlink import LongLink
from demo.simulators.wecom.store import Store

LIMIT = 20480
PATIENCE_S = 360.0
URL_LIFE_S = 3600.0
VOTES = (1, 2, 3)
REASONS = (1, 2, 3, 4)


class AibotError(ValueError):
    """An answer that the real bot would not show."""


class Aibot:
    """The members' side of the bot: asks, polls, votes, clicks."""

    def __init__(self, state: State, config: Config, store: Store, link: LongLink) -> None:
        self._state, self._config, self._store, self._link = state, config, store, link
        self._client = httpx.Client(
            trust_env=False, limits=httpx.Limits(max_keepalive_connections=0)
        )
        self.clear()

    def clear(self) -> None:
        """Forget response codes and votes; polls that still run end by themselves."""
        self._codes: dict[str, dict[str, Any]] = {}
        self._last: dict[str, str] = {}
        self._epoch = self._store.epoch

    def push(self, order: Mapping[str, Any]) -> dict[str, Any]:
        """POST /_control/aibot/push `{"user","text"}` or `{"json"}`, with "deliveries".

        Answers with each delivery and the first reply; the stream is polled in the background. `{"link"}` is
        JSON for the long connection, kept until somebody has subscribed.
        """
        if "link" in order:
            self._link.push(dict(order["link"]), int(order.get("deliveries") or 1))
            return {"ok": True}
        if "json" in order:
            return self._push(dict(order["json"]), order)
        userid, text = str(order["user"]), str(order["text"])
        entry = self._store.show(userid, "me", "text", text, status="sending", bot=True)
        answer = self._push(self._message(userid, text, order), order)
        arrived = any(row["status"] == 200 for row in answer["deliveries"])
        self._store.touch(entry, status="sent" if arrived else "failed")
        return answer

    def _message(self, userid: str, text: str, order: Mapping[str, Any]) -> dict[str, Any]:
        code = secrets.token_urlsafe(24)
        self._codes[code] = {"user": userid, "created": self._state.timestamp(), "used": False}
        host = self._config.aibot_response_base.rstrip("/")
        return {
            "msgid": str(order.get("msgid") or secrets.token_urlsafe(24)),
            "aibotid": self._config.aibot_id,
            "chattype": "single",
            "from": {"userid": userid},
            "response_url": f"{host}/aibot/response?response_code={code}",
            "msgtype": "text",
            "text": {"content": text},
        }

    def _push(self, plain: dict[str, Any], order: Mapping[str, Any]) -> dict[str, Any]:
        userid = str((plain.get("from") or {}).get("userid", ""))
        if self._link.is_taken:
            self._link.push(plain, int(order.get("deliveries") or 1))
            return {"msgid": plain.get("msgid"), "deliveries": [{"status": 200}], "reply": None}
        rows, first = [], None
        for _ in range(int(order.get("deliveries") or 1)):
            row, reply = self._deliver(plain)
            rows.append(row)
            first = first if first is not None else reply
        if first and first.get("msgtype") == "stream":
            self._show_stream(userid, first["stream"])
        elif first and first.get("msgtype") == "text":
            self._store.log(userid, "aibot_text", first["text"]["content"], None)
            self._store.show(userid, "bot", "text", first["text"]["content"], bot=True)
        shown = {"msgid": plain.get("msgid"), "response_url": plain.get("response_url")}
        return {**shown, "deliveries": rows, "reply": first}

    def _deliver(self, plain: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any] | None]:
        """One encrypted POST; the row of the log and the decrypted answer."""
        crypt = Crypt(self._config.aibot_aes_key, "")
        encrypted = crypt.encrypt(json.dumps(plain, ensure_ascii=False))
        stamp, nonce = str(int(time.time())), str(secrets.randbelow(10**10))
        signed = signature(self._config.aibot_token, stamp, nonce, encrypted)
        row: dict[str, Any] = {"status": None, "body": ""}
        start = time.perf_counter()
        try:
            answer = self._client.post(
                self._config.aibot_callback_url,
                params={"msg_signature": signed, "timestamp": stamp, "nonce": nonce},
                content=json.dumps({"encrypt": encrypted}).encode(),
                headers={"Content-Type": "application/json"},
                timeout=self._config.push_timeout_s,
            )
        except httpx.HTTPError as error:
            return {**row, "error": type(error).__name__}, None
        row |= {"status": answer.status_code, "body": answer.text}
        row["ms"] = round((time.perf_counter() - start) * 1000, 1)
        if answer.status_code != 200 or not answer.content.strip():
            return row, None
        try:
            return row, self._open(answer.text, nonce, crypt)
        except ValueError as error:
            return {**row, "reply_error": str(error)}, None

    def _open(self, body: str, nonce: str, crypt: Crypt) -> dict[str, Any]:
        """The decrypted answer. Raises ValueError for what WeCom would not take."""
        sealed = json.loads(body)
        if type(sealed["timestamp"]) is not int or sealed["nonce"] != nonce:
            raise AibotError("timestamp must be a whole number, nonce the callback's own")
        expected = signature(
            self._config.aibot_token, str(sealed["timestamp"]), nonce, sealed["encrypt"]
        )
        if sealed["msgsignature"] != expected:
            raise CryptoError(-40001, "msgsignature of the answer is wrong")
        found: dict[str, Any] = json.loads(crypt.decrypt(sealed["encrypt"]))
        if found.get("msgtype") == "stream":
            size = len(found["stream"]["content"].encode())
            if size > LIMIT or type(found["stream"]["finish"]) is not bool:
                raise AibotError(f"content of {size} bytes, or finish is no boolean")
        return found

    def _show_stream(self, userid: str, stream: dict[str, Any]) -> None:
        vote = (stream.get("feedback") or {}).get("id", "")
        self._last[userid.lower()] = vote
        shown = self._store.show(
            userid, "bot", "stream", stream["content"], bot=True,
            finish=stream["finish"], feedback_id=vote, vote=None,
        )  # fmt: skip
        self._store.log(userid, "stream_first", stream["content"], None)
        if stream["finish"]:
            self._store.log(userid, "stream", stream["content"], None)
            return
        threading.Thread(
            target=self._poll, args=(userid, stream["id"], shown, self._store.epoch), daemon=True
        ).start()

    def _poll(self, userid: str, stream_id: str, shown: dict[str, Any], epoch: str) -> None:
        """Ask again until the stream is finished, as WeCom does for six minutes."""
        until = time.monotonic() + PATIENCE_S
        asked = {
            "aibotid": self._config.aibot_id,
            "chattype": "single",
            "from": {"userid": userid},
            "msgtype": "stream",
            "stream": {"id": stream_id},
        }
        while time.monotonic() < until and epoch == self._store.epoch:
            if self._state.stopping.wait(self._config.aibot_poll_s):
                return
            _row, reply = self._deliver({"msgid": secrets.token_urlsafe(12), **asked})
            if reply is None or reply.get("msgtype") != "stream":
                continue
            stream = reply["stream"]
            if stream["content"] != shown["content"] or stream["finish"]:
                self._store.touch(shown, content=stream["content"], finish=stream["finish"])
            if stream["finish"]:
                self._store.log(userid, "stream", stream["content"], None)
                return

    def feedback(self, order: Mapping[str, Any]) -> dict[str, Any]:
        """POST /_control/aibot/feedback `{"user","type",...}`: a vote on `id`, or on the last answer.

        Further: "reasons" (1 to 4) and "content", both for type 2 only. Raises LookupError.
        """
        userid, kind = str(order["user"]), order["type"]
        vote = str(order.get("id") or self._last.get(userid.lower()) or "")
        reasons = list(order.get("reasons") or [])
        if kind not in VOTES or not set(reasons) <= set(REASONS):
            raise ValueError("type is 1, 2 or 3; reasons are 1 to 4")
        if not vote:
            raise LookupError(f"{userid} has no answer with a feedback id")
        event: dict[str, Any] = {"id": vote, "type": kind}
        if kind == 2:
            event |= {"content": str(order.get("content") or ""), "inaccurate_reason_list": reasons}
        self._store.note_vote(userid, vote, kind)
        return self._event(userid, "feedback_event", event, order)

    def click(self, order: Mapping[str, Any]) -> dict[str, Any]:
        """POST /_control/aibot/click `{"user","task_id","key","selected"}`; delivered once."""
        items = [
            {
                "question_key": key,
                "option_ids": {"option_id": value if isinstance(value, list) else [value]},
            }
            for key, value in (order.get("selected") or {}).items()
        ]
        event = {
            "card_type": str(order.get("card_type") or "button_interaction"),
            "event_key": str(order["key"]),
            "task_id": str(order["task_id"]),
            "selected_items": {"selected_item": items},
        }
        return self._event(str(order["user"]), "template_card_event", event, order)

    def _event(
        self, userid: str, name: str, event: dict[str, Any], order: Mapping[str, Any]
    ) -> dict[str, Any]:
        plain = {
            "msgid": str(order.get("msgid") or secrets.token_urlsafe(24)),
            "create_time": int(time.time()),
            "aibotid": self._config.aibot_id,
            "chattype": "single",
            "from": {"userid": userid},
            "msgtype": "event",
            "event": {"eventtype": name, name: event},
        }
        return self._push(plain, order)

    def enter(self, order: Mapping[str, Any]) -> dict[str, Any]:
        """POST /_control/aibot/enter `{"user"}`: the member opens the chat."""
        return self._event(str(order["user"]), "enter_chat", {}, order)

    def respond(self, code: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """The POST to a response_url: once, within the hour. Raises WecomError."""
        found = self._codes.get(code)
        late = found and self._state.timestamp() - found["created"] > URL_LIFE_S
        if found is None or found["used"] or late:
            raise WecomError(60140)
        content = (body.get("markdown") or {}).get("content")
        if body.get("msgtype") != "markdown" or not isinstance(content, str) or not content:
            raise WecomError(40008)
        if len(content.encode()) > LIMIT:
            raise WecomError(45002)
        found["used"] = True
        vote = (body["markdown"].get("feedback") or {}).get("id", "")
        self._last[str(found["user"]).lower()] = vote
        self._store.log(found["user"], "aibot_markdown", content, None)
        self._store.show(
            found["user"], "bot", "stream", content, bot=True, finish=True,
            feedback_id=vote, vote=None,
        )  # fmt: skip
        return {"errcode": 0, "errmsg": "ok"}
