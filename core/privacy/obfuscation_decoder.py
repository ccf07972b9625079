"""A text in two readings: what patterns look at, and what leaves where they found nothing.

`Written.of` reads simplified characters; `meant` reads escapes, inline tags, and digits written as
characters or mistyped as letters. Neither changes a word that is not masked.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator
from urllib.parse import unquote

from core.language.values import PLACEHOLDER
from core.privacy.fold import BREAK, Folded, is_mark
from core.privacy.fold_text import normalise, simplified

Edit = tuple[int, int, str]
"""From, to (of the plain reading), and what stands there instead."""

_ESCAPE = re.compile(
    r"\\\\{0,3}(?:u\{[0-9a-f]{1,6}\}|u00[01][0-9a-f]{5}|u[0-9a-f]{4}|x[0-9a-f]{2}|[nrt])"
    r"|(?:%u|(?<![a-z])u\+)[0-9a-f]{4,6}(?![0-9a-f])[ ,]?"
    r"|&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z]{2,8});"
    # Of ASCII only signs: who escapes does not escape letters and digits, and 30%13 is no escape.
    r"|%(?:2[0-9a-f]|3[a-f]|40|5[b-f])|%[c-f][0-9a-f](?:%[89ab][0-9a-f]){1,3}"
    r"|<br\s?/?>|</?(?:a|b|big|em|font|i|mark|small|span|strong|u)(?:\s[^<>]{0,200})?>",
    re.IGNORECASE,
)
_HAN_DIGITS = {
    char: str(number)
    for digits in ("〇一二三四五六七八九", "零壹贰叁肆伍陆柒捌玖", "○幺两三四五六七八九")
    for number, char in enumerate(digits)
}
_HAN = "".join(_HAN_DIGITS)
_LETTERS = dict(zip("oOlI", "0011", strict=True))
_DIGITS = str.maketrans(_HAN_DIGITS | _LETTERS)
# A number of seven digits and more with characters in a row, or a letter typed for a digit.
_SPOKEN = re.compile(rf"[{_HAN}]{{2}}(?:[{_HAN}]|(?<=\d..)\d)")
_TYPED = re.compile(
    r"[\doOlI](?:(?<=\d)(?:[oOlI]{1,4}\d|\d{4}[oOlI])|(?<=[oOlI])(?<![A-Za-z][oOlI])\d{5})"
)
_MISTYPED = r"(?<![A-Za-z])(?=\d{0,30}[oOlI])[\doOlI]{10,30}(?![A-Za-z])"
# Groups of two signs and more, listed or apart: 2o2; 6oo; ll. Fewer signs than seven are no number.
_SIGN = rf"[\d{_HAN}oOlI]"
_GROUP = rf"{_SIGN}{{1,4}}(?![A-Za-z])"
_GROUPED = re.compile(rf"(?<![A-Za-z\d]){_GROUP}(?:\s?[、;,/-]\s?{_GROUP}){{1,15}}")
_LEAST = 7
_NUMBER = re.compile(rf"{_MISTYPED}|(?:[\d{_HAN}][ -]?){{6,30}}[\d{_HAN}]")


class Written:
    """A text whose plain reading has, for every character, what is shown for it."""

    __slots__ = ("_folded", "_shown", "is_edited", "plain")

    def __init__(self, plain: str, shown: list[str] | None = None) -> None:
        self.plain = plain
        self._shown = shown
        self._folded: Folded | None = None
        self.is_edited = False

    @classmethod
    def of(cls, text: str) -> Written:
        """The text as it is written; only characters are read as simplified ones."""
        folded = normalise(text)
        plain = simplified(folded)
        return cls(plain, None if plain == folded else list(folded))

    @property
    def shown(self) -> str:
        """What leaves."""
        return self.plain if self._shown is None else "".join(self._shown)

    def at(self, start: int, end: int) -> str:
        """What is shown of a stretch of the plain reading."""
        return self.plain[start:end] if self._shown is None else "".join(self._shown[start:end])

    @property
    def folded(self) -> Folded:
        """The letters of the plain reading; nothing is read across a placeholder."""
        if self._folded is None:
            self._folded = Folded(PLACEHOLDER.sub(_broken, self.plain))
        return self._folded

    def without(self, words: re.Pattern[str]) -> Folded | None:
        """The letters with blanks for some words; None where there are none of them."""
        if not words.search(self.plain):
            return None
        plain = words.sub(lambda found: " " * len(found[0]), self.plain)
        return Folded(PLACEHOLDER.sub(_broken, plain))

    def edit(self, edits: Iterable[Edit]) -> None:
        """Put something else in place of stretches, given in their order."""
        pieces: list[str] = []
        shown: list[str] = []
        copied = 0
        for start, end, instead in edits:
            pieces += [self.plain[copied:start], instead]
            if self._shown is not None:
                shown += [*self._shown[copied:start], *instead]
            copied = end
        if pieces:
            self._folded, self.is_edited = None, True
            self.plain = "".join([*pieces, self.plain[copied:]])
        if pieces and self._shown is not None:
            self._shown = [*shown, *self._shown[copied:]]


def _broken(found: re.Match[str]) -> str:
    return BREAK * len(found[0])


def meant(text: str) -> Written | None:
    """The text with its escapes and spoken numbers read; None where it has none of them."""
    escaped = _ESCAPE.search(text) is not None
    drawn = any(map(is_mark, text)) if not text.isascii() else False
    spoken = _SPOKEN.search(text) or _TYPED.search(text) or any(map(_hides, _GROUPED.findall(text)))
    if not (escaped or drawn or spoken):
        return None
    pairs = list(_unescaped(text)) if escaped else list(zip(simplified(text), text, strict=True))
    pairs = list(_undrawn(pairs)) if drawn else pairs
    plain = _GROUPED.sub(_in_groups, "".join(char for char, _shown in pairs))
    plain = _NUMBER.sub(_as_digits, plain)
    return Written(plain, [shown for _char, shown in pairs])


def _unescaped(text: str) -> Iterator[tuple[str, str]]:
    """Each character that is meant with what is written for it; a tag goes with what follows it."""
    before, at = "", 0
    for found in (*_ESCAPE.finditer(text), None):
        end = found.start() if found else len(text)
        for char, shown in zip(simplified(text[at:end]), text[at:end], strict=True):
            yield char, before + shown
            before = ""
        if found is None:
            break
        before, at = before + found[0], found.end()
        for char in simplified(normalise(_character(found[0]))):
            yield char, before
            before = ""
    if before:
        yield "\n", before


def _undrawn(pairs: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Without marks drawn on or around characters: each goes with the one before it."""
    last: tuple[str, str] | None = None
    for char, shown in pairs:
        if last is not None and is_mark(char):
            last = last[0], last[1] + shown
            continue
        if last is not None:
            yield last
        last = char, shown
    if last is not None:
        yield last


def _character(escape: str) -> str:
    """What an escape stands for: "" for a tag, the escape itself where it stands for nothing."""
    readers: dict[str, Callable[[str], str]] = {
        "&": html.unescape,
        "%": unquote,
        "\\": _backslash,
        "<": _tag,
        "u": _code_point,
    }
    told = readers["u" if escape[:2].lower() == "%u" else escape[0].lower()](escape)
    return escape if "\ufffd" in told or "\ud800" <= told[:1] <= "\udfff" else told


def _tag(escape: str) -> str:
    return "\n" if escape[1:3].lower() == "br" else ""


def _backslash(escape: str) -> str:
    code = escape.lstrip("\\")
    named = {"n": "\n", "r": "\r", "t": "\t"}.get(code.lower())
    return named or _code_point(code)


def _code_point(escape: str) -> str:
    """u5f20, U00005f20, u{5f20}, %u5F20, U+5F20; the escape itself where there is no such character."""
    number = int(re.sub(r"[^0-9a-f]", "", escape.lower()), 16)
    return chr(number) if number < 0x110000 else escape


def _as_digits(found: re.Match[str]) -> str:
    number = found[0]
    mistyped = number.isascii() and number.isalnum() and sum(map(str.isdigit, number)) >= 5
    return number.translate(_DIGITS) if mistyped or _SPOKEN.search(number) else number


def _hides(listed: str) -> bool:
    """Whether groups hold signs that look like digits, and enough of them for a number.

    一、二、三 counts paragraphs: a number has a group of several signs.
    """
    groups = re.findall(rf"{_SIGN}+", listed)
    signs = "".join(groups)
    several = any(len(group) > 1 for group in groups)
    return several and len(signs) >= _LEAST and not (signs.isascii() and signs.isdigit())


def _in_groups(found: re.Match[str]) -> str:
    return found[0].translate(_DIGITS) if _hides(found[0]) else found[0]
