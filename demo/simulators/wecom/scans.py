"""Log-in by scanning: a code for who scanned, good once (WeCom document 91023)."""

from __future__ import annotations

import secrets
from typing import Any

from demo.simulators.wecom.errors import WecomError


class Scans:
    """Codes that wait to be asked about."""

    def __init__(self) -> None:
        self._codes: dict[str, str] = {}

    def scan(self, user: str) -> str:
        """What WeCom adds to the callback address; a blank user is somebody of another corp."""
        code = secrets.token_urlsafe(16)
        self._codes[code] = user
        return code

    def who(self, code: str) -> dict[str, Any]:
        """auth/getuserinfo. Raises WecomError."""
        if code not in self._codes:
            raise WecomError(40029)
        user = self._codes.pop(code)
        who = {"userid": user} if user else {"openid": "oAAAA"}
        return {"errcode": 0, "errmsg": "ok", **who}
