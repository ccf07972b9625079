"""Refusals in WeCom's own shape (reference/wecom.md 3.6)."""

from __future__ import annotations

import secrets
import time
from typing import Any

MESSAGES = {
    40001: "invalid credential",
    40003: "invalid userid",
    40004: "invalid media type",
    40005: "invalid file type",
    40007: "invalid media_id",
    40008: "invalid message type",
    40013: "invalid corpid",
    40014: "invalid access_token",
    40029: "invalid code",
    40032: "invalid user list size",
    40033: "invalid charset",
    40056: "invalid agentid",
    40058: "invalid Request Parameter",
    40063: "some parameters are empty",
    41001: "access_token missing",
    41002: "corpid missing",
    41004: "corpsecret missing",
    41005: "media data missing",
    41011: "missing agentid",
    41016: "missing title",
    42001: "access_token expired",
    42014: "task_id is invalid",
    42015: "task_id not match agentid",
    42020: "replace_name is missing",
    43012: "callback url is not configured",
    44004: "content is empty",
    45001: "media size out of limit",
    45002: "content size out of limit",
    45009: "api freq out of limit",
    60011: "no privilege to access/modify contact/party/agent",
    60020: "not allow to access from your ip",
    60111: "userid not found",
    60140: "invalid response_code",
    81013: "user & party & tag all invalid",
    82001: "touser, toparty and totag are all empty",
    82002: "too many parties",
    82003: "too many tags",
    301002: "not allow to use this agentid",
}


class WecomError(Exception):
    """A call that WeCom answers with HTTP 200 and an errcode other than 0."""

    def __init__(self, code: int, detail: str = "") -> None:
        base = MESSAGES.get(code, "invalid Template_Card field")
        super().__init__(f"{base}: {detail}" if detail else base)
        self.code = code

    def body(self, ip: str) -> dict[str, Any]:
        """The JSON answer; every real errmsg ends in hint, ip and link (3.6)."""
        hint = f"{int(time.time())}_1_{secrets.token_hex(16)}"
        link = f"https://open.work.weixin.qq.com/devtool/query?e={self.code}"
        tail = f", hint: [{hint}], from ip: {ip}, more info at {link}"
        return {"errcode": self.code, "errmsg": f"{self}{tail}"}
