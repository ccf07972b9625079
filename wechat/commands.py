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
    """A decision that names no review for sure: it decides nothing; `reason` is what stands behind.

    `number`: the review it may mean.
    """

    decision: Literal["approve", "reject"]
    reason: str
    number: int | None = None


Command = Decide | Feedback


def _any(words: tuple[str, ...]) -> str:
    return "|".join(re.escape(word) for word in words)


# The gap tells "同意 42 已核对" from "同意42例受试者的入组": a decision cannot be taken back.
_NUMBERED = re.compile(
    rf"(?P<word>{_any(APPROVE_WORDS + REJECT_WORDS)})[\s:,#]*(?P<number>\d{{1,{MAX_DIGITS}}})"
    r"(?!\d|\.\d)(?:号[吧了啊]?|[吧了啊](?!.))?(?P<gap>[\s:,.;!]*)(?P<reason>.*)",
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
    if found := _NUMBERED.fullmatch(plain):
        reason = found["reason"].strip()
        if (reason and not found["gap"]) or _is_asked(reason, _approves(found)):
            return None
        return Decide(int(found["number"]), _decision(found), reason)
    if found := _FEEDBACK.fullmatch(plain):
        return _feedback(found["thumb"], found["words"].strip())
    return None


def unnumbered(text: str) -> Unnumbered | None:
    """The bare "同意" or "驳回 理由" that `text` is, or None; "同意吗?" is a question."""
    plain = _plain(text)
    near = _NUMBERED.fullmatch(plain)
    found = near or _UNNUMBERED.fullmatch(plain)
    if not found or read(text):
        return None
    reason = (found["reason"] or "").strip()
    number = int(near["number"]) if near else None
    if number and not _approves(found) and not reason.strip("?!. "):
        return Unnumbered("reject", "", number)  # "驳回 42 ?": a doubt, of a review that is named
    if _is_asked(reason, _approves(found)):
        return None
    return Unnumbered(_decision(found), reason, number)


def _approves(found: re.Match[str]) -> bool:
    return found["word"].lower() in APPROVE_WORDS


def _decision(found: re.Match[str]) -> Literal["approve", "reject"]:
    return "approve" if _approves(found) else "reject"


def _plain(text: str) -> str:
    """Half width, with the marks that the commands know."""
    return (
        unicodedata.normalize("NFKC", text).strip().replace("。", ". ").strip().replace("、", ",")
    )


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
