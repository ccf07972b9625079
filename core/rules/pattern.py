"""A regular expression that can't hang: matched by RE2, in time linear in the text.

`matches` lets a rule's author write a pattern that then runs over patients' data, and an administrator's
pattern of record ids runs over what people ask. Python's matcher backtracks, so `(a+)+$` would stop a worker;
with `regex` and its time-out a verdict would hang on how busy the machine is. A pattern may hold literals, `.`,
classes, `\\d \\w \\s` and their opposites, `\\uXXXX \\xXX`, groups, `|`, `* + ? {m,n}`, `^ $`. Look-around,
back references and word boundaries are refused when the rule or the study is saved. `\\d` is ASCII only (a
full-width digit in an identifier is a typing error), `\\w` includes Chinese.
"""

from __future__ import annotations

import functools
import re
from typing import Any

import re2

from core.rules.limits import RuleError
from core.rules.text import translate as _

_MAX_PATTERN, _MAX_NESTING, _MAX_MEMORY = 1_000, 30, 16 << 20
_ESCAPE = r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[dDwWsSnrtfv]|[\W_])"
_PART = re.compile(
    rf"(?P<escape>{_ESCAPE})"
    rf"|(?P<set>\[\^?\]?(?:{_ESCAPE}|-(?!\\[dDwWsS])|[^\]\\-])*\])"
    r"|(?P<open>\((?!\?)|\(\?:)|(?P<close>\))"
    r"|(?P<same>\{[0-9]{1,4}(?:,(?:[0-9]{1,4})?)?\}|[*+?.|^$])"
    r"|(?P<text>[^\\\[{])",
    re.DOTALL,
)
_IN_SET = re.compile(rf"{_ESCAPE}|\[", re.DOTALL)
_CLASSES = {
    "d": "0-9",
    "D": r"\D",
    "w": r"\pL\pN_",
    "W": r"\pM\pS\pZ\pC\p{Pd}\p{Ps}\p{Pe}\p{Pi}\p{Pf}\p{Po}"
    r"\x{203f}\x{2040}\x{2054}\x{fe33}\x{fe34}\x{fe4d}-\x{fe4f}\x{ff3f}",
    "s": r"\t-\r\x1c-\x20\x{85}\pZ",
    "S": r"\pL\pM\pN\pP\pS\p{Cf}\p{Co}\x{0}-\x{8}\x{e}-\x{1b}\x{7f}-\x{84}\x{86}-\x{9f}",
}
"""What a class holds, in RE2's words: by itself RE2 knows ASCII only."""


class Pattern:
    """A pattern that RE2 has admitted; `states`: how many steps one character may take."""

    def __init__(self, pattern: str, *, folds_case: bool = False) -> None:
        options = re2.Options()
        options.log_errors, options.max_mem = False, _MAX_MEMORY
        options.case_sensitive = not folds_case
        try:
            self._compiled: Any = re2.compile(_translated(pattern), options)
        except re2.error as error:
            raise RuleError(
                _("The pattern is not supported: %(pattern)s") % {"pattern": pattern}
            ) from error
        self.states: int = self._compiled.programsize

    def fullmatch(self, text: str) -> bool:
        """Whether the whole of `text` matches; half a character counts as the sign that replaces it."""
        whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return self._compiled.fullmatch(whole) is not None


compile_pattern = functools.lru_cache(maxsize=128)(Pattern)
"""A matcher for the whole value; RuleError when the pattern is wrong or outside the subset."""


def _translated(pattern: str) -> str:
    """The pattern in RE2's words. Raises RuleError for what is outside the subset."""
    if len(pattern) > _MAX_PATTERN:
        raise RuleError(_("The pattern is too large."))
    made, at, nesting = "", 0, 0
    while at < len(pattern):
        part = _PART.match(pattern, at)
        nesting += 0 if part is None else (part.lastgroup == "open") - (part.lastgroup == "close")
        if part is None or nesting > _MAX_NESTING:
            raise RuleError(
                _("The pattern is not supported at position %(at)d: %(pattern)s")
                % {"at": at, "pattern": pattern}
            )
        kind, said = part.lastgroup, part[0]
        if kind == "escape":
            said = f"[{_in_set(said)}]"
        elif kind == "set":
            said = f"[{_IN_SET.sub(lambda found: _in_set(found[0]), said[1:-1])}]"
        elif kind == "text":
            said = re2.escape(said)
        made, at = made + said, part.end()
    return made


def _in_set(said: str) -> str:
    """An escape, or a bracket, as it stands inside of a set."""
    if said[1:] in _CLASSES:
        return _CLASSES[said[1:]]
    if len(said) > 2:
        return rf"\x{{{said[2:]}}}"
    return said if said[1:] in "nrtfv" and len(said) > 1 else rf"\x{{{ord(said[-1]):x}}}"
