"""Answers that can be compared: without what is different in each, and without what the sender knew."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, quote_plus
from uuid import UUID

from django.contrib.messages import get_messages

ABSENT = "QZABSENT"
_VARYING = re.compile(
    r'(csrfmiddlewaretoken" value="|nonce="|name="_?csrf[^"]*" content="|X-CSRFToken[^:]*: ?")[^"]*'
)


@dataclass(frozen=True)
class Answer:
    """What somebody learns from a reply; `masked` are the values that were sent."""

    status: int
    kind: str
    location: str
    said: tuple[str, ...]
    body: str

    @classmethod
    def of(cls, reply: Any, *masked: object) -> Answer:
        """Without what is different in each reply, and without what the sender knew."""
        body = b"".join(reply.streaming_content) if reply.streaming else reply.content
        request: Any = getattr(reply, "wsgi_request", None)
        said = [str(one) for one in get_messages(request)] if hasattr(request, "_messages") else []

        values = {str(one) for one in masked} - {""}
        long = {
            each for one in values if len(one) > 3 for each in (one, quote(one), quote_plus(one))
        }
        short = [one for one in values if len(one) <= 3]

        def plain(text: str) -> str:
            for one in sorted(long, key=len, reverse=True):
                text = text.replace(one, "SENT")
            for one in short:
                text = text.replace(f"/{one}/", "/SENT/").replace(f"“{one}”", "“SENT”")
            return _VARYING.sub(r"\1", text)

        return cls(
            reply.status_code,
            str(reply.get("Content-Type")),
            plain(str(reply.get("Location"))),
            tuple(map(plain, said)),
            plain(body.decode("utf-8", "replace")),
        )

    @property
    def text(self) -> str:
        """All of it that a person could read."""
        return "\n".join((self.body, self.location, *self.said))

    @property
    def leads_to_a_row(self) -> bool:
        """A page, or the page that shows the row instead."""
        return self.status == 200 or self.location.endswith(("/change/", "/desk/"))

    def unlike(self, other: Answer, *about: str) -> list[tuple[Any, ...]]:
        """[what it is about, where two answers differ], [] where they do not."""
        return [] if self == other else [(*about, self._beside(other))]

    def _beside(self, other: Answer) -> list[str]:
        pairs = zip(
            (str(self.status), self.kind, *self.text.splitlines()),
            (str(other.status), other.kind, *other.text.splitlines()),
            strict=False,
        )
        return [f"{mine!r:.150} / {theirs!r:.150}" for mine, theirs in pairs if mine != theirs][:4]


def absent(key: object) -> Any:
    """A key of the same kind that no row has."""
    if isinstance(key, int):
        return 8_600_001
    return UUID("0badc0de-0000-4000-8000-000000000001") if isinstance(key, UUID) else ABSENT
