"""What a look at the set-up of WeCom found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One line: what was looked at, whether it is well, what was seen, what to do if not."""

    name: str
    ok: bool
    seen: str = ""
    remedy: str = ""
