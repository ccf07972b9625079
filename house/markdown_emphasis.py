"""Emphasis beside Chinese punctuation: `**注意：**不得` is bold, which CommonMark's rule of spaces denies."""

from __future__ import annotations

from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.emphasis import tokenize

_WIDE = "\u2e80"
"""From here on Unicode has the scripts that put no spaces between words, and their punctuation."""
_QUOTES = "“”‘’…—"


def emphasis(state: StateInline, silent: bool) -> bool:
    """markdown-it's rule; beside a Chinese sign `*` opens before and closes after whatever is no space."""
    start, first = state.pos, len(state.delimiters)
    if not tokenize(state, silent):
        return False
    before, after = state.src[max(start - 1, 0) : start], state.src[state.pos : state.pos + 1]
    if state.src[start] == "*" and (_is_wide(before) or _is_wide(after)):
        for delimiter in state.delimiters[first:]:
            delimiter.open = delimiter.open or bool(after.strip())
            delimiter.close = delimiter.close or bool(before.strip())
    return True


def _is_wide(sign: str) -> bool:
    return sign >= _WIDE or (bool(sign) and sign in _QUOTES)
