"""The one gate what leaves the house must pass (design.md 9.1; decisions.md, "LLM sees patient rows").

`Deidentified` is the only text that the LLM and Dify clients accept, and only a `Gate` makes it. A gate
lives as long as one request: the same value gets the same placeholder everywhere in it. An error inside
blocks the call.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache, wraps
from typing import Any, NoReturn, ParamSpec, TypeVar

from core.language.values import PLACEHOLDER
from core.privacy import dates, encoded, identifiers
from core.privacy.dates import (
    BIRTH_DATES,
    MORE_BIRTHS,
    age_on,
)
from core.privacy.field_rules import FieldRules
from core.privacy.fold_text import normalise
from core.privacy.identifier_index import NEVER, Known, squeeze
from core.privacy.identifiers import (
    BIRTH,
    NAME,
    NAME_PART,
    NUMBER,
    PATTERNS,
    SHORT_ID,
    SUBJECT,
    SUBJECT_NUMBERS,
)
from core.privacy.listed_numbers import MORE
from core.privacy.obfuscation_decoder import Edit, Written, meant
from core.privacy.outbound_policy import PrivacyError
from core.privacy.person_names import INSIDE_NAMES, names
from core.privacy.strangers import Strangers, outside_terms

AT_SPLITS = re.compile(r"[、,;。!?:\s]")
MOST_SKETCHED = 2_048
"""Texts whose masking is remembered: the lines of memory and reports that come with every message."""
_SEAL = object()
_PIECE = 8
"""Letters of a piece that may be a part of an identifier."""
# What servers of models read as the begin of a turn or a system prompt.
CONTROL = re.compile(
    r"<[|｜]([^<>|｜\n]{1,40})[|｜]>|(?:<<|\[|<)(/?(?:SYS|INST|s|(?:start|end)_of_turn))(?:>>|\]|>)"
)
P = ParamSpec("P")
R = TypeVar("R")


class Deidentified(str):
    """Text that passed the gate. Only `Gate` makes it; joining two gives a plain str again."""

    __slots__ = ()

    def __new__(cls, text: str, seal: object = None) -> Deidentified:
        """Raises TypeError for anybody but the gate."""
        if seal is not _SEAL:
            raise TypeError("only privacy.gate.Gate makes Deidentified text")
        return super().__new__(cls, text)

    def __reduce__(self) -> NoReturn:
        """A pickled value would come back without passing the gate."""
        raise TypeError("Deidentified text is not stored")


def _fail_closed(method: Callable[P, R]) -> Callable[P, R]:
    """Whatever goes wrong inside leaves as PrivacyError without the text it choked on."""

    @wraps(method)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return method(*args, **kwargs)
        except PrivacyError:
            raise
        except Exception as error:
            raise PrivacyError(f"the privacy gate failed: {type(error).__name__}") from None

    return guarded


NOTHING_KNOWN = Known()


class Gate:
    """De-identifies what one request sends out.

    `known`: the study's identifier values; `identifier_fields`: dictionary fields that are dropped;
    `birth_fields`: replaced by the age on `today`; `labels`: field -> label, for gene fields;
    `strangers`: how to tell subjects that the reader may not see.
    """

    def __init__(
        self,
        known: Known | Sequence[Known] = NOTHING_KNOWN,
        *,
        identifier_fields: Collection[str] = (),
        birth_fields: Collection[str] = (),
        labels: Mapping[str, str] | None = None,
        today: date | None = None,
        digest_key: bytes = b"",
        strangers: Strangers | None = None,
    ) -> None:
        self._known = [known] if isinstance(known, Known) else list(known)
        self._lock = threading.RLock()
        self.fields = FieldRules(
            frozenset(identifier_fields), frozenset(birth_fields), dict(labels or {})
        )
        self._today = today
        self._key = digest_key or b"privacy"
        self._strangers = strangers
        self._placeholders: dict[tuple[str, str], str] = {}
        self._own: dict[str, str] = {}
        self._counts: dict[str, int] = {}
        self._from_reader = False
        self._texts: dict[tuple[str, bool], Deidentified] = {}

    @property
    def replaced(self) -> list[dict[str, str]]:
        """What was masked, for the trace: kind and keyed digest of each value."""
        return [{"kind": kind, "digest": self._digest(value)} for kind, value in self._placeholders]

    @_fail_closed
    def learn(self, values: Collection[str]) -> None:
        """Mask these too: identifiers of a record just read, which the stored roster may not have yet."""
        by_kind: dict[str, list[str]] = {}
        for value in values:
            by_kind.setdefault(identifiers.kind_of_value(value), []).append(value)
        if by_kind:
            self._known.append(Known.of(by_kind))
            self._texts.clear()

    @_fail_closed
    def text(self, raw: str, *, own: bool = False) -> Deidentified:
        """`raw` without identifiers. `own`: the reader's own words, which `restore` may give back.

        Each text is read once: a question goes into many lines and prompts of the same request.
        """
        if isinstance(raw, Deidentified):
            return raw
        with self._lock:
            found = self._texts.get((raw, own))
            if found is None:
                self._from_reader = own
                try:
                    found = self._texts[raw, own] = Deidentified(self._mask(raw), _SEAL)
                finally:
                    self._from_reader = False
            return found

    @_fail_closed
    def joined(self, raw: str) -> str:
        """`raw` with each identifier in one piece that splitting a message would part: 138、0013、8000.

        It is not masked: only for being split, and for `text` afterwards.
        """
        whole = Gate(self._known, strangers=self._strangers, digest_key=self._key)
        masked = whole.text(raw, own=True)
        typed = {token: AT_SPLITS.sub("", value) for token, value in whole._own.items()}
        if not any(AT_SPLITS.search(value) for value in whole._own.values()):
            return raw
        return PLACEHOLDER.sub(lambda found: typed.get(found[0], found[0]), masked)

    @_fail_closed
    def blocks(self, raw: Sequence[str], joint: str = "\n\n") -> Deidentified:
        """Texts that come with every message, each with a heading of its own, joined.

        The same as `text` of each; what has to be masked in one is remembered from call to call.
        """
        with self._lock:
            return Deidentified(joint.join(self._steady(text) for text in raw), _SEAL)

    @_fail_closed
    def data(self, obj: Any) -> Deidentified:
        """JSON of `obj` (raw UTF-8): flagged and gene fields dropped, birth dates as age, texts masked."""
        with self._lock:
            return Deidentified(json.dumps(self._clean(obj), ensure_ascii=False), _SEAL)

    @_fail_closed
    def invented(self, text: str) -> list[str]:
        """Placeholders in a model's words that this gate never gave out."""
        given = set(self._placeholders.values())
        return [found[0] for found in PLACEHOLDER.finditer(text) if found[0] not in given]

    @_fail_closed
    def restore(self, text: str) -> str:
        """Placeholders as their reader may see them: what they typed themselves, else only the kind."""

        def back(found: re.Match[str]) -> str:
            return self._own.get(found[0]) or f"[{found[1]}]"

        return PLACEHOLDER.sub(back, text)

    def _digest(self, value: str) -> str:
        return hmac.new(
            self._key, value.encode("utf-8", "surrogatepass"), hashlib.sha256
        ).hexdigest()[:16]

    def _token(self, kind: str, value: str, shown: str = "") -> str:
        key = (kind, squeeze(value))
        token = self._placeholders.get(key)
        if token is None:
            self._counts[kind] = self._counts.get(kind, 0) + 1
            token = self._placeholders[key] = f"[{kind}#{self._counts[kind]}]"
        if self._from_reader:
            self._own[token] = shown or value
        return token

    def _steady(self, raw: str) -> str:
        found = _sketch(raw, tuple(self._known), self._strangers, self._today)
        if found is None:
            return self._mask(raw)
        for kind, value, age in found.met:
            if age:
                self._placeholders.setdefault((kind, value), age)
            else:
                self._token(kind, value)
        pieces = (p if isinstance(p, str) else self._token(*p) for p in found.pieces)
        return "".join(pieces)

    def _mask(self, raw: str) -> str:
        text = Written.of(raw)
        self._mask_written(text)
        # Read once more for what is meant: reading it so at first could hide what is written.
        if (read := meant(text.shown)) is not None:
            self._mask_written(read)
        seen = [text, *filter(None, [read])]
        told = seen[-1].shown if any(one.is_edited for one in seen) else raw
        return CONTROL.sub(lambda found: f"‹{found[1] or found[2]}›", told)

    def _mask_written(self, text: Written) -> None:
        text.edit(self._encoded(text))
        for known in self._known:
            text.edit(self._known_values(text, known))
            text.edit(self._titled_values(text, known))
        for known in self._known:
            text.edit(self._known_births(text, known))
        self._mask_numbered(text)
        self._mask_strangers(text)
        for known in self._known:
            self._substitute(NAME, known.addressed, text)
        self._mask_births(text)
        for pattern in PATTERNS:
            self._substitute(pattern.kind, pattern.regex, text)
        text.edit(self._listed(text))
        for regex in names():
            self._substitute(NAME, regex, text)

    def _encoded(self, text: Written) -> Iterator[Edit]:
        """Runs of base64, hex or bytes that would be masked if they were written out: whole."""
        for start, end, told in encoded.runs(text.plain):
            if self._mask(told) != told:
                yield self._masked(NUMBER, text, start, end)

    def _masked(self, kind: str, text: Written, start: int, end: int) -> Edit:
        return start, end, self._token(kind, text.plain[start:end], text.at(start, end))

    def _substitute(self, kind: str, regex: re.Pattern[str], text: Written) -> None:
        edits: list[Edit] = []
        for found in regex.finditer(text.plain):
            value = found[found.lastindex or 0]
            if not (PLACEHOLDER.search(value) or self._is_kept(value)):
                edits.append(self._masked(kind, text, *found.span(found.lastindex or 0)))
        text.edit(edits)

    def _listed(self, text: Written) -> Iterator[Edit]:
        """Further numbers of a list whose first one is masked."""
        for first in PLACEHOLDER.finditer(text.plain):
            more, at = MORE.get(first[1], NEVER), first.end()
            while (item := more.match(text.plain, at)) is not None:
                at = item.end()
                if not self._is_kept(item[1]):
                    yield self._masked(first[1], text, *item.span(1))

    def _is_kept(self, value: str) -> bool:
        """Record ids stay, whatever number they look like."""
        folded = value.strip().casefold()
        return any(folded in known.kept for known in self._known)

    def _known_values(self, text: Written, known: Known) -> Iterator[Edit]:
        for start, end, form in known.found(text.folded):
            yield start, end, self._token(form.kind, form.value, text.at(start, end))

    def _titled_values(self, text: Written, known: Known) -> Iterator[Edit]:
        """Known names with a title inside: 张先生伟."""
        untitled = text.without(INSIDE_NAMES)
        for start, end, form in known.found(untitled) if untitled else ():
            if INSIDE_NAMES.search(text.plain, start, end):
                yield start, end, self._token(form.kind, form.value, text.at(start, end))

    def _known_births(self, text: Written, known: Known) -> list[Edit]:
        """Known dates of birth, however they are spelled: one date is one placeholder."""
        edits: list[Edit] = []
        found = sorted(dates.days(text.plain)) if known.births else []
        for start, end, day in found:
            if day in known.births and (not edits or start >= edits[-1][1]):
                edits.append((start, end, self._token(BIRTH, str(day), text.at(start, end))))
        return edits

    def _mask_numbered(self, text: Written) -> None:
        """Subjects whose id is a bare number, where the words around say that it is one."""
        numbers = frozenset[str]().union(*(known.numbers for known in self._known))
        for regex in SUBJECT_NUMBERS if numbers else ():
            spans = (
                (found.start() + one.start(), found.start() + one.end())
                for found in regex.finditer(text.plain)
                for one in SHORT_ID.finditer(found[0])
                if one[0] in numbers
            )
            found = outside_terms(text.plain, spans)
            text.edit([self._masked(SUBJECT, text, *span) for span in found])

    def _mask_strangers(self, text: Written) -> None:
        if self._strangers is None:
            return
        text.edit(self._masked(SUBJECT, text, *span) for span in self._strangers.spans(text.plain))
        for regex in SUBJECT_NUMBERS:
            spans = self._strangers.numbers(text.plain, regex)
            text.edit([self._masked(SUBJECT, text, *span) for span in spans])

    def _mask_births(self, text: Written) -> None:
        for regex, more in zip(BIRTH_DATES, (MORE_BIRTHS, *[NEVER] * 3), strict=True):
            edits: list[Edit] = []
            for found in regex.finditer(text.plain):
                edits.append(self._aged(text, found, found.start()))
                at = found.end()
                while (other := more.match(text.plain, at)) is not None:
                    edits.append(self._aged(text, other, other.start(1)))
                    at = other.end()
            text.edit(edits)

    def _aged(self, text: Written, found: re.Match[str], start: int) -> Edit:
        """An age in place of a date of birth and its cue word; else the date alone is masked."""
        years = age_on(found[1], self._today)
        if years is None:
            return self._masked(BIRTH, text, *found.span(1))
        shown = f"年龄{years}岁"
        self._placeholders.setdefault((BIRTH, found[1]), shown)
        return start, found.end(), shown

    def _clean(self, obj: Any) -> Any:
        if isinstance(obj, Mapping):
            return self._clean_mapping(obj)
        if isinstance(obj, list | tuple | set | frozenset) and self._hide_together(obj):
            return [self._mask("".join(map(str, obj)))]
        if isinstance(obj, list | tuple | set | frozenset):
            items = (self._clean(item) for item in obj if not self.fields.drops_row(item))
            return list(items)
        if obj is None or isinstance(obj, bool):
            return obj
        if isinstance(obj, int | float):
            masked = self._mask(str(obj))
            return obj if masked == str(obj) else masked
        return str(self.text(obj)) if isinstance(obj, Deidentified) else self._mask(str(obj))

    def _hide_together(self, pieces: Collection[Any]) -> bool:
        """Whether short texts that stand apart are together an identifier of the study: 张, 伟."""
        texts = [
            str(one) for one in pieces if isinstance(one, str | int) and len(str(one)) <= _PIECE
        ]
        if not 1 < len(texts) == len(pieces):
            return False
        return self._is_known("".join(texts)) and not any(map(self._is_known, texts))

    def _is_known(self, text: str) -> bool:
        folded = Written.of(text).folded
        return any(any(known.found(folded)) for known in self._known)

    def _clean_mapping(self, obj: Mapping[Any, Any]) -> dict[str, Any]:
        if self.fields.drops_row(obj):
            return {}
        # {"first": "2026-01-01"} is a day, no name.
        words = (key for key, value in obj.items() if not re.search(r"\d", str(value)))
        names = [key for key in words if NAME_PART.fullmatch(str(key))]
        if len(names) > 1 or self._hide_together(obj.values()):
            hidden = names if len(names) > 1 else [*obj]
            obj = {key: value for key, value in obj.items() if key not in hidden}
        clean: dict[str, Any] = {}
        for key, value in obj.items():
            name = str(key)
            if self.fields.is_birth(name, "", value):
                years = age_on(str(value), self._today)
                clean |= {"age": years} if years is not None and "age" not in obj else {}
            elif not self.fields.drops(name):
                clean[self._mask(name)] = self._clean(value)
        return clean


@dataclass(frozen=True)
class _Sketch:
    """A masked text without the numbers of its placeholders: (kind, value) stands for one.

    `met`: (kind, value, age or "") of everything masked, in the order in which it was found.
    """

    pieces: tuple[str | tuple[str, str], ...]
    met: tuple[tuple[str, str, str], ...]


@lru_cache(maxsize=MOST_SKETCHED)
def _sketch(
    raw: str, known: tuple[Known, ...], strangers: Strangers | None, today: date | None
) -> _Sketch | None:
    """What a gate with these lists makes of a text; None where it holds placeholders already."""
    if PLACEHOLDER.search(normalise(raw)):
        return None
    blank = Gate(known, strangers=strangers, today=today)
    masked = blank._mask(raw)
    given = {shown: key for key, shown in blank._placeholders.items()}
    pieces: list[str | tuple[str, str]] = []
    at = 0
    for found in PLACEHOLDER.finditer(masked):
        pieces += [masked[at : found.start()], given.get(found[0]) or found[0]]
        at = found.end()
    met = [
        (*key, "" if PLACEHOLDER.fullmatch(shown) else shown)
        for key, shown in blank._placeholders.items()
    ]
    return _Sketch((*pieces, masked[at:]), tuple(met))
