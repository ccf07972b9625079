"""A question that the model words (issue B, must show 2: "the same enumeration over one chat message")."""

from __future__ import annotations

from tests.engines.sop import crash_chat
from tests.engines.sop.boundaries import Boundaries

WHO, QUESTION = "zhangyi", "方案里的排除标准是什么?"
SINGLE = ("inbox", "flow log user", "flow log assistant", "trace", "outbox", "sent")


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
    """One reply, one flow-log row, one trace, the usage once."""
    crash_chat.check(expected)
    for kind in SINGLE:
        assert sum(line.startswith(f"{kind} ") for line in expected) == 1, (kind, expected)
    assert any(line.startswith("usage ") for line in expected), expected
