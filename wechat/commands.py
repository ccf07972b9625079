"""Text commands, an equal way beside cards: "同意 42", "驳回 42 理由", "👍", "👎 太长" (wecom.md 9.5)."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

from wechat.texts import APPROVE_WORDS, DOWN_WORDS, FEEDBACK_REASONS, REJECT_WORDS, UP_WORDS

MAX_DIGITS = 18


@dataclass(frozen=True)
class Decide:
    """A decision on a review by its number; `decision` is approve or reject."""

    review_id: int
    decision: Literal["approve", "reject"]
    reason: str


@dataclass(frozen=True)
class Feedback:
    """👍 or 👎 on the last answer; `reason` is one of our labels, `words` what was typed."""

    feedback: str
    reason: str | None
    words: str


Command = Decide | Feedback


def _any(words: tuple[str, ...]) -> str:
    return "|".join(re.escape(word) for word in words)


_DECIDE = re.compile(
    rf"(?P<word>{_any(APPROVE_WORDS + REJECT_WORDS)})[\s:,#]*(?P<number>\d{{1,{MAX_DIGITS}}})"
    r"(?!\d)[\s:,.;]*(?P<reason>.*)",
    re.IGNORECASE | re.DOTALL,
)
# A skin tone or variation selector may follow the thumb.
_FEEDBACK = re.compile(
    rf"(?P<thumb>{_any(UP_WORDS + DOWN_WORDS)})[\U0001f3fb-\U0001f3ff\ufe0f]*[\s:,.!]*(?P<words>.*)",
    re.DOTALL,
)


def read(text: str) -> Command | None:
    """The command in `text`, full or half width, or None for an ordinary message."""
    plain = unicodedata.normalize("NFKC", text).strip().replace("。", ".").replace("、", ",")
    if found := _DECIDE.fullmatch(plain):
        number, reason = int(found["number"]), found["reason"].strip()
        approves = found["word"].lower() in APPROVE_WORDS
        return Decide(number, "approve" if approves else "reject", reason)
    if found := _FEEDBACK.fullmatch(plain):
        return _feedback(found["thumb"], found["words"].strip())
    return None


def _feedback(thumb: str, words: str) -> Feedback:
    if thumb in UP_WORDS:
        return Feedback("thumbs_up", None, words)
    labels = (label for word, label in FEEDBACK_REASONS.items() if word in words)
    return Feedback("thumbs_down", next(labels, None), words)
