"""What the stand-in corp holds: sent messages, cards, response codes and each member's chat."""

from __future__ import annotations

import itertools
import secrets
import threading
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from demo.simulators.state import State
from demo.simulators.wecom.cards import has_response_code
from demo.simulators.wecom.errors import WecomError

CODE_TTL = 72 * 3600


@dataclass
class Copy:
    """One member's copy of a card."""

    card: dict[str, Any]
    entry: dict[str, Any]
    active: bool = True


@dataclass
class SentCard:
    """A card that went out with a task_id; `copies` by lower-cased userid."""

    task_id: str
    agent_id: int
    copies: dict[str, Copy] = field(default_factory=dict)


@dataclass
class ResponseCode:
    """The right to update a card once within 72 h (3.4)."""

    code: str
    task_id: str
    agent_id: int
    created: float
    used: bool = False


class Store:
    """All of it behind one lock; `changed` wakes the phone pages that wait."""

    def __init__(self, state: State) -> None:
        self._state = state
        self.changed = threading.Condition(threading.RLock())
        self.clear()

    def clear(self) -> None:
        """Forget everything (POST /_control/reset)."""
        with self.changed:
            self._sequence = itertools.count(1)
            self.sent: list[dict[str, Any]] = []
            self.cards: dict[tuple[int, str], SentCard] = {}
            self.codes: dict[str, ResponseCode] = {}
            self.messages: dict[str, dict[str, Any]] = {}
            self._chats: dict[str, list[dict[str, Any]]] = defaultdict(list)
            self.epoch = secrets.token_hex(4)
            self.changed.notify_all()

    def log(
        self, to: str, kind: str, content: Any, msgid: str | None, *, dropped: bool = False
    ) -> dict[str, Any]:
        """Append a row of GET /_control/sent."""
        row = {
            "time": self._state.timestamp(),
            "to": to,
            "type": kind,
            "content": content,
            "msgid": msgid,
            "dropped": dropped,
        }
        with self.changed:
            self.sent.append(row)
        return row

    def show(self, userid: str, side: str, kind: str, content: Any, **more: Any) -> dict[str, Any]:
        """Add an entry to a member's chat; `side` is "me" or "bot"."""
        entry = {"time": self._state.timestamp(), "side": side, "type": kind, "content": content}
        with self.changed:
            number = next(self._sequence)
            entry |= {"id": number, "seq": number, **more}
            self._chats[userid.lower()].append(entry)
            self.changed.notify_all()
        return entry

    def touch(self, entry: dict[str, Any], **changes: Any) -> None:
        """Change an entry of a chat, so that waiting pages fetch it again."""
        with self.changed:
            entry.update(changes, seq=next(self._sequence))
            self.changed.notify_all()

    def note_vote(self, userid: str, feedback_id: str, kind: int) -> None:
        """Show a vote under the answer it concerns; 3 withdraws it."""
        with self.changed:
            for row in self._chats[userid.lower()]:
                if row.get("feedback_id") == feedback_id:
                    self.touch(row, vote=None if kind == 3 else kind)

    def chat(self, userid: str, after: int = 0) -> list[dict[str, Any]]:
        """Entries of a member's chat that are new or changed since `after`, in order shown."""
        with self.changed:
            return [dict(row) for row in self._chats[userid.lower()] if row["seq"] > after]

    def latest(self) -> dict[str, int]:
        """The newest number of the app's messages to each member who has a chat."""
        with self.changed:
            return {
                userid: max((row["id"] for row in rows if row["side"] == "bot"), default=0)
                for userid, rows in self._chats.items()
                if rows
            }

    def wait(
        self, userid: str, after: int, seconds: float, newest: int | None = None
    ) -> list[dict[str, Any]]:
        """`chat`, waiting up to `seconds` for an entry, or for one of anybody after `newest`."""
        with self.changed:
            epoch = self.epoch

            def news() -> bool:
                elsewhere = newest is not None and max(self.latest().values(), default=0) > newest
                ended = epoch != self.epoch or self._state.stopping.is_set()
                return elsewhere or ended or bool(self.chat(userid, after))

            self.changed.wait_for(news, timeout=seconds)
            return self.chat(userid, after)

    def add_card(
        self, task_id: str, agent_id: int, userid: str, card: dict[str, Any], msgid: str
    ) -> dict[str, Any]:
        """Show a card to a member and remember the copy under its task_id."""
        active = has_response_code(card)
        more = {"task_id": task_id, "active": active, "msgid": msgid}
        with self.changed:
            entry = self.show(userid, "bot", "template_card", card, **more)
            sent = self.cards.setdefault((agent_id, task_id), SentCard(task_id, agent_id))
            sent.copies[userid.lower()] = Copy(card, entry, active)
        return entry

    def new_code(self, task_id: str, agent_id: int) -> str:
        """A fresh response code for a card."""
        code = secrets.token_urlsafe(32)
        with self.changed:
            self.codes[code] = ResponseCode(code, task_id, agent_id, self._state.timestamp())
        return code

    def use_code(self, code: Any, agent_id: int) -> SentCard:
        """Spend a response code. Raises WecomError 60140 or 42015."""
        with self.changed:
            found = self.codes.get(code) if isinstance(code, str) else None
            if found is None or found.used:
                raise WecomError(60140)
            if self._state.timestamp() - found.created > CODE_TTL:
                raise WecomError(60140, "expired")
            if found.agent_id != agent_id:
                raise WecomError(42015)
            found.used = True
            return self.cards[found.agent_id, found.task_id]

    def find_card(self, userid: str, task_id: str) -> tuple[SentCard, Copy] | None:
        """The member's copy of the card with that task_id, of whichever app."""
        with self.changed:
            for (_, name), card in self.cards.items():
                if name == task_id and userid.lower() in card.copies:
                    return card, card.copies[userid.lower()]
        return None

    def replace(
        self, copy: Copy, *, card: dict[str, Any] | None = None, button: str | None = None
    ) -> None:
        """Change one member's copy: another card, or a grey button in place of the buttons."""
        with self.changed:
            copy.card = {**copy.card, "replace_text": button} if card is None else card
            copy.active = has_response_code(copy.card) and not copy.card.get("replace_text")
            self.touch(copy.entry, content=copy.card, active=copy.active)
