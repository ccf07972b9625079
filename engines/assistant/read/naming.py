"""What people call a field: the words inside its label, each with how much of the label it is."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

_PAREN = re.compile(r"\(([^)]*)\)")
_PARTS = re.compile(r"[一-鿿]+|[a-z][a-z0-9.\-]*|\d+")
_PREFIX = re.compile(r"^(?:是否(?:存在|有)?|有无|有)")
_SUFFIX = re.compile(r"(?:签署)?(?:日期|时间|评分|名称|结果|版本|判断|文字|记录|登记|表)$")
# What is left of a name without 日期 or 版本 is a word for something else: 筛选, 入组.
_DAY = ("日期", "时间", "版本")
_UNIT = re.compile(r"[%/^×μ]|^(?:cm|kg|mmhg|mm|g|次|岁|年|月|日|天|℃|°c|bpm)$")
_SPLIT = re.compile(r"[与和及、/,或]")
_CARRY_NOTHING = frozenset(
    re.findall(
        r"\w+",
        "日期 时间 结果 状态 名称 病人 患者 受试者 情况 数据 记录 访视 是否 "
        "有无 编号 研究 首次 正常 检查 类型 类别 情形 其他 未知 判断 判定 单位 "
        "用药 药物 计算 登记 表 上限 下限 版本 评分 存在 是否存在 研究药物 关系 ",
    )
)
_ROMAN = {"viii": "8", "vii": "7", "iii": "3", "iv": "4", "vi": "6", "ii": "2", "i": "1", "v": "5"}
_ROMAN_NUMERAL = re.compile(r"(?<![a-z])(viii|vii|iii|iv|vi|ii|i|v)(?=[abc]?(?:期|级|型|类|度|$))")
# IVA and IVB are stage IV.
_SUBSTAGE = re.compile(r"([ivx]+|[1-9一二三四])[abc]\d?期")
_HAN_DIGITS = "零一二三四五六七八九"
MOST_LETTERS = 16


@lru_cache(maxsize=4096)
def fold(text: str) -> str:
    """One spelling for matching: NFKC, lower case, no blanks around."""
    return unicodedata.normalize("NFKC", text).casefold().strip()


def whole_names(label: str) -> list[str]:
    """The names that stand for the whole label: 谷丙转氨酶ALT(U/L) -> with and without its abbreviation."""
    text = fold(label)
    bare = _PAREN.sub("", text).strip()
    found = [text, bare] + ([] if bare.endswith(_DAY) else [_core(bare)])
    for inside in _PAREN.findall(text):
        if len(inside) > 1 and not _UNIT.search(inside):
            found += [inside, *(p for p in _SPLIT.split(inside) if len(p) > 1)]
    parts = _PARTS.findall(_core(bare))
    if len(parts) == 2 and parts[1].isascii() and not parts[0].isascii():
        found += parts
    return list(dict.fromkeys(name for name in found if _tells(name)))


def _core(text: str) -> str:
    return _PREFIX.sub("", _SUFFIX.sub("", text)) or text


def _tells(name: str) -> bool:
    return len(name) > 1 and name not in _CARRY_NOTHING and not name.isdigit()


def parts_of(label: str) -> Iterator[tuple[str, float]]:
    """Every piece of a label of two characters and more, with its share of it; Latin words only whole.

    None begins with 的: what people say before it is another word (第1年的关键决策, 与药物的关系).
    """
    bare = _PAREN.sub("", fold(label))
    size = max(1, sum(len(part) for part in _PARTS.findall(bare)))
    for part in _PARTS.findall(bare):
        if part.isascii():
            if len(part) > 1 and _tells(part):
                yield part, len(part) / size
            continue
        text = part[:MOST_LETTERS]
        for start in range(len(text)):
            for end in range(start + 2, len(text) + 1):
                if text[start] != "的" and text[start:end] not in _CARRY_NOTHING:
                    yield text[start:end], (end - start) / size


def choice_names(label: str) -> list[str]:
    """What people call a choice: its label, the parts of an or, its numeral written otherwise (ⅢB, 3B, 三B)."""
    text = fold(label)
    bare = _PAREN.sub("", text).strip()
    names = [text, bare, *(p.strip() for p in _SPLIT.split(bare) if len(p.strip()) > 1)]
    for name in list(names):
        digits = _ROMAN_NUMERAL.sub(lambda m: _ROMAN[m[1]], name)
        if digits != name:
            spelt = re.sub(r"\d", lambda m: _HAN_DIGITS[int(m[0])], digits)
            names += [digits, spelt, *(n.removesuffix("期") for n in (name, digits, spelt))]
        elif re.fullmatch(r"\d(?:级|分|期|度)", name):
            names.append(_HAN_DIGITS[int(name[0])] + name[1:])
    main = (_SUBSTAGE.sub(r"\1期", name) for name in list(names) if _SUBSTAGE.fullmatch(name))
    return list(dict.fromkeys(name for name in (*names, *main) if name))


def denied(label: str) -> str:
    """What a choice says that it is not: 其他(非禁用) -> 禁用; "" where it denies nothing."""
    inside = (part.strip() for part in _PAREN.findall(fold(label)))
    return next((part[1:] for part in inside if part.startswith("非") and len(part) > 2), "")


def choice_tails(label: str) -> list[str]:
    """The last words of a long label, which people say alone: 全身性免疫抑制剂 -> 免疫抑制剂."""
    bare = _PAREN.sub("", fold(label)).strip()
    han = _PARTS.findall(bare)[-1:]
    if not han or han[0].isascii() or len(han[0]) < 5 or not bare.endswith(han[0]):
        return []
    return [han[0][start:] for start in range(1, len(han[0]) - 2)]
