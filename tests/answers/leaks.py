"""What must stand in no line of any prompt: identifiers, genes, other sites' subjects (design.md 9.1, 9.7)."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_STUDY = Path(__file__).resolve().parents[2] / "demo" / "study" / "redcap"
_SITES = {"wanghushi": "site_a", "crc_b": "site_b"}
_SUBJECT = re.compile(r"(?<![A-Za-z0-9])P\d{3}(?!\d)|(?<![A-Za-z\d])007(?!\d)")
_DOCUMENT = re.compile(r"\s*\[D\d+[a-z]?\]")
_GENE = re.compile(r"(?:P\d{3}|007).{0,20}EGFR")


@cache
def _sites() -> dict[str, str]:
    """The site of every subject."""
    records = json.loads((_STUDY / "records.json").read_text("utf-8"))
    return {row["record"]: row["dag"] for row in records}


@cache
def identifiers() -> frozenset[str]:
    """The value of every identifier field of every subject."""
    with (_STUDY / "metadata.csv").open(encoding="utf-8") as lines:
        names = {row["field_name"] for row in csv.DictReader(lines) if row["identifier"] == "y"}
    records = json.loads((_STUDY / "records.json").read_text("utf-8"))
    found = (row["values"].get(name, "") for row in records for name in names)
    return frozenset(value for value in found if value)


def leaks(user: str, asked: str, prompt: str) -> Iterator[str]:
    """What of a prompt should not be there; subjects that the reader named themselves may be.

    The protocol names subjects as examples: its lines are passed over for those.
    """
    yield from (value for value in identifiers() if value in prompt and value not in asked)
    site = _SITES.get(user)
    known = _sites()
    for line in prompt.splitlines():
        if _GENE.search(line):
            yield line[:80]
        if site and not _DOCUMENT.match(line):
            named = set(_SUBJECT.findall(line)) - set(_SUBJECT.findall(asked))
            yield from (f"{one}: {line[:80]}" for one in named if known.get(one, site) != site)
