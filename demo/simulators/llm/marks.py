"""`{a|b|c}` in a scripted message: the mark of the request's first numbered line that holds all the tokens.

A numbered line begins with its mark, `[F3]`, `[D2]`, `[W12a]`, `[M1]` or `[H1]`; a passage, a report or a
line of the session reaches to the next numbered line or to the end of its block. Source: contracts.md,
Stand-ins and "In a prompt".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Any

from demo.simulators.llm.protocol import Chat

# Quotation marks: JSON that is written as text holds braces, too.
PLACEHOLDER = re.compile(r'\{([^{}\n"]+)\}')
LINE = re.compile(r"\s*(?:[-*•]\s*)?(?P<mark>\[(?P<kind>[FDWMH])\d+[a-z]?\])")
BLOCK_END = re.compile(r"\s*(?:</|```|【)")
LONG = "DWH"


def marked(text: str, chat: Chat) -> str:
    """`text` with its placeholders as marks; one without such a line vanishes."""
    lines = list(_lines(chat))

    def mark(match: re.Match[str]) -> str:
        tokens = [_folded(token) for token in match[1].split("|")]
        holding = (name for name, said in lines if all(token in said for token in tokens))
        return next(holding, "")

    return PLACEHOLDER.sub(mark, text)


def marked_in(part: Any, chat: Chat) -> Any:
    """The same in all texts of a message, arguments of its tool calls among them."""
    if isinstance(part, str):
        return marked(part, chat)
    if isinstance(part, dict):
        return {key: marked_in(value, chat) for key, value in part.items()}
    return [marked_in(value, chat) for value in part] if isinstance(part, list) else part


def _lines(chat: Chat) -> Iterator[tuple[str, str]]:
    """(mark, folded text) of every numbered line, in order; what the assistant said is no source."""
    for message in chat.messages:
        if message.role == "assistant":
            continue
        name, parts, is_open = "", [""], False
        for line in message.text.splitlines():
            if match := LINE.match(line):
                if name:
                    yield name, "".join(parts)
                name, parts, is_open = match["mark"], [_folded(line)], match["kind"] in LONG
            elif BLOCK_END.match(line):
                is_open = False
            elif is_open:
                parts.append(_folded(line))
        if name:
            yield name, "".join(parts)


def _folded(text: str) -> str:
    """Full width as half width, without spaces."""
    return "".join(unicodedata.normalize("NFKC", text).split())
