"""What a member or an administrator does: write, click, verify (reference/wecom.md section 4)."""

from __future__ import annotations

import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from typing import Any
from xml.etree.ElementTree import Element

from demo.simulators.wecom import content, xml
from demo.simulators.wecom.callbacks import Outcome, Pusher
from demo.simulators.wecom.config import Config, Switches
from demo.simulators.wecom.store import Copy, SentCard, Store

# Events whose passive reply WeCom shows (1.8); template_card_event is not among them.
ANSWERED_EVENTS = {
    "subscribe",
    "enter_agent",
    "location",
    "click",
    "view",
    "view_miniprogram",
    "scancode_waitmsg",
    "template_card_menu_event",
}
CARD_UPDATES = ("update_button", "update_template_card")


class Lanes:
    """Runs jobs in the background: in order for one member, side by side for several."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[str, deque[Callable[[], object]]] = defaultdict(deque)
        self._busy: set[str] = set()

    def submit(self, lane: str, job: Callable[[], object]) -> None:
        """Queue a job behind the member's earlier ones."""
        with self._lock:
            self._waiting[lane].append(job)
            if lane in self._busy:
                return
            self._busy.add(lane)
        threading.Thread(target=self._drain, args=(lane,), daemon=True).start()

    def _drain(self, lane: str) -> None:
        while True:
            with self._lock:
                if not self._waiting[lane]:
                    self._busy.discard(lane)
                    return
                job = self._waiting[lane].popleft()
            job()


class Corp:
    """The members' side of the app."""

    def __init__(self, config: Config, switches: Switches, store: Store) -> None:
        self.config, self.store = config, store
        self._switches = switches
        self._pusher = Pusher(config, switches)
        self._lanes = Lanes()

    def push(self, order: Mapping[str, Any]) -> dict[str, Any]:
        """POST /_control/wecom/push: a text of a member, or any plaintext XML."""
        if "xml" in order:
            return self._push(str(order["xml"]), None, order)
        userid, text = str(order["user"]), str(order["text"])
        entry = self.store.show(userid, "me", "text", text, status="sending")
        return self._push_text(userid, text, entry, order)

    def write(self, userid: str, text: str) -> None:
        """A text typed on the phone page: shown at once, delivered in the background."""
        entry = self.store.show(userid, "me", "text", text, status="sending")
        self._lanes.submit(userid.lower(), lambda: self._push_text(userid, text, entry, {}))

    def _push_text(
        self, userid: str, text: str, entry: dict[str, Any], order: Mapping[str, Any]
    ) -> dict[str, Any]:
        msgid = int(order.get("msgid") or self._pusher.next_msgid())
        parts = f"<Content>{xml.cdata(text)}</Content>"
        answer = self._push(self._plain(userid, "text", parts, msgid, order), msgid, order)
        arrived = any(row["status"] == 200 for row in answer["deliveries"])
        self.store.touch(entry, status="sent" if arrived else "failed")
        return answer

    def _plain(
        self, userid: str, kind: str, parts: str, msgid: int | None, order: Mapping[str, Any]
    ) -> str:
        created = int(order.get("create_time") or time.time())
        config = self.config
        return xml.message(config.corp_id, userid, created, kind, parts, config.agent_id, msgid)

    def _push(self, plain: str, msgid: int | None, order: Mapping[str, Any]) -> dict[str, Any]:
        outcome = self._pusher.push(
            plain, deliveries=order.get("deliveries"), reuse_nonce=order.get("reuse_nonce")
        )
        reply = self._take_reply(plain, outcome)
        shown = None if msgid is None else str(msgid)
        return {"msgid": shown, "deliveries": outcome.deliveries, "reply": reply}

    def _take_reply(self, plain: str, outcome: Outcome) -> str | None:
        if outcome.reply is None or not _answers(plain):
            return None
        if xml.child(outcome.reply, "MsgType") != "text":
            return None
        text = content.cut(xml.child(outcome.reply, "Content"))
        userid = xml.child(outcome.reply, "ToUserName")
        self.store.log(userid, "passive_text", text, None)
        self.store.show(userid, "bot", "passive_text", text)
        return text

    def click(self, order: Mapping[str, Any]) -> dict[str, Any]:
        """POST /_control/wecom/click: a button of a card the member holds.

        `selected` {question_key: option id or ids} is sent as given, absent sends nothing.
        Raises LookupError when the member holds no such active card or button.
        """
        userid, key = str(order["user"]), str(order["key"])
        sent, copy = self._active(userid, str(order["task_id"]), key)
        answer, outcome = self._push_click(userid, sent, copy, order)
        if outcome.reply is not None and self._switches.honor_passive_card_update:
            self._passive_update(copy, userid, outcome.reply)
        return answer

    def click_later(self, order: Mapping[str, Any]) -> None:
        """A click on the phone page. Raises LookupError like `click`."""
        userid = str(order["user"])
        self._active(userid, str(order["task_id"]), str(order["key"]))
        self._lanes.submit(userid.lower(), lambda: self._try_click(order))

    def _try_click(self, order: Mapping[str, Any]) -> None:
        try:
            self.click(order)
        except LookupError:
            return  # an earlier click in the lane has already closed the card

    def _active(self, userid: str, task_id: str, key: str) -> tuple[SentCard, Copy]:
        found = self.store.find_card(userid, task_id)
        if found is None:
            raise LookupError(f"{userid} holds no card with task_id {task_id}")
        if not found[1].active:
            raise LookupError("the card is not active any more")
        if key not in _keys(found[1].card):
            raise LookupError(f"the card has no button with key {key}")
        return found

    def _push_click(
        self, userid: str, sent: SentCard, copy: Copy, order: Mapping[str, Any]
    ) -> tuple[dict[str, Any], Outcome]:
        key = str(order["key"])
        menu = key in _menu_keys(copy.card)
        event = "template_card_menu_event" if menu else "template_card_event"
        code = self.store.new_code(sent.task_id, sent.agent_id)
        selected = {} if menu else order.get("selected") or {}
        card_type = copy.card["card_type"]
        parts = xml.card_event(event, key, sent.task_id, card_type, code, selected)
        plain = self._plain(userid, "event", parts, None, order)
        outcome = self._pusher.push(
            plain, deliveries=order.get("deliveries"), reuse_nonce=order.get("reuse_nonce")
        )
        reply = self._take_reply(plain, outcome)
        answer = {"msgid": None, "response_code": code, "deliveries": outcome.deliveries}
        return {**answer, "reply": reply}, outcome

    def _passive_update(self, copy: Copy, userid: str, reply: Element) -> None:
        kind = xml.child(reply, "MsgType")
        if kind == "update_button":
            self.store.replace(copy, button=reply.findtext("Button/ReplaceName") or "")
        elif kind == "update_template_card":
            card = reply.find("TemplateCard")
            self.store.replace(copy, card=xml.card_from(card) if card is not None else {})
        if kind in CARD_UPDATES:
            self.store.log(userid, "update_template_card", copy.card, None)

    def verify(self) -> dict[str, Any]:
        """POST /_control/wecom/verify."""
        return self._pusher.verify()


def _answers(plain: str) -> bool:
    root = xml.parse(plain)
    if xml.child(root, "MsgType") != "event":
        return True
    return xml.child(root, "Event").lower() in ANSWERED_EVENTS


def _menu_keys(card: Mapping[str, Any]) -> list[str]:
    return [row["key"] for row in (card.get("action_menu") or {}).get("action_list", [])]


def _keys(card: Mapping[str, Any]) -> list[str]:
    buttons = [*card.get("button_list", []), card.get("submit_button") or {}]
    return [row["key"] for row in buttons if row.get("key")] + _menu_keys(card)
