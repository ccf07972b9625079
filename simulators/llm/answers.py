"""Extractive answers: the pieces of the request that fit the question, worded briefly."""

from __future__ import annotations

import re
from collections import Counter

from simulators.llm.material import Material, Unit
from simulators.llm.protocol import Chat
from simulators.llm.text import (
    DATE,
    asked,
    count_tokens,
    cut_tokens,
    ids,
    is_chinese,
    score,
    weights,
)

NOT_FOUND = "我在提供的资料中没有找到相关信息。"
NOT_FOUND_EN = "I found nothing about this in the material provided."
GREETING = re.compile(
    r"^\s*(?:你好|您好|早上好|上午好|下午好|晚上好|在吗|嗨|hi|hello|hey)[\s,，。!！?？~]*$", re.I
)
THANKS = re.compile(
    r"^\s*(?:谢谢|多谢|感谢|辛苦了|好的|收到|thanks|thank you|ok)[\s\w,，。!！~]{0,8}$", re.I
)
SUMMARY = re.compile(r"总结|汇总|提炼|摘要|概括|归纳|周报|报告|summar|report|digest", re.I)
LIMIT = re.compile(
    r"(?:不超过|不多于|控制在|≤|少于|within|at most)\s*(\d{2,4})\s*(?:个)?(?:汉)?字|(\d{2,4})\s*字(?:以内|之内)"
)
FACTOR = {"tool": 1.0, "data": 1.0, "text": 0.95, "given": 0.95, "lead": 0.75, "talk": 0.6}
ENOUGH, SURE = 0.2, 0.35
NEAR_BEST = 0.6
# A section or column that is called what the question asks for is about it.
TITLED, DATED, NAMED, COUNTED = 1.5, 2.0, 1.5, 2.0
BACKGROUND = ("lead", "talk")
COVERED = 0.6
A_LIST, A_FEW = 3, 4
WHEN = re.compile(r"什么时候|何时|哪[天日]|几[号月]|日期|\bwhen\b|\bdate\b", re.I)
HOW_MANY = re.compile(r"多少|几[例个名位次条人]|人数|例数|\bhow many\b", re.I)
SECTION = re.compile(r"^(?:\d+(?:\.\d+)*[.、]?|[一二三四五六七八九十]+、)\s*(?=\D)")
CLAUSE = re.compile(r"[，,：:；;。（(]")
MOST_UNITS = 8
LISTED = 12
LONGEST = 300


def answer(chat: Chat, material: Material) -> str:
    """The text of an answer, at most `max_tokens` long."""
    text = _small_talk(material.question) or _extract(chat, material)
    return text if chat.max_tokens is None else cut_tokens(text, chat.max_tokens)


def _small_talk(question: str) -> str:
    chinese = is_chinese(question)
    if GREETING.match(question):
        return "您好！请问有什么可以帮您？" if chinese else "Hello! How can I help you?"
    if THANKS.match(question):
        return "不客气，随时为您服务。" if chinese else "You are welcome."
    return ""


def _extract(chat: Chat, material: Material) -> str:
    chosen = choose(material)
    chinese = is_chinese(material.question) or not material.question
    if material.has_figures and not [unit for unit in chosen if unit.source == "tool"]:
        return ""
    if not chosen:
        return NOT_FOUND if chinese else NOT_FOUND_EN
    return word(chosen, material, limit=_limit(chat), chinese=chinese)


def _limit(chat: Chat) -> int:
    text = "\n".join(message.content for message in chat.messages)
    found = [int(one or two) for one, two in LIMIT.findall(text)]
    return min([LONGEST, *found])


def choose(material: Material) -> list[Unit]:
    """The units that answer the question, in their order; empty when nothing fits."""
    units, named = _of_named_records(material)
    if SUMMARY.search(material.question):
        attached = [unit for unit in units if unit.source in ("tool", "data", "given", "text")]
        if attached:
            return attached[:LISTED]
    weight = weights([set(unit.words) for unit in units])
    scored = [(_fits(unit, material, weight), unit) for unit in units]
    best = max((value for value, _ in scored), default=0.0)
    told = {u.source for value, u in scored if value == best}
    fetched = _fetched(units, named=named)
    if best < (SURE if fetched and told <= {*BACKGROUND} else ENOUGH):
        return fetched
    near = [(value, unit) for value, unit in scored if value >= best * NEAR_BEST]
    return _narrowed(sorted(near, key=lambda pair: -pair[0]), material)


def _fits(unit: Unit, material: Material, weight: dict[str, float]) -> float:
    value = score(material.query, set(unit.words), weight) * FACTOR[unit.source]
    value *= TITLED if _is_titled(unit, material.query) else 1.0
    value *= NAMED if _is_named(unit, material) else 1.0
    value *= COUNTED if _is_counted(unit, material) else 1.0
    return value * (DATED if _is_dated(unit, material) else 1.0)


def _narrowed(near: list[tuple[float, Unit]], material: Material) -> list[Unit]:
    """Of the units that fit, best first, those that answer: what was read rather than the background,
    the items of the section that is asked for, a date when a date is asked for, a number when it is "how many".
    """
    units = [unit for _, unit in near]
    units = [u for u in units if u.source not in BACKGROUND] or units
    items = [unit for unit in units if unit.item and _is_below(unit, material.query)]
    if len(items) >= A_LIST:
        return sorted(items, key=lambda unit: unit.order)[:LISTED]
    if _is_titled(units[0], material.query):
        units = [unit for unit in units if _is_titled(unit, material.query)]
    units = [unit for unit in units if _is_named(unit, material)] or units
    units = [unit for unit in units if _is_dated(unit, material)] or units
    units = [unit for unit in units if _is_counted(unit, material)] or units
    return sorted(units[:MOST_UNITS], key=lambda unit: unit.order)


def _is_named(unit: Unit, material: Material) -> bool:
    return bool({*material.ids} & {*ids(f"{unit.text} {unit.context}")})


def _is_dated(unit: Unit, material: Material) -> bool:
    return bool(WHEN.search(material.question) and DATE.search(unit.text))


def _is_counted(unit: Unit, material: Material) -> bool:
    """Whether it is a figure, and "how many" is asked."""
    figure = isinstance(unit.value, (int, float)) or str(unit.value or "").strip().isdigit()
    return figure and bool(HOW_MANY.search(material.question))


def _is_titled(unit: Unit, query: set[str]) -> bool:
    """Whether it stands in a section, or is a row, that is called what the question asks for."""
    row = asked(unit.label) if unit.item else set()
    whole = row <= query and len(row) > COVERED * len(query)
    return (bool(row) and whole) or _is_below(unit, query)


def _is_below(unit: Unit, query: set[str]) -> bool:
    """Whether its section or column is called what the question asks for."""
    titles = (asked(SECTION.sub("", unit.context)), asked(unit.column))
    return any(title and title <= query for title in titles)


def _of_named_records(material: Material) -> tuple[list[Unit], bool]:
    """Without the data of records that the question does not name, when it names some."""
    wanted = {name.lower() for name in material.ids}
    if not wanted:
        return list(material.units), False
    units = [u for u in material.units if not u.owner or u.owner.lower() in wanted]
    units = [u for u in units if u.source not in BACKGROUND or not _of_another(u, wanted)]
    return units, any(u.owner.lower() in wanted for u in units if u.owner)


def _of_another(unit: Unit, wanted: set[str]) -> bool:
    """Whether background speaks of records, and of none that the question names."""
    told = {name.lower() for name in ids(unit.text) if not name.isdigit()}
    return bool(told) and not told & wanted


def _fetched(units: list[Unit], *, named: bool) -> list[Unit]:
    """Data that was fetched for this very question, although none of its words recur in it."""
    if named:
        return [unit for unit in units if unit.owner][:LISTED]
    return [unit for unit in units if unit.source in ("tool", "data") and unit.label][:LISTED]


def word(units: list[Unit], material: Material, *, limit: int, chinese: bool) -> str:
    """Units as one short text: grouped by record or heading, no longer than `limit`."""
    separator, end = ("；", "。") if chinese else ("; ", ".")
    query, parts, last, length = material.query, list[str](), "", 0
    labels = Counter((unit.owner, unit.label) for unit in units if unit.label)
    is_list = sum(unit.item for unit in units) >= A_LIST
    is_long = sum(len(unit.text) + 1 for unit in units) > limit
    for unit in units:
        text = unit.text.rstrip("。；;.!！")
        if labels[unit.owner, unit.label] > 1 and unit.context:
            # The same measure several times: each with where it stands.
            text = f"{unit.context} {text}"
        if len(text) > limit or (is_long and is_list and unit.item):
            # A list is told whole and short rather than cut off.
            cut = CLAUSE.search(text, A_FEW)
            text = text[: cut.start()] if cut else text
        head = _called(unit.owner, chinese) or (unit.context if query & asked(unit.context) else "")
        if head and head != last and head not in text:
            text = f"{head}：{text}" if chinese else f"{head}: {text}"
        last = head
        if parts and length + len(text) + 1 > limit:
            break
        if (told := text + unit.mark) not in parts:
            parts.append(told)
            length += len(text) + 1
    return separator.join(parts) + end


def _called(owner: str, chinese: bool) -> str:
    """A record as people name it: a bare number would read as a value."""
    if not owner.isdigit():
        return owner
    return f"受试者{owner}" if chinese else f"subject {owner}"


def usage(chat: Chat, completion: str) -> dict[str, int]:
    """Token counts of a request and what was generated for it."""
    prompt = sum(count_tokens(message.content) + 4 for message in chat.messages)
    prompt += sum(
        count_tokens(str(message.tool_calls)) for message in chat.messages if message.tool_calls
    )
    prompt += sum(count_tokens(str(tool)) for tool in chat.tools)
    generated = count_tokens(completion)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": generated,
        "total_tokens": prompt + generated,
    }
