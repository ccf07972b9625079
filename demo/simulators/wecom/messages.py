"""message/send, update_template_card and recall (reference/wecom.md 3.2 to 3.5, section 4)."""

from __future__ import annotations

import json
import threading
import uuid
from dataclasses import dataclass
from typing import Any

from demo.simulators.state import State
from demo.simulators.wecom import cards, content, fields
from demo.simulators.wecom.config import Config, Switches
from demo.simulators.wecom.errors import WecomError
from demo.simulators.wecom.media import Media
from demo.simulators.wecom.recipients import Quota, Recipients, resolve
from demo.simulators.wecom.store import SentCard, Store

RECALL_SECONDS = 24 * 3600
DUPLICATE_DEFAULT, DUPLICATE_MAX = 1800, 4 * 3600
JsonObject = dict[str, Any]


@dataclass
class Outgoing:
    """One checked message on its way to its recipients."""

    agent_id: int
    kind: str
    content: Any
    msgid: str
    truncated: bool

    @property
    def task_id(self) -> str:
        """The card's task_id, "" for everything else."""
        return str(self.content.get("task_id") or "") if self.kind == "template_card" else ""


class Messages:
    """The calls that need an access token; each takes the app and the JSON body."""

    def __init__(
        self, state: State, config: Config, switches: Switches, store: Store, media: Media
    ) -> None:
        self._media = media
        self._state, self._config, self._switches, self._store = state, config, switches, store
        self._quota = Quota(state, config)
        self._seen: dict[str, tuple[float, JsonObject]] = {}
        # One send at a time: task ids are unique and a duplicate is delivered once.
        self._lock = threading.Lock()

    def send(self, agent_id: int, body: JsonObject) -> JsonObject:
        """Answer message/send. Raises WecomError in the order section 4 gives."""
        if body.get("msgtype") not in content.MSGTYPES:
            raise WecomError(40008)
        self._check_agent(agent_id, body)
        people = resolve(self._config, body)
        shown, truncated = content.check(body, self._switches)
        if body["msgtype"] == "image":
            self._media.find(shown["media_id"])
        with self._lock:
            if known := self._duplicate(body):
                return known
            msgid = uuid.uuid4().hex
            message = Outgoing(agent_id, body["msgtype"], shown, msgid, truncated)
            self._check_card(message)
            self._quota.check_day(agent_id, len(people.users))
            answer = self._deliver(message, people)
            self._seen[_fingerprint(body)] = (self._state.timestamp(), answer)
        return answer

    def _check_agent(self, agent_id: int, body: JsonObject) -> None:
        value = body.get("agentid")
        if value is None:
            raise WecomError(41011)
        if not isinstance(value, int) or isinstance(value, bool):
            raise WecomError(40056)
        if value != agent_id:
            known = {app.agent_id for app in self._config.apps()}
            raise WecomError(301002 if value in known else 40056)

    def _check_card(self, message: Outgoing) -> None:
        if message.kind != "template_card":
            return
        if cards.has_response_code(message.content) and not self._config.callback_url:
            raise WecomError(43012)
        if message.task_id and (message.agent_id, message.task_id) in self._store.cards:
            raise WecomError(int(self._switches.dup_task_id_code), "task_id used before")

    def _duplicate(self, body: JsonObject) -> JsonObject | None:
        if not body.get("enable_duplicate_check"):
            return None
        interval = int(body.get("duplicate_check_interval") or DUPLICATE_DEFAULT)
        then, answer = self._seen.get(_fingerprint(body), (float("-inf"), {}))
        recent = self._state.timestamp() - then < min(interval, DUPLICATE_MAX)
        return answer if recent else None

    def _deliver(self, message: Outgoing, people: Recipients) -> JsonObject:
        entries = []
        for user in people.users:
            dropped = not self._quota.take(message.agent_id, user.userid)
            row = self._store.log(
                user.userid, message.kind, message.content, message.msgid, dropped=dropped
            )
            row["truncated"] = message.truncated
            if not dropped:
                entries.append((user.userid, self._show(message, user.userid)))
        self._store.messages[message.msgid] = {
            "agent_id": message.agent_id,
            "time": self._state.timestamp(),
            "entries": entries,
        }
        answer: JsonObject = {"errcode": 0, "errmsg": "ok", **people.notes()}
        answer["msgid"] = message.msgid
        if message.kind == "template_card" and cards.has_response_code(message.content):
            self._store.cards.setdefault(
                (message.agent_id, message.task_id), SentCard(message.task_id, message.agent_id)
            )
            answer["response_code"] = self._store.new_code(message.task_id, message.agent_id)
        return answer

    def _show(self, message: Outgoing, userid: str) -> JsonObject:
        if message.task_id:
            return self._store.add_card(
                message.task_id, message.agent_id, userid, message.content, message.msgid
            )
        return self._store.show(userid, "bot", message.kind, message.content, msgid=message.msgid)

    def update_template_card(self, agent_id: int, body: JsonObject) -> JsonObject:
        """Change a card for the named members or, with atall, for all who received it (3.4)."""
        self._check_agent(agent_id, body)
        if not body.get("response_code"):
            raise WecomError(40063, "response_code")
        button, card = _replacement(body)
        with self._lock:
            sent = self._store.use_code(body["response_code"], agent_id)
            named = list(sent.copies) if body.get("atall") == 1 else self._named(body)
            for userid in named:
                if copy := sent.copies.get(userid.lower()):
                    self._store.replace(copy, card=card, button=button)
                    self._store.log(self._spelling(userid), "update_template_card", copy.card, None)
        missing = [userid for userid in named if userid.lower() not in sent.copies]
        answer: JsonObject = {"errcode": 0, "errmsg": "ok"}
        return {**answer, "invaliduser": missing} if missing else answer

    def _spelling(self, userid: str) -> str:
        user = self._config.user(userid)
        return user.userid if user else userid

    def _named(self, body: JsonObject) -> list[str]:
        names = _list(body, "userids", 1000)
        for party in _list(body, "partyids", 100):
            names += self._config.parties.get(str(party), [])
        for tag in _list(body, "tagids", 100):
            names += self._config.tags.get(str(tag), [])
        if not names:
            raise WecomError(82001)
        return [str(name) for name in names]

    def recall(self, agent_id: int, body: JsonObject) -> JsonObject:
        """Take a message back within 24 h (3.5)."""
        found = self._store.messages.get(str(body.get("msgid") or ""))
        late = found is not None and self._state.timestamp() - found["time"] > RECALL_SECONDS
        if found is None or late or found["agent_id"] != agent_id:
            raise WecomError(40058)
        for _, entry in found["entries"]:
            self._store.touch(entry, type="recalled", content="", active=False)
        return {"errcode": 0, "errmsg": "ok"}


def _fingerprint(body: JsonObject) -> str:
    return json.dumps(body, sort_keys=True, ensure_ascii=False)


def _list(body: JsonObject, name: str, limit: int) -> list[Any]:
    value = body.get(name) or []
    if not isinstance(value, list) or len(value) > limit:
        raise WecomError(40058, name)
    return list(value)


def _replacement(body: JsonObject) -> tuple[str | None, JsonObject | None]:
    if "template_card" in body:
        return None, cards.validate(body["template_card"], update=True)
    button = fields.mapping(body.get("button"), 40058)
    return fields.text(button, "replace_name", 42020), None
