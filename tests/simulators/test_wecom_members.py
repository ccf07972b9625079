"""user/get of the WeCom stand-in (document 90196; reference/wecom.md 3.6)."""

from __future__ import annotations

from typing import Any

import pytest

from core.integrations.wecom import Kind, SendError, Standing
from tests.wecom_standin import GETTOKEN, open_wecom

USERS: list[dict[str, Any]] = [
    {"userid": "ZhangYi"},
    {"userid": "off", "status": 2},
    {"userid": "new", "status": 4},
    {"userid": "gone", "status": 5},
    {"userid": "hidden", "visible": False},
]
STANDINGS = [
    ("ZhangYi", Standing.ACTIVE),
    ("zhangyi", Standing.ACTIVE),
    ("off", Standing.DISABLED),
    ("new", Standing.NOT_ACTIVATED),
    ("gone", Standing.LEFT),
    ("hidden", Standing.UNSEEN),
    ("张一", Standing.UNKNOWN),
    ("x" * 65, Standing.UNKNOWN),
    ("a&userid=zhangyi", Standing.UNKNOWN),
]


@pytest.mark.full
@pytest.mark.parametrize(("userid", "standing"), STANDINGS)
def test_what_a_userid_is(userid: str, standing: Standing) -> None:
    with open_wecom() as wecom:
        wecom.configure(users=USERS)
        assert wecom.client().standing(userid) is standing


def test_what_hinders_the_call_is_no_word_about_the_userid() -> None:
    with open_wecom() as wecom:
        wecom.configure(trusted_ips=["10.9.9.9"])
        refused = wecom.client().standing("zhangyi")
        assert isinstance(refused, SendError)
        assert (refused.kind, refused.code) == (Kind.ALERT, 60020)
        wecom.configure(trusted_ips=[])
        wecom.fault("user/get", "status", 502)
        down = wecom.client().standing("zhangyi")
        assert isinstance(down, SendError)
        assert down.kind is Kind.RETRY


def test_a_stale_token_is_fetched_anew_and_no_status_is_no_fault() -> None:
    with open_wecom() as wecom:
        wecom.errcode("user/get", 42001)
        assert wecom.client().standing("zhangyi") is Standing.ACTIVE
        assert len(wecom.calls(GETTOKEN)) == 2
        wecom.fault("user/get", "body", {"errcode": 0, "errmsg": "ok", "userid": "zhangyi"})
        assert wecom.client().standing("zhangyi") is Standing.ACTIVE
