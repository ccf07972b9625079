"""Who the stand-in corp is and how it behaves where WeCom's documents leave it open."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, fields
from typing import Any

CALLBACK_IPS = ["127.0.0.1", "101.226.103.*", "101.226.62.*"]
OVERFLOW = ("truncate", 45002)
ALLOWED: dict[str, tuple[Any, ...]] = {
    "gettoken_same_within_ttl": (True, False, "new_keeps_old", "new_kills_old"),
    "expired_code": (42001, 40014),
    "text_overflow": OVERFLOW,
    "md_overflow": OVERFLOW,
}


@dataclass
class Switches:
    """The `[cfg]` names of reference/wecom.md section 4; the default comes first there."""

    gettoken_same_within_ttl: bool | str = True  # or "new_keeps_old", "new_kills_old"
    secret_ban_after: int = 5
    expired_code: int = 42001
    reject_unicode_escape: bool = False
    text_overflow: str | int = "truncate"
    md_overflow: str | int = 45002
    dup_task_id_code: int = 42014
    deliveries_total: int = 3
    retry_on_non200: bool = True
    retry_reuse_nonce: bool = False
    honor_passive_card_update: bool = False

    def update(self, values: dict[str, Any]) -> None:
        """Set the named switches. Raises ValueError for an unknown name or a wrong type."""
        known = {item.name for item in fields(self)}
        if unknown := sorted(set(values) - known):
            raise ValueError(f"no such switch: {', '.join(unknown)}")
        for name, value in values.items():
            allowed = ALLOWED.get(name)
            same_type = type(value) is type(getattr(self, name))
            if not (value in allowed if allowed else same_type):
                raise ValueError(f"{name} can't be {value!r}")
            setattr(self, name, value)


@dataclass(frozen=True)
class App:
    """One self-built app of the corp (自建应用)."""

    agent_id: int
    secret: str
    disabled: bool = False


@dataclass(frozen=True)
class User:
    """One member; `userid` keeps its spelling, WeCom compares it without regard to case."""

    userid: str
    name: str
    title: str = ""
    visible: bool = True
    licensed: bool = True
    status: int = 1  # 1 active, 2 disabled, 4 not activated, 5 left


def _env(name: str, default: str) -> str:
    return os.environ.get(name) or default


def _callback_url() -> str:
    return f"http://127.0.0.1:{_env('PORT', '8000')}/wechat/callback/"


def _aibot_callback_url() -> str:
    return f"http://127.0.0.1:{_env('PORT', '8000')}/wechat/aibot/"


def _response_base() -> str:
    return f"http://127.0.0.1:{_env('SIM_PORT', '9000')}/wecom/cgi-bin"


@dataclass
class Config:
    """The corp. Starts from WECOM_* and PORT; /_control/configure overrides it.

    The defaults are the product's DEBUG values, so that both sides meet without any settings.
    """

    corp_id: str = field(default_factory=lambda: _env("WECOM_CORP_ID", "ww00000000000000de"))
    agent_id: int = field(default_factory=lambda: int(_env("WECOM_AGENT_ID", "1000002")))
    secret: str = field(default_factory=lambda: _env("WECOM_SECRET", "demo-secret-of-the-stand-in"))
    token: str = field(default_factory=lambda: _env("WECOM_TOKEN", "demoToken"))
    aes_key: str = field(
        default_factory=lambda: _env("WECOM_AES_KEY", "demo0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabc")
    )
    callback_url: str = field(default_factory=_callback_url)
    aibot_id: str = field(default_factory=lambda: _env("WECOM_AIBOT_ID", "AIBOTID"))
    aibot_secret: str = field(default_factory=lambda: _env("WECOM_AIBOT_SECRET", "demoBotSecret"))
    aibot_token: str = field(default_factory=lambda: _env("WECOM_AIBOT_TOKEN", "demoBotToken"))
    aibot_aes_key: str = field(
        default_factory=lambda: _env(
            "WECOM_AIBOT_AES_KEY", "bot00123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabc"
        )
    )
    aibot_callback_url: str = field(default_factory=_aibot_callback_url)
    aibot_response_base: str = field(default_factory=_response_base)
    aibot_poll_s: float = 0.5
    app_name: str = "IIT 研究助手"
    trusted_ips: list[str] = field(default_factory=list)
    callback_ips: list[str] = field(default_factory=lambda: list(CALLBACK_IPS))
    account_limit: int = 1000
    push_timeout_s: float = 5.0
    verify_timeout_s: float = 1.0
    parties: dict[str, list[str]] = field(default_factory=dict)
    tags: dict[str, list[str]] = field(default_factory=dict)
    users: dict[str, User] = field(default_factory=dict)
    more_apps: list[App] = field(default_factory=list)

    def configure(self, settings: dict[str, Any]) -> None:
        """Take {"wecom": {...}} of /_control/configure. Raises ValueError for an unknown name."""
        known = {item.name for item in fields(self)} | {"apps"}
        if unknown := sorted(set(settings) - known):
            raise ValueError(f"no such wecom setting: {', '.join(unknown)}")
        for name, value in settings.items():
            if name == "users":
                self.users = {row["userid"].lower(): _user(row) for row in value}
            elif name == "apps":
                self.more_apps = [App(**row) for row in value]
            else:
                setattr(self, name, value)

    def apps(self) -> list[App]:
        """Our app first, then those configured beside it."""
        return [App(self.agent_id, self.secret), *self.more_apps]

    def user(self, userid: str) -> User | None:
        """The member of that id; anybody is one while no members are configured."""
        if not self.users:
            return User(userid=userid, name=userid)
        return self.users.get(userid.lower())


def _user(row: dict[str, Any]) -> User:
    allowed = {item.name for item in fields(User)}
    values = {name: value for name, value in row.items() if name in allowed}
    return User(**{"name": row["userid"], **values})
