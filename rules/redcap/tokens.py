"""The text of a logic cut into tokens."""

from __future__ import annotations

import re

from rules.errors import RuleError
from rules.limits import MAX_BYTES
from rules.text import translate as _

Token = tuple[str, str]
"""(kind, text); kind is field, text, number, operator or word."""

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<comment>(?:\#|//)[^\n]*)|(?P<field>\[[^\[\]]+\])|(?P<text>'[^']*'|"[^"]*")
      |(?P<number>[0-9]+\.?[0-9]*|\.[0-9]+)
      |(?P<operator><>|!=|!|<=|>=|==|=|<|>|&&|\|\||\+|-|\*|/|\^|\(|\)|,)|(?P<word>[A-Za-z_][A-Za-z_0-9]*)
    )""",
    re.VERBOSE,
)
_SAME = {"==": "=", "&&": "and", "||": "or", "!=": "<>"}


def tokens(text: str) -> list[Token]:
    """The tokens without comments, other spellings as the usual ones, words in lower case; RuleError."""
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        message = _("The logic is larger than %(max)d KiB.")
        raise RuleError(message % {"max": MAX_BYTES // 1024})
    found: list[Token] = []
    position, text = 0, text.rstrip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if not match or match.lastgroup is None:
            raise unexpected(text[position : position + 10].strip())
        kind, said = match.lastgroup, match[match.lastgroup]
        if kind == "word":
            said = said.lower()
        if kind == "operator" and said in _SAME:
            said = _SAME[said]
            kind = "word" if said in {"and", "or"} else kind
        if kind != "comment":
            found.append((kind, said))
        position = match.end()
    return found


def unexpected(text: str) -> RuleError:
    """The error about what should not stand there."""
    return RuleError(_("“%(text)s” is not expected there.") % {"text": text})
