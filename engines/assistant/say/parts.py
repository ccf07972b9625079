"""Sentences as they are put together, and how they fit into the characters that a reader wants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

_FEW = 4
_STOPS = tuple(".。!?！？…")
_CJK = "\u2e80"
UNIT = "\x00"
"""In an item: where the unit stands, told once, with the first item that is shown."""


def joint() -> str:
    """What stands between listed things."""
    return pgettext("between listed things", ", ")


def colon() -> str:
    """What stands between a label and what it labels."""
    return pgettext("after a label", ": ")


def comma() -> str:
    """What stands between the parts of a sentence."""
    return pgettext("inside brackets", ", ")


def joined(*parts: str) -> str:
    """Words one behind the other, with a space where one of two neighbours is not Chinese: 有,共 3 例."""
    whole = ""
    for part in filter(None, (one.strip() for one in parts)):
        both = (whole[-1:] >= _CJK or whole[-1:] == ",") and part[0] >= _CJK
        whole += part if both or not whole else f" {part}"
    return whole


@dataclass(frozen=True, slots=True)
class Part:
    """A sentence: what it begins with, the things it lists, and what is said behind them in any case.

    `items`: each from its fullest to its shortest wording. `tails`: what is made of the items, `notes`: what is
    said beside them. `weights`: of the items, where those that tell most are not the first ones. `marks`: the
    lines that it rests on. `noun`: what is counted, of "subject", "entry", "reading", "item"; `counted`: their
    number is said though all are listed. `left_out`: items that are not there to be listed. `key`: sentences
    of one key say the same thing of the same items.
    """

    head: str = ""
    items: tuple[tuple[str, ...], ...] = ()
    tails: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()
    noun: str = "item"
    counted: bool = False
    left_out: int = 0
    unit: str = ""
    key: tuple[object, ...] = ()
    glue: str | None = None

    @property
    def depth(self) -> int:
        """How many wordings the items have."""
        return max((len(item) for item in self.items), default=1)

    def text(self, level: int = 0, shown: int | None = None, brief: bool = False) -> str:
        """The sentence with the `shown` items that tell most (None: all), in their order.

        `brief`: without what is made of the items.
        """
        kept = [item[min(level, len(item) - 1)] for item in self._most_telling(shown)]
        if kept and self.unit:
            at = next((place for place, item in enumerate(kept) if UNIT in item), 0)
            kept[at] = kept[at].replace(UNIT, self.unit, 1)
        total, body = len(self.items) + self.left_out, joint().join(kept).replace(UNIT, "")
        head = self.head.rstrip(" ")
        if self.items and (self.counted or len(kept) < total):
            said = [counted(total, self.noun)]
            said += [count_shown(len(kept), self.noun)] if len(kept) < total else []
            head = joined(head, comma().join(said))
        glue = colon() if self.glue is None or head != self.head.rstrip(" ") else self.glue
        whole = f"{head}{glue}{body}" if head and body else head or body
        tails = () if brief and self.items else self.tails
        whole = comma().join(filter(None, [whole, *tails]))
        # A text that a person wrote may end in a full stop.
        whole = whole.rstrip("。") if self.notes else whole
        return pgettext("between clauses", "; ").join(filter(None, [whole, *self.notes]))

    def _most_telling(self, count: int | None) -> list[tuple[str, ...]]:
        if count is None:
            return list(self.items)
        weights = self.weights or range(len(self.items), 0, -1)
        best = sorted(range(len(self.items)), key=lambda at: -weights[at])[:count]
        return [self.items[at] for at in sorted(best)]


def plain(text: str, marks: Sequence[str] = ()) -> Part:
    """A sentence that lists nothing."""
    return Part(text, marks=tuple(marks))


def counted(count: int, noun: str) -> str:
    """共 12 例."""
    texts = {
        "subject": _("%(count)s subjects in all"),
        "entry": _("%(count)s entries in all"),
        "reading": _("%(count)s readings in all"),
    }
    return texts.get(noun, _("%(count)s in all")) % {"count": count}


def count_shown(count: int, noun: str) -> str:
    """列出 8 例."""
    texts = {
        "subject": _("%(count)s subjects listed"),
        "entry": _("%(count)s entries listed"),
        "reading": _("%(count)s readings listed"),
    }
    return texts.get(noun, _("%(count)s listed")) % {"count": count}


def left_out(count: int) -> str:
    """How many sentences were not told."""
    return ngettext("%(count)s more is not listed", "%(count)s more are not listed", count) % {
        "count": count
    }


def noted(parts: Sequence[Part], notes: Sequence[str]) -> list[Part]:
    """The sentences with notes behind the last one."""
    if not notes or not parts:
        return [*parts, *(plain(note) for note in notes)]
    return [*parts[:-1], replace(parts[-1], notes=(*parts[-1].notes, *notes))]


def begun(said: str, parts: Sequence[Part]) -> list[Part]:
    """The sentences, the first of which begins with a yes or a no."""
    return [replace(parts[0], head=said + parts[0].head), *parts[1:]] if parts else []


@dataclass(frozen=True, slots=True)
class Fitted:
    """The sentences that are told, with their marks; `is_whole`: nothing was left out but details."""

    texts: tuple[tuple[str, tuple[str, ...]], ...]
    is_whole: bool


def fitted(parts: Sequence[Part], limit: int, stop: str, whole: int = 0) -> Fitted:
    """All sentences in the most detail that fits; else fewer items of the longest, each thing whole.

    `stop`: what ends a sentence. `whole`: the characters up to which a list of subjects is not cut.
    Of sentences that do not fit at one item each the last are left out, counted.
    """
    parts = [part for part in parts if part.text()]
    level, shown, brief = 0, [len(part.items) for part in parts], False

    def texts() -> list[str]:
        pairs = zip(parts, shown, strict=True)
        said = (part.text(level, count, brief) for part, count in pairs)
        return [text if text[-1:] in _STOPS else text + stop for text in said]

    def over() -> int:
        return sum(len(text) + 1 for text in texts()) - 1 - limit

    most = max((part.depth for part in parts), default=1)
    while over() > 0 and level < most - 1:
        level += 1
    brief = over() > 0
    few = len(parts) <= _FEW
    while few and over() > 0 and (long := _longest(parts, shown, level, whole)) is not None:
        shown[long] -= 1
    while not few and shown[0] > 1 and len(texts()[0]) > limit:
        shown[0] -= 1
    told = texts()
    kept = len(told)
    while kept > 1 and sum(len(text) + 1 for text in told[:kept]) + _room(kept, told) > limit + 1:
        kept -= 1
    told = _fuller(told, parts[:kept], level, limit - _room(kept, told), stop)
    made = [(text, part.marks) for text, part in zip(told[:kept], parts, strict=False)]
    if kept < len(told):
        made.append((left_out(len(told) - kept) + stop, ()))
    pairs = zip(parts, shown, strict=True)
    is_whole = kept == len(told) and all(n == len(p.items) and not p.left_out for p, n in pairs)
    return Fitted(tuple(made), is_whole)


def _fuller(told: list[str], parts: Sequence[Part], level: int, limit: int, stop: str) -> list[str]:
    """The sentences with those of one thing, from the first, as full as the room that is left takes."""
    told = list(told)
    for at, part in enumerate(parts):
        for fuller in range(level if len(part.items) == 1 else 0):
            text = part.text(fuller)
            text = text if text[-1:] in _STOPS else text + stop
            others = sum(len(one) + 1 for i, one in enumerate(told[: len(parts)]) if i != at)
            if others + len(text) <= limit:
                told[at] = text
                break
    return told


def _room(kept: int, told: Sequence[str]) -> int:
    return len(left_out(len(told) - kept)) + 2 if kept < len(told) else 0


def _is_kept(part: Part, whole: int) -> bool:
    """Whether a list of subjects is short enough, with their numbers alone, to be told whole."""
    return part.noun == "subject" and len(part.text(part.depth - 1, brief=True)) <= whole


def _longest(parts: Sequence[Part], shown: Sequence[int], level: int, whole: int) -> int | None:
    """The sentence whose items take the most room and that has some to spare."""
    free = [at for at, count in enumerate(shown) if count > 1 and not _is_kept(parts[at], whole)]
    return max(free, key=lambda at: len(parts[at].text(level, shown[at])), default=None)
