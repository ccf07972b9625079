"""Dates that stand beside "over" and are those of a beginning, or the other way round."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from engines.grounding.values import Token, tokens, values
from engines.tools.results import Fact

_BEGIN = re.compile(r"开始|起始|发生|出现|起病|onset|start|begin")
_OVER = re.compile(r"痊愈|治愈|恢复|好转|缓解|消失|结束|终止|停止|停药|停用|end|stop")
_LINK = r"[\s于在已为是了的日期时间:]*"


def mistaken(before: str, clause: str, facts: Sequence[Fact]) -> Iterator[str]:
    """Dates of a clause that are told with the wrong end of what the facts say; `before`: the clause before."""
    for token in tokens(clause):
        told = [f for f in facts if token.kind == "date" and values(f.value).holds(token)]
        named = [" ".join(f.names) for f in told]
        over = _stuck(_OVER, _BEGIN, token, before, clause)
        if over and told and all(_BEGIN.search(n) and not _OVER.search(n) for n in named):
            yield token.text
        begin = _stuck(_BEGIN, _OVER, token, before, clause)
        if begin and told and all(_OVER.search(n) and not _BEGIN.search(n) for n in named):
            yield token.text


def _stuck(
    words: re.Pattern[str], contrary: re.Pattern[str], token: Token, before: str, clause: str
) -> bool:
    """Whether one of the words stands right behind a date, or right before one that has none behind it."""
    rest = clause[token.start + len(token.text) :]
    if re.match(f"{_LINK}(?:{words.pattern})", rest):
        return True
    if re.match(rf"{_LINK}(?:{contrary.pattern})|\s*(?:~|至|到)", rest):
        return False
    ahead = clause[: token.start]
    ahead = ahead if re.sub(_LINK, "", ahead) else f"{before},"
    return re.search(rf"(?:{words.pattern}){_LINK},?{_LINK}$", ahead) is not None
