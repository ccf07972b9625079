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


@dataclass(frozen=True)
class Unnumbered:
    """A decision that names no review: it decides nothing; `reason` is what stands behind the word."""

    decision: Literal["approve", "reject"]
    reason: str


Command = Decide | Feedback


def _any(words: tuple[str, ...]) -> str:
    return "|".join(re.escape(word) for word in words)


_DECIDE = re.compile(
    rf"(?P<word>{_any(APPROVE_WORDS + REJECT_WORDS)})[\s:,#]*(?P<number>\d{{1,{MAX_DIGITS}}})"
    r"(?!\d)[\s:,.;]*(?P<reason>.*)",
    re.IGNORECASE | re.DOTALL,
)
_UNNUMBERED = re.compile(
    rf"(?P<word>{_any(APPROVE_WORDS + REJECT_WORDS)})(?:[吧了啊的!.~]*|[\s:,#]+(?P<reason>.*))",
    re.IGNORECASE | re.DOTALL,
)
# A skin tone or variation selector may follow the thumb.
_FEEDBACK = re.compile(
    rf"(?P<thumb>{_any(UP_WORDS + DOWN_WORDS)})[\U0001f3fb-\U0001f3ff\ufe0f]*[\s:,.!]*(?P<words>.*)",
    re.DOTALL,
)


def read(text: str) -> Command | None:
    """The command in `text`, full or half width, or None for an ordinary message."""
    plain = _plain(text)
    if found := _DECIDE.fullmatch(plain):
        number, reason = int(found["number"]), found["reason"].strip()
        approves = found["word"].lower() in APPROVE_WORDS
        if _is_asked(reason, approves):
            return None
        return Decide(number, "approve" if approves else "reject", reason)
    if found := _FEEDBACK.fullmatch(plain):
        return _feedback(found["thumb"], found["words"].strip())
    return None


def unnumbered(text: str) -> Unnumbered | None:
    """The bare "同意" or "驳回 理由" that `text` is, or None; "同意吗?" is a question."""
    found = _UNNUMBERED.fullmatch(_plain(text))
    if not found or read(text):
        return None
    reason = (found["reason"] or "").strip()
    approves = found["word"].lower() in APPROVE_WORDS
    if _is_asked(reason, approves):
        return None
    return Unnumbered("approve" if approves else "reject", reason)


def _plain(text: str) -> str:
    """Half width, with the marks that the commands know."""
    return unicodedata.normalize("NFKC", text).strip().replace("。", ".").replace("、", ",")


def _is_asked(reason: str, approves: bool) -> bool:
    """Whether it is a question ("同意 42 吗?"), which decides nothing; a doubt is a reason to reject."""
    words = reason.rstrip("?!. ")
    if words.endswith("吗") or words in ("么", "呢"):
        return True
    return "?" in reason[len(words) :] and (approves or not words)


def _feedback(thumb: str, words: str) -> Feedback:
    if thumb in UP_WORDS:
        return Feedback("thumbs_up", None, words)
    labels = (label for word, label in FEEDBACK_REASONS.items() if word in words)
    return Feedback("thumbs_down", next(labels, None), words)
