"""The one gate what leaves the house must pass (design.md 9.1; decisions.md, "LLM sees patient rows").

`Deidentified` is the only text that the LLM and Dify clients accept, and only a `Gate` makes it. A gate
lives as long as one request: the same value gets the same placeholder everywhere in it. An error inside
blocks the call.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import json
import os
import re
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache, wraps
from typing import Any, NoReturn, ParamSpec, TypeVar
from urllib.parse import urlsplit

from integrations import identifiers
from integrations.identifiers import (
    BIRTH,
    BIRTH_DATES,
    BIRTH_FIELD,
    DATED,
    GENE,
    NAME,
    PATTERNS,
    SHORT_ID,
    SUBJECT,
    SUBJECT_NUMBERS,
    age_on,
    birth_fields,
)
from integrations.known import NEVER, Known, squeeze
from integrations.person_names import NAMES

__all__ = [
    "PLACEHOLDER",
    "Deidentified",
    "Gate",
    "Known",
    "OutsideRefused",
    "PrivacyError",
    "age_on",
    "birth_fields",
    "require_local",
]

PLACEHOLDER = re.compile(r"\[([\u4e00-\u9fff]{1,6})#(\d+)\]")
_SEAL = object()
P = ParamSpec("P")
R = TypeVar("R")


class PrivacyError(Exception):
    """The gate could not do its work: nothing may leave."""


class OutsideRefused(PrivacyError):
    """An address to which study data may not go."""


class Deidentified(str):
    """Text that passed the gate. Only `Gate` makes it; joining two gives a plain str again."""

    __slots__ = ()

    def __new__(cls, text: str, seal: object = None) -> Deidentified:
        """Raises TypeError for anybody but the gate."""
        if seal is not _SEAL:
            raise TypeError("only integrations.privacy.Gate makes Deidentified text")
        return super().__new__(cls, text)

    def __reduce__(self) -> NoReturn:
        """A pickled value would come back without passing the gate."""
        raise TypeError("Deidentified text is not stored")


def require_local(url: str) -> None:
    """Refuse an address to which not even de-identified text may go. Raises OutsideRefused.

    Outside of this machine only https. Plain http goes to this machine, and to a private address that
    the environment allows: `PRIVATE_HTTP_HOSTS`, a comma list of addresses or networks.
    """
    try:
        parts = urlsplit(url)
        host, _port = parts.hostname or "", parts.port
    except ValueError:
        raise OutsideRefused("this is no address") from None
    address = _address(host)
    if not host or parts.username is not None or parts.password is not None:
        raise OutsideRefused("an address has a host and no credentials")
    if parts.scheme in ("http", "https") and (
        host == "localhost" or (address and address.is_loopback)
    ):
        return
    if address and (address.is_link_local or address.is_multicast or address.is_unspecified):
        raise OutsideRefused("this address is not a server's")
    if parts.scheme == "https" or (parts.scheme == "http" and address and _is_allowed(address)):
        return
    raise OutsideRefused("outside of this machine only https is allowed")


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def _is_allowed(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    listed = os.environ.get("PRIVATE_HTTP_HOSTS", "").split(",")
    networks = (_network(text.strip()) for text in listed if text.strip())
    return address.is_private and any(network and address in network for network in networks)


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None


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
    `birth_fields`: replaced by the age on `today`; `labels`: field -> label, for gene fields.
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
    ) -> None:
        self._known = [known] if isinstance(known, Known) else list(known)
        self._lock = threading.RLock()
        self._identifier_fields = frozenset(identifier_fields)
        self._birth_fields = frozenset(birth_fields)
        self._labels = dict(labels or {})
        self._today = today
        self._key = digest_key or b"privacy"
        self._placeholders: dict[tuple[str, str], str] = {}
        self._own: dict[str, str] = {}
        self._counts: dict[str, int] = {}
        self._from_reader = False

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

    @_fail_closed
    def text(self, raw: str, *, own: bool = False) -> Deidentified:
        """`raw` without identifiers. `own`: the reader's own words, which `restore` may give back."""
        if isinstance(raw, Deidentified):
            return raw
        with self._lock:
            self._from_reader = own
            try:
                return Deidentified(self._mask(raw), _SEAL)
            finally:
                self._from_reader = False

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

    def _token(self, kind: str, value: str) -> str:
        key = (kind, squeeze(value))
        token = self._placeholders.get(key)
        if token is None:
            self._counts[kind] = self._counts.get(kind, 0) + 1
            token = self._placeholders[key] = f"[{kind}#{self._counts[kind]}]"
        if self._from_reader:
            self._own[token] = value
        return token

    def _steady(self, raw: str) -> str:
        found = _sketch(raw, tuple(self._known), self._today)
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
        text = identifiers.normalise(raw)
        for known in self._known:
            text = self._mask_known(text, known)
        text = self._mask_numbered(text)
        for known in self._known:
            text = self._substitute(NAME, known.addressed, text)
        text = self._mask_births(text)
        for pattern in PATTERNS:
            text = self._substitute(pattern.kind, pattern.regex, text)
        for regex in NAMES:
            text = self._substitute(NAME, regex, text)
        return text

    def _substitute(self, kind: str, regex: re.Pattern[str], text: str) -> str:
        def replace(found: re.Match[str]) -> str:
            group = found.lastindex or 0
            if PLACEHOLDER.search(found[group]) or self._is_kept(found[group]):
                return found[0]
            start, end = found.start(group) - found.start(), found.end(group) - found.start()
            return f"{found[0][:start]}{self._token(kind, found[group])}{found[0][end:]}"

        return regex.sub(replace, text)

    def _is_kept(self, value: str) -> bool:
        """Record ids stay, whatever number they look like."""
        folded = value.strip().casefold()
        return any(folded in known.kept for known in self._known)

    def _mask_known(self, text: str, known: Known) -> str:
        pieces: list[str] = []
        position = copied = 0
        while (start := known.start.search(text, position)) is not None:
            bucket, kinds = known.buckets.get(start[0].casefold(), (NEVER, {}))
            found = bucket.match(text, start.start())
            if found is None:
                position = start.end()
                continue
            kind = kinds.get(squeeze(found[0]), "标识")
            pieces += [text[copied : found.start()], self._token(kind, found[0])]
            position = copied = found.end()
        return "".join([*pieces, text[copied:]]) if pieces else text

    def _mask_numbered(self, text: str) -> str:
        """Subjects whose id is a bare number, where the words around say that it is one."""
        numbers = frozenset[str]().union(*(known.numbers for known in self._known))

        def subject(found: re.Match[str]) -> str:
            return self._token(SUBJECT, found[0]) if found[0] in numbers else found[0]

        for regex in SUBJECT_NUMBERS if numbers else ():
            text = regex.sub(lambda found: SHORT_ID.sub(subject, found[0]), text)
        return text

    def _mask_births(self, text: str) -> str:
        def age(found: re.Match[str]) -> str:
            years = age_on(found[1], self._today)
            shown = f"年龄{years}岁" if years is not None else self._token(BIRTH, found[1])
            self._placeholders.setdefault((BIRTH, found[1]), shown)
            return shown if years is not None else found[0].replace(found[1], shown)

        for regex in BIRTH_DATES:
            text = regex.sub(age, text)
        return text

    def _clean(self, obj: Any) -> Any:
        if isinstance(obj, Mapping):
            return self._clean_mapping(obj)
        if isinstance(obj, list | tuple | set | frozenset):
            items = (self._clean(item) for item in obj if not self._is_dropped_row(item))
            return list(items)
        if obj is None or isinstance(obj, bool):
            return obj
        if isinstance(obj, int | float):
            masked = self._mask(str(obj))
            return obj if masked == str(obj) else masked
        return str(self.text(obj)) if isinstance(obj, Deidentified) else self._mask(str(obj))

    def _clean_mapping(self, obj: Mapping[Any, Any]) -> dict[str, Any]:
        clean: dict[str, Any] = {}
        for key, value in obj.items():
            name = str(key)
            if self._is_birth(name, value):
                years = age_on(str(value), self._today)
                clean |= {"age": years} if years is not None and "age" not in obj else {}
            elif not self.drops(name):
                clean[self._mask(name)] = self._clean(value)
        return clean

    def _is_birth(self, name: str, value: Any) -> bool:
        """A field of birth, or a date below a label of one (a weight at birth is none)."""
        labelled = BIRTH_FIELD.search(name) and DATED.match(str(value))
        return name in self._birth_fields or bool(labelled)

    def _is_dropped_row(self, item: Any) -> bool:
        if not isinstance(item, Mapping):
            return False
        name = str(item.get("field") or item.get("field_name") or "")
        return name in self._birth_fields or self.drops(name, str(item.get("label") or ""))

    def drops(self, name: str, label: str = "") -> bool:
        """Whether a field never leaves: an identifier by flag, name or label, or genes (redcap_dify.md 5.2)."""
        base = name.split("___")[0]
        if base in self._identifier_fields:
            return True
        label = label or self._labels.get(base, "")
        if identifiers.identifies(base, label):
            return True
        return bool(GENE.search(base) or GENE.search(label))


@dataclass(frozen=True)
class _Sketch:
    """A masked text without the numbers of its placeholders: (kind, value) stands for one.

    `met`: (kind, value, age or "") of everything masked, in the order in which it was found.
    """

    pieces: tuple[str | tuple[str, str], ...]
    met: tuple[tuple[str, str, str], ...]


@lru_cache(maxsize=64)
def _sketch(raw: str, known: tuple[Known, ...], today: date | None) -> _Sketch | None:
    """What a gate with these lists makes of a text; None where it holds placeholders already."""
    if PLACEHOLDER.search(identifiers.normalise(raw)):
        return None
    blank = Gate(known, today=today)
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
