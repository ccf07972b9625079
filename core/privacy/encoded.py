"""Text inside text: runs of base64, hex or escaped bytes, with what they say once decoded."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator
from urllib.parse import unquote_to_bytes

_SHORTEST, _LONGEST = 8, 4000
_RUNS: tuple[tuple[re.Pattern[str], Callable[[str], bytes]], ...] = (
    (
        re.compile(rf"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{{{_SHORTEST},{_LONGEST}}}={{0,2}}"),
        lambda run: base64.b64decode(
            run.rstrip("=").translate(str.maketrans("-_", "+/"))
            + "=" * (-len(run.rstrip("=")) % 4),
            validate=True,
        ),
    ),
    (
        re.compile(
            rf"(?<![0-9A-Za-z])(?:0x)?((?:[0-9A-Fa-f]{{2}}[ :]?){{5,{_LONGEST}}})(?![0-9A-Za-z])"
        ),
        lambda run: bytes.fromhex(run.removeprefix("0x").replace(":", " ")),
    ),
    (
        re.compile(r"(?:%[0-9A-Fa-f]{2}){4,4000}"),
        unquote_to_bytes,
    ),
    (
        re.compile(r"(?:\\{1,2}x[0-9A-Fa-f]{2}){4,4000}"),
        lambda run: bytes.fromhex(run.replace("\\", "").replace("x", "")),
    ),
    (
        re.compile(r"(?:\\{1,2}[0-3][0-7]{2}){4,4000}"),
        lambda run: bytes(int(part, 8) for part in run.split("\\") if part),
    ),
)


def runs(text: str) -> Iterator[tuple[int, int, str]]:
    """(start, end, decoded) of every run that is printable text in UTF-8; runs do not overlap."""
    taken = 0
    for start, end, told in sorted(_found(text)):
        if start >= taken:
            taken = end
            yield start, end, told


def _found(text: str) -> Iterator[tuple[int, int, str]]:
    for regex, decode in _RUNS:
        for hit in regex.finditer(text):
            try:
                told = decode(hit[0].strip()).decode()
            except ValueError:
                continue
            if told.replace("\n", "").isprintable():
                yield hit.start(), hit.end(), told
