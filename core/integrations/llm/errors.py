"""What can go wrong with an LLM endpoint. No message holds text of either side."""

from __future__ import annotations

from core.integrations.llm.usage import Usage


class LlmError(Exception):
    """The endpoint refused: `status` of HTTP (0: no answer); `retry_after` in seconds."""

    def __init__(self, status: int = 0, what: str = "", retry_after: float | None = None) -> None:
        self.status = status
        self.what = what
        self.retry_after = retry_after
        super().__init__(f"{type(self).__name__}: status {status}, {what or '-'}")


class LlmUnavailable(LlmError):
    """No answer after every try: network, 408, 429 or 5xx."""


class LlmTimeout(LlmUnavailable):
    """No answer in time."""


class LlmProtocolError(LlmError):
    """An answer that is not what the protocol promises: HTML, cut JSON, no choices."""


class LlmIncomplete(LlmProtocolError):
    """An answer that its endpoint did not finish (cut by length, held back by a filter); it used tokens."""

    def __init__(self, finish_reason: str, usage: Usage) -> None:
        super().__init__(200, f"finish_reason {finish_reason or 'missing'}")
        self.usage = usage


class LlmAbilityMissing(LlmError):
    """The endpoint refused because it lacks what was asked for; `what`: tools or schema."""
