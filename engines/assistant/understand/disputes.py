"""Whether a reader says that the last question was understood as another one."""

from __future__ import annotations

import re

_MEANT = re.compile(
    r"不是(?:这个|那个|我的?)?的?意思|(?:理解|搞|弄|会)错|问的可?不是|不是[问要][这那]个?"
    r"|not what i (?:meant|asked)",
    re.IGNORECASE,
)


def disputes(text: str) -> bool:
    """不是这个意思, 你理解错了, 我问的不是这个."""
    return bool(_MEANT.search(text))
