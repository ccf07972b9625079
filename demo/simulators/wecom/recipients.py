"""Who gets a message: visibility, licence and the limits per member (reference/wecom.md 3.2)."""

from __future__ import annotations

import threading
from collections import defaultdict, deque
from dataclasses import dataclass, field
from typing import Any

from demo.simulators.state import State
from demo.simulators.wecom.config import Config, User
from demo.simulators.wecom.errors import WecomError

LIMITS = ((60, 30), (3600, 1000))  # seconds, messages of one app to one member
DAY = 86400


@dataclass
class Recipients:
    """The resolved addressees and what WeCom says about the others."""

    users: list[User] = field(default_factory=list)
    invalid_users: list[str] = field(default_factory=list)
    unlicensed: list[str] = field(default_factory=list)
    invalid_parties: list[str] = field(default_factory=list)
    invalid_tags: list[str] = field(default_factory=list)

    def notes(self) -> dict[str, str]:
        """The answer's fields: lower-cased, joined by `|`; only those that name somebody."""
        named = {
            "invaliduser": self.invalid_users,
            "invalidparty": self.invalid_parties,
            "invalidtag": self.invalid_tags,
            "unlicenseduser": self.unlicensed,
        }
        return {name: "|".join(ids).lower() for name, ids in named.items() if ids}


def _ids(body: dict[str, Any], name: str, limit: int, code: int) -> list[str]:
    value = body.get(name) or ""
    if not isinstance(value, str):
        raise WecomError(40058, f"{name} must be a string")
    found = [part.strip() for part in value.split("|") if part.strip()]
    if len(found) > limit:
        raise WecomError(code)
    return list(dict.fromkeys(found))


def resolve(config: Config, body: dict[str, Any]) -> Recipients:
    """Addressees of message/send. Raises WecomError 82001, 40032, 82002, 82003, 81013."""
    users = _ids(body, "touser", 1000, 40032)
    parties = _ids(body, "toparty", 100, 82002)
    tags = _ids(body, "totag", 100, 82003)
    if not (users or parties or tags):
        raise WecomError(82001)
    if users == ["@all"]:
        users = [user.userid for user in config.users.values() if user.visible and user.licensed]
    found = Recipients()
    found.invalid_parties = [party for party in parties if party not in config.parties]
    found.invalid_tags = [tag for tag in tags if tag not in config.tags]
    for party in parties:
        users += config.parties.get(party, [])
    for tag in tags:
        users += config.tags.get(tag, [])
    _sort(config, users, found)
    if not found.users:
        raise WecomError(81013)
    return found


def _sort(config: Config, userids: list[str], found: Recipients) -> None:
    for userid in {name.lower(): name for name in userids}.values():
        user = config.user(userid)
        if user is None or not user.visible:
            found.invalid_users.append(userid)
        elif not user.licensed:
            found.unlicensed.append(userid)
        else:
            found.users.append(user)


class Quota:
    """30 a minute and 1000 an hour to one member are delivered, more is dropped silently."""

    def __init__(self, state: State, config: Config) -> None:
        self._state, self._config = state, config
        self._lock = threading.Lock()
        self._delivered: dict[tuple[int, str], deque[float]] = defaultdict(deque)
        self._today: dict[tuple[int, int], int] = defaultdict(int)

    def check_day(self, agent_id: int, count: int) -> None:
        """Refuse what exceeds 200 messages a day per account. Raises WecomError 45009."""
        key = (agent_id, int(self._state.timestamp() // DAY))
        with self._lock:
            if self._today[key] + count > self._config.account_limit * 200:
                raise WecomError(45009, "daily limit of the app")
            self._today[key] += count

    def take(self, agent_id: int, userid: str) -> bool:
        """Whether one more message reaches the member."""
        now = self._state.timestamp()
        with self._lock:
            times = self._delivered[agent_id, userid.lower()]
            while times and times[0] <= now - LIMITS[-1][0]:
                times.popleft()
            for seconds, limit in LIMITS:
                if sum(time > now - seconds for time in times) >= limit:
                    return False
            times.append(now)
        return True
