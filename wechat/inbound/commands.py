"""Text commands, an equal way beside cards: "同意 42", "驳回 42 理由", "👍", "👎 太长" (wecom.md 9.5)."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

from engines.assistant.read.offline import wanted
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
    """👍 or 👎 on the last answer; `reason` is one of our labels, `asked` what it wants beside."""

    feedback: str
    reason: str | None
    asked: str = ""


@dataclass(frozen=True)
class Unnumbered:
    """A decision that names no review for sure: it decides nothing; `reason` is what stands behind.

    `numbers`: the reviews it may mean; `counts`: or they count something, and it is no decision at all.
    """

    decision: Literal["approve", "reject"]
    reason: str
    numbers: tuple[int, ...] = ()
    counts: bool = False


Command = Decide | Feedback


def _any(words: tuple[str, ...]) -> str:
    return "|".join(re.escape(word) for word in words)


# The gap tells "同意 42 已核对" from "同意42例受试者的入组": a decision cannot be taken back.
_NUMBERED = re.compile(
    rf"(?P<word>{_any(APPROVE_WORDS + REJECT_WORDS)})[\s:,、#]*(?P<number>\d{{1,{MAX_DIGITS}}})"
    r"(?!\d|\.\d)(?:号[吧了啊]?|[吧了啊](?!.))?(?P<gap>[\s:,、.;!]*)(?P<reason>.*)",
    re.IGNORECASE | re.DOTALL,
)
_UNNUMBERED = re.compile(
    rf"(?P<word>{_any(APPROVE_WORDS + REJECT_WORDS)})(?:[吧了啊的!.~]*|[\s:,、#]+(?P<reason>.*))",
    re.IGNORECASE | re.DOTALL,
)
# What a number counts where it is no review's: "3 例", "2 周后", "2026 年"; not "年龄", "日期", "人工".
_COUNTED = (
    r"(?:例(?![外如])|个(?![人体案别])|位(?![置点])|名(?![单称字])|人(?![工员为])|周(?![期岁])|天(?!然)"
    r"|日(?![期志常])|月(?!经)|年(?![龄限])|岁|次(?!要)|项(?!目)|条(?!件)|份|种(?!类)|批(?!准)|号(?=.)"
    r"|小时|分钟|%|(?:m?mol|[mk]?g|m?l)(?![a-z]))"
)
_COUNTS = re.compile(_COUNTED, re.IGNORECASE)
# "5 月", "2026-03-05", "1. …": a reason to reject may begin so.
_FIGURE = re.compile(
    rf"\d+(?:\.\d+)?\s*{_COUNTED}|\d{{4}}[-/.]\d|1[.、)](?=\s*[^\s\d])", re.IGNORECASE
)
_MORE_NUMBERS = re.compile(
    r"(?:(?:[\s,、.;!和与及跟到至&+]|以及|and)*+#?\d++(?:号(?!.))?)+[\s,、.;!]*"
)
_SECOND_DECISION = re.compile(
    rf"(?:{_any(APPROVE_WORDS + REJECT_WORDS)})[\s:,、#]*\d", re.IGNORECASE
)
# "同意 42 但先不要": a decision that is taken back in the same breath.
_TAKEN_BACK = re.compile(
    r"(?:[,\s]|但是?|可是|然而|but|先|暂时?|还是|还)*"
    r"(?:不(?!错)[要行用了是]?|别|勿|[没未](?=核|看|查)|等等|等一?下|稍等|算了|取消|(?:not?|don't|wait)(?![a-z]))"
    r"|但|可是|然而|but(?![a-z])",
    re.IGNORECASE,
)
# A skin tone or variation selector may follow the thumb.
_FEEDBACK = re.compile(
    rf"(?P<thumb>{_any(UP_WORDS + DOWN_WORDS)})[\U0001f3fb-\U0001f3ff\ufe0f]*[\s:,、.!]*(?P<words>.*)",
    re.DOTALL,
)


def read_command(text: str) -> Command | None:
    """The command in `text`, full or half width, or None for an ordinary message."""
    plain = _plain(text)
    if found := _NUMBERED.fullmatch(plain):
        reason = found["reason"].strip()
        if _may_count(found) or _is_asked(reason, _approves(found)) or _is_unclear(found):
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
    if not found or read_command(text):
        return None
    reason = (found["reason"] or "").strip()
    numbers = _numbers(near) if near else ()
    if numbers and not _approves(found) and not reason.strip("?!. "):
        return Unnumbered("reject", "", numbers)  # "驳回 42 ?": a doubt, of a review that is named
    if _is_asked(reason, _approves(found)):
        return None
    counts = bool(near and _may_count(near))
    if near and (_is_unclear(near) or _COUNTS.match(reason)):
        reason = ""
    return Unnumbered(_decision(found), reason, numbers, counts)


def deciding(decision: Literal["approve", "reject"], review_id: int, reason: str = "") -> str:
    """The words that decide a review, for a reason; a colon where it would be taken for something else."""
    word = (APPROVE_WORDS if decision == "approve" else REJECT_WORDS)[0]
    words = f"{word} {review_id} {reason}".strip()
    return words if read_command(words) else f"{word} {review_id}: {reason}"


def _numbers(found: re.Match[str]) -> tuple[int, ...]:
    """The number, and those listed behind it."""
    more = _MORE_NUMBERS.match(found["reason"])
    listed = re.findall(r"\d+", more[0]) if more else []
    return tuple(int(one) for one in (found["number"], *listed) if len(one) <= MAX_DIGITS)


def _may_count(found: re.Match[str]) -> bool:
    """Whether the number need not be a review's: "同意 3 例受试者入组", "同意 42e3"."""
    gap, reason = found["gap"], found["reason"].strip()
    apart = gap or not reason or reason.startswith("(")
    return not apart or (":" not in gap and bool(_COUNTS.match(reason)))


def _is_unclear(found: re.Match[str]) -> bool:
    """Whether it names one review of several, or is taken back; behind a colon stands a reason."""
    gap, reason = found["gap"], found["reason"].strip()
    if _MORE_NUMBERS.fullmatch(reason):
        return True
    if ":" in gap:
        return False
    if _SECOND_DECISION.search(reason):
        return True
    if _approves(found):
        return bool(_TAKEN_BACK.match(reason) or _MORE_NUMBERS.match(reason))
    # "不符合标准" and "5 月的数据有误" say why something is rejected.
    if _TAKEN_BACK.fullmatch(reason.rstrip("了吧啊!. ")):
        return True
    is_figure = "、" not in gap and _FIGURE.match(reason)
    return bool(_MORE_NUMBERS.match(reason)) and not is_figure


def _approves(found: re.Match[str]) -> bool:
    return found["word"].lower() in APPROVE_WORDS


def _decision(found: re.Match[str]) -> Literal["approve", "reject"]:
    return "approve" if _approves(found) else "reject"


def _plain(text: str) -> str:
    """Half width, with the marks that the commands know."""
    return unicodedata.normalize("NFKC", text).strip().replace("。", ". ").strip()


def _is_asked(reason: str, approves: bool) -> bool:
    """Whether it is a question ("同意 42 吗?"), which decides nothing; a doubt is a reason to reject."""
    words = reason.rstrip("?!. ")
    if words.endswith("吗") or words in ("么", "呢"):
        return True
    return "?" in reason[len(words) :] and (approves or not words)


def _feedback(thumb: str, words: str) -> Feedback:
    asked = wanted(words)
    if thumb in UP_WORDS:
        return Feedback("thumbs_up", None, asked)
    said = words.removesuffix(asked)
    labels = (label for word, label in FEEDBACK_REASONS.items() if word in said)
    return Feedback("thumbs_down", next(labels, None), asked)
