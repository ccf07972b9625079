"""What a message wants, told without a study: orders and talk by their form, questions by a few closed words.

For what must answer before a study is known: the acknowledgement of a channel and `manage.py detect_intents`.
Nothing is answered or started on it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from engines.assistant.read import orders, talk
from engines.assistant.read.grammar import split
from engines.assistant.read.intents import Intent, intents_of
from engines.assistant.read.records import ids_in
from engines.assistant.read.spelling import normalise
from engines.assistant.read.task import OrderKind

SURE, LIKELY, OPEN = 0.98, 0.75, 0.5
MOST = 600
"""Characters that are read of a message; of a longer one its beginning and its end."""

_RULES = (
    (
        Intent.REMEMBER,
        r"你.{0,6}记(?:不)?[得着了]|还记得|记不记得|你.{0,6}印象|立过规矩|交代过|跟你说过|我上[次回]?[说定]的"
        r"|我的?最?佳?(?:是哪|在哪|负责(?!的)|(?:平时|最)?关注(?!的)|偏好|通知|提醒|职责|叫什么|汇报)|你几点",
    ),
    (
        Intent.QUERY_HISTORY,
        r"当初|当时|当年|上(?:上?[次周回月期]|个[周月]|礼拜|一轮)|之前(?:讨论|定|说|的)|会上|讨论|定的|周报"
        r"|月报|质控.{0,4}(?:结果|记录|发现)"
        r"|改过|怎么定|为什么(?:暂停|改|换|要)",
    ),
    (Intent.ANALYZE_TREND, r"趋势|走势|走向|变化|越来越|环比|同比|对比|回顾"),
    (
        Intent.VISIT_WINDOW,
        r"访视|随访|复查|复诊|超窗|窗|逾期|下[次回一].{0,2}(?:来|什么时候|几号)|该来|要来|¶",
    ),
    (
        Intent.QUERY_PROTOCOL,
        r"方案|标准|规定|要求|定义|终点|洗脱|样本量|剂量(?:怎|调)|量表|怎么(?:算|报|处理|判|分)|多久(?:报|内)"
        r"|几级|时限|能不能(?:用|吃)|流程",
    ),
    (
        Intent.PROJECT_INFO,
        r"(?:项目|研究|课题|试验)(?:.{0,6})(?:负责|阶段|叫|编号|名|周期|目标|进展|开始|结束|pi|几个中心)|牵头"
        r"|组长单位|申办|注册号|计划入|联系人|电话|启动",
    ),
    (
        Intent.COUNT_RECORDS,
        r"多少[例个位人名条份]|几[例个位人名条份]|总数|例数|人数|共有?多少|比例|率|占比|多少",
    ),
)
_WHO = re.compile(
    r"谁|哪[个位](?!.{0,4}(?:标准|指标|表))|哪[些几](?!.{0,4}(?:标准|指标|表|终点|规定))|那[个位]|有没有|所有"
    r"|都有"
)


_INNER = re.compile(
    r"(?<=[\u4e00-\u9fff\U0001f300-\U0001faff])\s+(?=\S)|(?<=\S)(?=再(?:去|来|跑|出|写|给|质控|查|数|核)|顺手"
    r"|之前|以前你?先|前(?:先|核|把))"
)


@dataclass(frozen=True)
class Detected:
    """The intents in order of the words and the subjects named; `sure`: the form alone tells them."""

    intents: list[str]
    record_ids: list[str]
    confidence: float

    @property
    def sure(self) -> bool:
        """Whether nothing was left to a guess."""
        return self.confidence >= SURE


def detect(text: str, pattern: str | None = None) -> Detected:
    """Intents and subjects of any text; `pattern`: of the study's record ids."""
    ids = ids_in(text, pattern)
    read = text if len(text) <= MOST else f"{text[: MOST // 2]}\n{text[-MOST // 2 :]}"
    found: list[tuple[str, float]] = []
    for clause in _clauses(read):
        known = _known(clause, pattern)
        found += [known] if known else [_guessed(clause, pattern, bool(ids))]
    asked = [one for one in found if one[0] != Intent.GENERAL_CHAT] or found
    feedback = [one for one in asked if one[0] == Intent.FEEDBACK]
    rest = [one for one in asked if one[0] != Intent.FEEDBACK]
    told = list(dict.fromkeys(intent for intent, _sure in [*feedback, *rest]))
    return Detected(told, ids, min(sure for _intent, sure in asked))


def wanted(text: str) -> str:
    """What of a text is no mere opinion, thanks or greeting: from its first question or order on, or ""."""
    wants = (clause for clause in _clauses(text) if _wants(clause, "?" in normalise(text)))
    first = next(wants, None)
    return "" if first is None else text[text.index(first) :]


def _wants(clause: str, is_asked: bool) -> bool:
    if task := talk.told_by_form(clause):
        is_vote = task.order is not None and task.order.kind is OrderKind.FEEDBACK
        return not is_vote and task.topic not in (talk.GREET, talk.THANKS)
    if orders.asks(clause):
        return any(map(str.isalnum, clause))
    # What is wrong with an answer may name the same words as a question.
    is_likely = is_asked or _guessed(clause, None, is_of_one=False)[1] >= LIKELY
    return is_likely and orders.opinion(clause)[0] is None


def _clauses(text: str) -> list[str]:
    """Clauses; where a space or a word of order (再, 顺手) stands inside one, its parts."""
    parts = [part.strip() for clause in split(text) for part in _INNER.split(clause)]
    return [part for part in parts if part] or [text]


def _known(clause: str, pattern: str | None) -> tuple[str, float] | None:
    """What the form of a clause tells."""
    task = talk.told_by_form(clause, pattern)
    return (intents_of([task])[0], SURE) if task else None


def _guessed(clause: str, pattern: str | None, is_of_one: bool) -> tuple[str, float]:
    said, ids = orders.masked(clause, pattern)
    for intent, words in _RULES:
        is_general = intent in (Intent.QUERY_PROTOCOL, Intent.PROJECT_INFO, Intent.COUNT_RECORDS)
        if re.search(words, said) and not (is_general and ids):
            return str(intent), LIKELY
    if ids or (is_of_one and not _WHO.search(said)):
        return str(Intent.QUERY_RECORD), SURE if ids else LIKELY
    return str(Intent.QA_QUERY if _WHO.search(said) else Intent.QUERY_PROTOCOL), OPEN
