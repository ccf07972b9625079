"""A verdict on listed exclusions, grounded in quotes; what can't be grounded is not passed.

Plain reading comprehension: which conditions does the instruction list, and does the data name,
deny or not mention them? A double negative ("不排除…") counts as a mention.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from simulators.llm.material import blobs, question_index
from simulators.llm.protocol import Chat

LISTED = re.compile(
    r"(?:排除|除外|不得有|不能有|不应有|不得存在|(?<!有)无以下|剔除|"
    r"[Ee]xclud(?:e|es|ing)|[Nn]o history of)"
    r"[:：\s]*(?P<list>[^。；;\n！!“”\"{}]+)"
)
SPLIT = re.compile(r"、|，|,|和|及|以及|或者?|与|\band\b|\bor\b")
TRIM = re.compile(
    r"^(?:有|存在|患有|合并|既往|任何|其他|a |an |any |the )+|(?:等|者|患者|的?情况|史|病史)+$"
)
MODIFIER = re.compile(
    r"^(?:严重的?|重度|活动性|急性|慢性|未控制的?|不稳定的?|明显的?|severe|active|acute|chronic)\s*"
)
CLAUSE = re.compile(r"[^，。；,;！!？?\n\"“”{}\[\]]+")
DENIED = re.compile(
    r"无|未见|否认|排除|没有|未发现|未患|未诊断|不存在|未合并|\bno\b|\bdenies\b|\bwithout\b|\bnegative for\b",
    re.I,
)
DOUBT = re.compile(
    r"不排除|不能排除|未排除|不除外|未除外|待排|可能|疑似|not excluded|cannot exclude|possible|suspected",
    re.I,
)
BROKEN = re.compile(
    r"但|(?<![没未])有(?!关)|伴|患(?!者)|确诊|存在|出现|\bbut\b|\bhas\b|\bwith\b", re.I
)
NEGATIVE_VALUE = re.compile(
    r"^[\"'”’]?\s*[:：（(]\s*[\"'“]?\s*(?:无|否|阴性|未见|没有|-|－|—|0|no|none|false|negative)(?![\u4e00-\u9fff\w.])",
    re.I,
)
NOTHING = re.compile(
    r"无特殊|无其他|否认其他|否认(?:重大|特殊)|无重大|无异常|既往体健|体健|unremarkable|no significant",
    re.I,
)
EMPTY = re.compile(r"没有|无|未|No(?:thing)?\b", re.I)
A_FEW = 3
SURE_ABSENT, SURE_PRESENT = 0.85, 0.9


@dataclass(frozen=True)
class Verdict:
    """passed with the quotes that show it; confidence 0 when nothing could be grounded."""

    passed: bool
    reason: str
    confidence: float
    quotes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Finding:
    """What the data say about one condition: "absent", "present" or "unmentioned"."""

    condition: str
    state: str
    quote: str = ""


def judge(chat: Chat) -> Verdict:
    """Read the instruction and the data of a request."""
    conditions, instruction = conditions_of(chat)
    if not conditions:
        return of_task(chat)
    data = data_of(chat, instruction) if instruction else []
    if not data:
        return _undetermined("提供的资料不足以作出判断。")
    findings = [look_up(condition, data) for condition in conditions]
    present = [finding for finding in findings if finding.state == "present"]
    if present:
        names = "、".join(finding.condition for finding in present)
        return Verdict(False, f"资料中提到：{names}。", SURE_PRESENT, _quotes(present))
    denied = [finding for finding in findings if finding.state == "absent"]
    general = next(
        (clause for text in data for clause in _clauses(text) if NOTHING.search(clause)), ""
    )
    if len(denied) < len(findings) and not general:
        # Silence about a condition is no denial of it.
        return _undetermined("资料没有逐一说明所列情况，无法判断。")
    quotes = _quotes(denied) + ((general,) if general else ())
    return Verdict(
        True, _absent_reason(denied, findings), SURE_ABSENT, tuple(dict.fromkeys(quotes))
    )


def of_task(chat: Chat) -> Verdict:
    """An order that lists no conditions: done as far as the tools that were called tell."""
    results = [m.content for m in chat.messages[question_index(chat) + 1 :] if m.role == "tool"]
    for value in (value for text in results for _start, _end, value in blobs(text)):
        if not isinstance(value, dict):
            continue
        if isinstance(value.get("sent"), int):
            done = bool(value["sent"])
            return Verdict(
                done, "消息已发送。" if done else "没有收件人。", 0.9, (f"sent: {value['sent']}",)
            )
        rows = next((part for part in value.values() if isinstance(part, list) and part), [])
        if rows and all(isinstance(row, str) for row in rows):
            nothing = len(rows) == 1 and bool(EMPTY.match(rows[0]))
            return Verdict(
                not nothing, rows[0] if nothing else "已列出。", 0.9, tuple(rows[:A_FEW])
            )
    return _undetermined("提供的资料不足以作出判断。")


def _absent_reason(denied: list[Finding], findings: list[Finding]) -> str:
    unnamed = [finding.condition for finding in findings if finding.state == "unmentioned"]
    said = f"资料明确否认{'、'.join(finding.condition for finding in denied)}" if denied else ""
    silent = f"未提到{'、'.join(unnamed)}" if unnamed else ""
    return "，".join(part for part in (said, silent) if part) + "。"


def _undetermined(reason: str) -> Verdict:
    return Verdict(False, reason, 0.0)


def _quotes(findings: list[Finding]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(finding.quote for finding in findings if finding.quote))


def conditions_of(chat: Chat) -> tuple[list[str], str]:
    """The conditions the instruction lists and its wording; tools and JSON never instruct."""
    for roles in (("system", "developer"), ("user",)):
        for message in chat.messages:
            if message.role in roles:
                for found in LISTED.finditer(_prose(message.content)):
                    names = [_trim(part) for part in SPLIT.split(found["list"])]
                    if named := [name for name in names if len(name) >= 2]:
                        return named, found.group()
    return [], ""


def _trim(part: str) -> str:
    return TRIM.sub("", part.strip(" 。.'\"”“")).strip()


def _prose(text: str) -> str:
    for start, end, _ in reversed(list(blobs(text))):
        text = text[:start] + "\n" + text[end:]
    return text


def data_of(chat: Chat, instruction: str) -> list[str]:
    """The texts that count as data: tool results, JSON and prose, the instruction taken out."""
    at, found = question_index(chat), list[str]()
    for index, message in enumerate(chat.messages):
        if message.role == "tool":
            found.append(message.content)
        elif message.role != "assistant":
            parts = [
                message.content[start:end]
                for start, end, value in blobs(message.content)
                if not (isinstance(value, dict) and "properties" in value)
            ]
            if index == at or (message.role != "user" and index):
                parts.append(_prose(message.content))
            # Repeated, the instruction would read like a denial of what it lists.
            found += [part.replace(instruction, "\n") for part in parts]
    return [text for text in found if text.strip()]


def _clauses(text: str) -> Iterator[str]:
    for match in CLAUSE.finditer(text):
        if clause := match.group().strip():
            yield clause


def look_up(condition: str, data: list[str]) -> Finding:
    """Whether the data name a condition; one unnegated mention outweighs every denial."""
    head = MODIFIER.sub("", condition)
    absent = ""
    for text in data:
        for name in dict.fromkeys((condition, head)):
            for start in _positions(name, text):
                quote, denied = _mention(text, start, start + len(name))
                if denied:
                    absent = absent or quote
                elif name == condition:
                    return Finding(condition, "present", quote)
                else:
                    # A milder form is named: neither a clear yes nor a clear no.
                    return Finding(condition, "unmentioned")
    return Finding(condition, "absent", absent) if absent else Finding(condition, "unmentioned")


def _positions(name: str, text: str) -> Iterator[int]:
    at = text.lower().find(name.lower())
    while at >= 0:
        yield at
        at = text.lower().find(name.lower(), at + 1)


def _mention(text: str, start: int, end: int) -> tuple[str, bool]:
    clause = next((m for m in CLAUSE.finditer(text) if m.start() <= start < m.end()), None)
    first, last = (clause.start(), clause.end()) if clause else (start, end)
    quote, before = text[first:last].strip(" :："), text[first:start]
    if (value := NEGATIVE_VALUE.match(text[end : end + 24])) is not None:
        return text[start : end + value.end()].strip(), True
    if DOUBT.search(text[first:last]):
        return quote, False
    denials = list(DENIED.finditer(before))
    return quote, bool(denials) and not BROKEN.search(before[denials[-1].end() :])
