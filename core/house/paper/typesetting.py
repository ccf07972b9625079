"""Has typst set something, in a process of its own; with the bundled font alone."""

from __future__ import annotations

import bisect
import json
import logging
import struct
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent
_FONT = _HERE / "fonts" / "NotoSansSC-Regular.ttf"
_UNKNOWN = "□"
logger = logging.getLogger(__name__)


class TypesetError(Exception):
    """The file could not be made, within its time and memory."""


def typeset(kind: str, given: Any, *, starts: bytes, seconds: float) -> bytes:
    """The file of `kind` (`paper`, `picture`) that shows `given`, which JSON can hold; it begins with `starts`.

    Raises TypesetError; the reason is in the log.
    """
    text = json.dumps(_printable(given), ensure_ascii=False).encode()
    # -I: neither the environment nor the working directory decides what the process imports.
    command = [sys.executable, "-I", str(_HERE / "typeset.py"), kind]
    try:
        done = subprocess.run(  # noqa: S603 - a fixed command; what is to be set is its input
            command, input=text, capture_output=True, timeout=seconds, env={}, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise TypesetError from error
    if done.returncode or not done.stdout.startswith(starts):
        # The last line alone: what comes before may quote what was to be set.
        last = done.stderr.decode(errors="replace").strip().rpartition("\n")[2][:200]
        logger.error("A %s could not be typeset (%s): %s", kind, done.returncode, last)
        raise TypesetError
    return done.stdout


def _printable(given: Any) -> Any:
    """The same with a mark for each character that the font does not have: no other font steps in."""
    if isinstance(given, str):
        return "".join(char if char == "\n" or _has(ord(char)) else _UNKNOWN for char in given)
    if isinstance(given, dict):
        return {name: _printable(value) for name, value in given.items()}
    if isinstance(given, list | tuple):
        return [_printable(one) for one in given]
    return given


def _has(code: int) -> bool:
    firsts, lasts = _coverage()
    place = bisect.bisect_right(firsts, code) - 1
    return place >= 0 and code <= lasts[place]


@cache
def _coverage() -> tuple[tuple[int, ...], tuple[int, ...]]:
    """First and last characters of the runs that the font has (OpenType, `cmap`, format 4)."""
    data = _FONT.read_bytes()
    (tables,) = struct.unpack_from(">H", data, 4)
    records = (struct.unpack_from(">4sIII", data, 12 + 16 * n) for n in range(tables))
    base = next(at for tag, _sum, at, _length in records if tag == b"cmap")
    (count,) = struct.unpack_from(">H", data, base + 2)
    places = [struct.unpack_from(">HHI", data, base + 4 + 8 * n)[2] for n in range(count)]
    at = next(base + p for p in places if struct.unpack_from(">H", data, base + p) == (4,))
    (segments,) = struct.unpack_from(">H", data, at + 6)
    number = segments // 2
    lasts = struct.unpack_from(f">{number}H", data, at + 14)
    firsts = struct.unpack_from(f">{number}H", data, at + 16 + segments)
    # The run that ends a table stands for no character.
    return firsts[:-1], lasts[:-1]
