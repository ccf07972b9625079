"""Makes text that a model or a person wrote harmless in a WeCom message (wecom.md 3.2; O18).

Links, colours and id templates written by a model could show one thing and open another; what is left
is readable text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

# The only tags WeCom brings to life, also as entities; "<5 mg" and "<LOD" are data and stay.
_TAG = re.compile(
    r"(?:<|&lt;?|&#0*60;?|&#x0*3c;?)(?=/?\s*(?:a|font)\b|@)",
    re.IGNORECASE,
)
_TEMPLATE = re.compile(r"\$(?=[A-Za-z]+\s*=[^$\n]*\$)")
_LINK = re.compile(r"\[([^\[\]\n]*)\]\(([^()\s]*)\)")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def neutralise(text: str, *, markdown: bool = False) -> str:
    """`text` without live tags and templates; in markdown links show their address.

    Control characters go: JSON would escape them and WeCom refuses escapes (errcode 40033).
    """
    clean = _SURROGATE.sub(
        "\ufffd", _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    )
    clean = _TEMPLATE.sub("＄", _TAG.sub("＜", clean))
    if not markdown:
        return clean
    # What is no simple link (brackets in its text, its address) must not become one either.
    return _LINK.sub(r"\1 (\2)", clean).replace("](", "] (")


def masked(text: str, identifiers: Iterable[str]) -> str:
    """`text` without the values that identify a subject: a message stays in a chat for ever."""
    for value in identifiers:
        if len(value) > 1:
            text = text.replace(value, "***")
    return text
