"""Extractive answers: the pieces of the request that fit the question, worded briefly."""

from __future__ import annotations

import re

from simulators.llm.material import Material, Unit
from simulators.llm.protocol import Chat
from simulators.llm.text import asked, count_tokens, cut_tokens, is_chinese, score, weights

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
    query = asked(material.question) - {name.lower() for name in material.ids}
    weight = weights([set(unit.words) for unit in units])
    scored = [(score(query, set(u.words), weight) * FACTOR[u.source], u) for u in units]
    best = max((value for value, _ in scored), default=0.0)
    told = {u.source for value, u in scored if value == best}
    fetched = _fetched(units, named=named)
    if best >= (SURE if fetched and told <= {"lead", "talk"} else ENOUGH):
        near = [(value, unit) for value, unit in scored if value >= best * NEAR_BEST]
        near = sorted(near, key=lambda pair: -pair[0])[:MOST_UNITS]
        return sorted((unit for _, unit in near), key=lambda unit: unit.order)
    return fetched


def _of_named_records(material: Material) -> tuple[list[Unit], bool]:
    """Without the data of records that the question does not name, when it names some."""
    wanted = {name.lower() for name in material.ids}
    if not wanted:
        return list(material.units), False
    units = [u for u in material.units if not u.owner or u.owner.lower() in wanted]
    return units, any(u.owner.lower() in wanted for u in units if u.owner)


def _fetched(units: list[Unit], *, named: bool) -> list[Unit]:
    """Data that was fetched for this very question, although none of its words recur in it."""
    if named:
        return [unit for unit in units if unit.owner][:LISTED]
    return [unit for unit in units if unit.source in ("tool", "data") and unit.label][:LISTED]


def word(units: list[Unit], material: Material, *, limit: int, chinese: bool) -> str:
    """Units as one short text: grouped by record or heading, no longer than `limit`."""
    separator, end = ("；", "。") if chinese else ("; ", ".")
    query, parts, last, length = asked(material.question), list[str](), "", 0
    for unit in units:
        text = unit.text.rstrip("。；;.!！")
        head = unit.owner or (unit.context if query & asked(unit.context) else "")
        if head and head != last and head not in text:
            text = f"{head}：{text}" if chinese else f"{head}: {text}"
        last = head
        if parts and length + len(text) + 1 > limit:
            break
        if text not in parts:
            parts.append(text)
            length += len(text) + 1
    return separator.join(parts) + end


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
