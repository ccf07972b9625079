"""A question that the model words (issue B, must show 2: "the same enumeration over one chat message")."""

from __future__ import annotations

from tests.engines.sop import crash_chat
from tests.engines.sop.boundaries import Boundaries

WHO, QUESTION = "zhangyi", "P003 的年龄多大?P004 的 ECOG 评分是多少?"
SINGLE = ("inbox", "flow log user", "flow log assistant", "trace")
# What goes out for one question: the answer, and the card that asks whether it helped.
REPLIES = ("inbox:", "card:choice")


def prepare() -> None:
    """The demo study is enough."""


def live(boundaries: Boundaries) -> None:
    """Callback, worker, sender."""
    crash_chat.forget()
    with boundaries.watch():
        crash_chat.converse(WHO, QUESTION)


def recover() -> None:
    """WeCom delivers again what it had no answer to, and the sweeper comes twice."""
    crash_chat.deliver(WHO, QUESTION)
    crash_chat.sweep()
    crash_chat.sweep()


def told() -> list[str]:
    """Rows and messages of one question."""
    return crash_chat.left()


def check(expected: list[str]) -> None:
    """One reply with its card, each sent once, one flow-log row, one trace, the usage once."""
    crash_chat.check(expected)
    for kind in SINGLE:
        assert sum(line.startswith(f"{kind} ") for line in expected) == 1, (kind, expected)
    for kind in REPLIES:
        assert sum(line.startswith(f"outbox {kind}") for line in expected) == 1, (kind, expected)
    for kind in ("outbox ", "sent "):
        assert sum(line.startswith(kind) for line in expected) == len(REPLIES), (kind, expected)
    assert any(line.startswith("usage ") for line in expected), expected
