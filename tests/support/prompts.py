"""What must stand in no prompt, whatever a test is about (design.md 9.1)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from tests.answers.leaks import identifiers


def told_to_models(requests: Sequence[dict[str, Any]]) -> list[str]:
    """Identifiers of the demo study's subjects that stood in requests to a language model.

    What a model said itself may come back to it.
    """
    return sorted({value for text in _texts(requests) for value in identifiers() if value in text})


def _texts(requests: Sequence[dict[str, Any]]) -> Iterator[str]:
    for request in requests:
        try:
            body = json.loads(request["body"])
        except ValueError:
            yield request["body"]
            continue
        for message in body.get("messages", ()):
            if message.get("role") != "assistant":
                yield str(message.get("content") or "")
