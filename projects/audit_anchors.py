"""Where the chains of the audit trail ended, kept outside the database (design.md 9.9).

A JSON line for each chain that has grown, only ever appended to the file of the setting AUDIT_ANCHORS and
said in the log. Each line is signed and holds the signature of the line before. The database knows how far
the anchors reach (`AuditHead.anchored`): who cuts one of the two is given away by the other.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from django.conf import settings
from django.db.models import F
from django.utils.timezone import now

from core.house import key_ring
from projects.models.audit import AuditEntry, AuditHead

log = logging.getLogger(__name__)
FILE = "anchors"
SIGNED_AS = "audit anchor"
TAIL = 256 * 1024


@dataclass(frozen=True)
class Break:
    """A place where the trail does not hold: an entry of a chain, a line of the file of anchors, a trigger."""

    chain: str
    number: int
    what: str


@dataclass(frozen=True)
class Anchor:
    """A line of the file; `previous` is the signature of the line before."""

    line: int
    at: str
    chain: str
    seq: int
    hash: str
    previous: str
    signature: str = ""

    @property
    def content(self) -> bytes:
        """What the signature covers."""
        values = self.__dict__ | {"signature": ""}
        return json.dumps(values, sort_keys=True, ensure_ascii=False).encode()

    def signed(self) -> Anchor:
        """The line as it is written."""
        return Anchor(**self.__dict__ | {"signature": key_ring.sign(SIGNED_AS, self.content)})

    @property
    def text(self) -> bytes:
        """The line itself."""
        return json.dumps(self.__dict__, ensure_ascii=False).encode() + b"\n"

    def is_sound(self) -> bool:
        """Whether we wrote it."""
        return key_ring.is_signed(SIGNED_AS, self.content, self.signature)


@dataclass
class Anchors:
    """What the file says: for each chain the hash at a number; and where it is not what was written.

    `line` and `signature` are those of the last line; None where nothing is known of it.
    """

    line: int | None = 0
    signature: str | None = ""
    chains: dict[str, dict[int, str]] = field(default_factory=lambda: defaultdict(dict))
    faults: list[Break] = field(default_factory=list)

    def add(self, text: bytes) -> None:
        """Take in the next line."""
        anchor = _parse(text)
        place = anchor.line if anchor and self.line is None else (self.line or 0) + 1
        if anchor is None:
            self.faults.append(Break(FILE, place, "anchor changed"))
            self.line, self.signature = place, None
            return
        if anchor.line != place or self.signature not in (None, anchor.previous):
            self.faults.append(Break(FILE, place, "anchor missing"))
        self.chains[anchor.chain][anchor.seq] = anchor.hash
        self.line, self.signature = anchor.line, anchor.signature

    def lost(self) -> Iterator[Break]:
        """Where the anchors reached further than the file does now."""
        for chain, number in AuditHead.objects.order_by("chain").values_list("chain", "anchored"):
            here = self.line or 0 if chain == FILE else max(self.chains.get(chain, {}), default=0)
            if number > here:
                yield Break(chain, number, "anchor missing")


def path() -> Path:
    """The file of the anchors."""
    return Path(settings.AUDIT_ANCHORS or Path(settings.VAR_DIR) / "audit-anchors.jsonl")


def read_anchors() -> Anchors:
    """All of the file; one that is not there says nothing."""
    found = Anchors()
    with suppress(FileNotFoundError), path().open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        for text in file:
            found.add(text)
    return found


@contextmanager
def held() -> Iterator[Path]:
    """The file, into which nothing is written meanwhile; made where there is none."""
    with _locked():
        yield path()


def take() -> int:
    """Anchor every chain that has grown since the last time; how many. Outside of any transaction."""
    with _locked() as handle:
        last = _tail(handle)
        known = AuditHead.objects.filter(chain=FILE).values_list("anchored", flat=True).first()
        line, signature = max(last.line or 0, known or 0), last.signature or ""
        made = []
        for chain, seq in _grown():
            line += 1
            anchor = Anchor(line, now().isoformat(), chain, seq, hash_at(chain, seq), signature)
            made.append(anchor.signed())
            signature = made[-1].signature
        os.write(handle, b"".join(one.text for one in made))
        os.fsync(handle)
    for one in made:
        log.info("audit anchor %s", one.text.decode().strip())
    _note(made)
    return len(made)


def faults() -> list[Break]:
    """What a short look finds wrong: at the end of the file, and of the chains that it speaks of."""
    try:
        with path().open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH)
            last = _tail(file.fileno())
    except FileNotFoundError:
        last = Anchors()
    found = last.faults + [lost for lost in last.lost() if lost.chain == FILE]
    for chain, anchored in sorted(last.chains.items()):
        seq = max(anchored)
        if (there := hash_at(chain, seq)) != anchored[seq]:
            found.append(Break(chain, seq, "not as anchored" if there else "missing"))
    return found


def end(chain: str) -> tuple[int, str]:
    """How long a chain is now, and the hash of its last entry."""
    lengths = AuditHead.objects.filter(chain=chain).values_list("length", flat=True)
    number = lengths.first() or 0
    return number, hash_at(chain, number)


def hash_at(chain: str, number: int) -> str:
    """The hash of an entry; "" where there is none."""
    rows = AuditEntry.objects.filter(chain=chain, number=number)
    return rows.values_list("hash", flat=True).first() or ""


def _parse(text: bytes) -> Anchor | None:
    try:
        anchor = Anchor(**json.loads(text))
    except (ValueError, TypeError):
        return None
    return anchor if anchor.is_sound() else None


@contextmanager
def _locked() -> Iterator[int]:
    handle = os.open(path(), os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield handle
    finally:
        os.close(handle)


def _tail(handle: int) -> Anchors:
    """The last lines of the file: enough to go on, and for a short look."""
    size = os.fstat(handle).st_size
    start = max(size - TAIL, 0)
    lines = os.pread(handle, size - start, start).splitlines()
    found = Anchors(None, None) if start else Anchors()
    for text in lines[1:] if start else lines:
        found.add(text)
    return found


def _grown() -> list[tuple[str, int]]:
    rows = AuditHead.objects.filter(length__gt=F("anchored")).order_by("chain")
    return list(rows.values_list("chain", "length"))


def _note(made: list[Anchor]) -> None:
    """Let the database know how far the anchors reach, once they are on the disk."""
    if not made:
        return
    AuditHead.objects.bulk_create([AuditHead(chain=FILE)], ignore_conflicts=True)
    for chain, reached in [*((one.chain, one.seq) for one in made), (FILE, made[-1].line)]:
        AuditHead.objects.filter(chain=chain, anchored__lt=reached).update(anchored=reached)
