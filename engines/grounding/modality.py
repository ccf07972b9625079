"""Whether a statement allows, forbids or denies what it speaks of."""

from __future__ import annotations

import re

PERMIT, FORBID = "permit", "forbid"

_SET_FREE = re.compile(
    r"(?:不在|不属于|不属|不被|不视为|并非|不是|非|不|未被?|无需|不需要?|不必)(?:在|属于)?"
    r"(?:禁止|禁用|排除|除外)(?:之列|范围|标准)?|不受限制?|(?:没有|无|不作|不设)(?:任何)?限制"
)
_FORBIDS = re.compile(
    r"不得|严?禁止|严禁|禁用|禁忌|不可(?!评价|测量|逆|预)以?|不能|不允许|不准|不应|不宜|不建议|避免|排除(?!标准)|除外|不适合|不再符合"
)
_PERMITS = re.compile(
    r"可以|允许|准许|准予|方可|能够|(?<![不认许只])可(?=入|使|合|继|参|接|服|用|补|提|在|进)|(?<!可)能(?=入|使|合|继|参|接|服|用|补|提)"
)
_LISTS = (
    (re.compile(r"排除标准"), FORBID),
    (re.compile(r"(?:入选|纳入|入组)(?:标准|条件)"), PERMIT),
)
_HEADS = (
    (re.compile(r"排除|禁止|禁用|不得"), FORBID),
    (re.compile(r"入选|纳入|方可"), PERMIT),
)
_LEXICAL = re.compile(
    r"不良|不适|不详|不稳定|不限|不同|不明|不全|不晚于|不早于|不[低高少多大小]于|信息不全|不超过|不足|不低|不高|"
    r"无关|无效|无进展|无病生存|非小细胞|非处方|非禁用|非预期|未知|未成年|未控制|未缓解|没错|是否|有无|能否|可否"
)
_DENIES = re.compile(
    r"无需|不需|不必|否认|没有|未|没|无(?!论)|不|非|除外|从未|尚未|:\s*(?:否|阴性)"
)


def modality(text: str) -> str:
    """PERMIT or FORBID for what a text says is allowed or not; "" when it says neither."""
    freed = _SET_FREE.search(text)
    rest = _SET_FREE.sub(" ", text)
    if _FORBIDS.search(rest):
        return FORBID
    if freed or _PERMITS.search(rest):
        return PERMIT
    return next((kind for words, kind in _LISTS if words.search(rest)), "")


def of_heading(text: str) -> str:
    """What a heading, or the line before a list, makes of all that stands under it."""
    return next((kind for words, kind in _HEADS if words.search(text)), "")


def denies(text: str) -> bool:
    """Whether a text denies something; bounds (不低于) and names (非小细胞) deny nothing."""
    for words in (_SET_FREE, _FORBIDS, _LEXICAL):
        text = words.sub(" ", text)
    return _DENIES.search(text) is not None


def denied_at(text: str, start: int) -> bool:
    """Whether what begins at `start` is denied by what stands before it in its clause."""
    before = re.split(
        r"[,。;!?]|但|而是", _LEXICAL.sub(lambda hit: " " * len(hit[0]), text[:start])
    )[-1]
    return _DENIES.search(before) is not None
