"""What kind of thing a question asks for, and whether a rule tells one: a time, a figure, a person."""

from __future__ import annotations

import re
from dataclasses import dataclass

from language.numerals import HAN


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of answer: how it is asked for, how one reads, and what a rule counts that tells one."""

    asks: re.Pattern[str]
    answer: re.Pattern[str]
    counts: float
    is_time: bool = False

    def tells(self, text: str) -> bool:
        """Whether a rule holds something of this kind."""
        return bool(self.answer.search(text))


_NUMBER = rf"[\d{HAN}]+"
# 第 8 天 is a day, and no time that something lasts or is due in.
_TIME = rf"(?<![第\d{HAN}])(?<!第\s){_NUMBER}\s*(?:小时|天|周(?!岁)|个?月|年|个?工作日|分钟)"
_KINDS = (
    Kind(
        re.compile(r"多久|多长时间|几(?:天|小时|周|个?月|年|个?工作日)|多少(?:天|小时|周|年)|时限"),
        re.compile(rf"{_TIME}|（天）|\(天\)"),
        1.3,
        is_time=True,
    ),
    Kind(re.compile(r"什么时候|何时|哪[天日年]"), re.compile(rf"{_TIME}|\d{{4}}-\d\d"), 1.3),
    # From which value on: 升到多少要停药, 低到几要减量. A share of people is no such value.
    Kind(
        re.compile(r"(?:[升降掉跌涨高低超]|达|大|小)(?:到|过|于)?(?:多少|几)"),
        re.compile(
            r"(?:超过|低于|高于|少于|多于|大于|小于|达到?)[^，。；;]{0,12}\d(?![\d.]*\s*%)"
            r"|\d[^，。；;%]{0,8}以[上下]"
        ),
        1.6,
    ),
    Kind(re.compile(r"多少|几|多[大高低]"), re.compile(r"\d"), 1.15),
    Kind(
        re.compile(
            r"可以|[能可]否|能.{0,8}吗|[还才]能|允许|[要需能算]不[要需能算]|要.{0,8}吗|算.{0,8}吗"
        ),
        re.compile(
            r"可以|可用|均可|方可|不?允许|禁止|禁用|不受限|不[得可能应再要]|须|(?<![反适效相])应|[能算]。|无需"
        ),
        1.15,
    ),
    Kind(
        re.compile(r"定义|什么是|什么叫|是什么意思|指什么"),
        re.compile(r"指(?![标导南定])|定义为"),
        1.5,
    ),
    Kind(re.compile(r"为什么|为啥|为何|原因"), re.compile(r"：(?!$)|因为?|由于|避免|以免"), 1.3),
    Kind(re.compile(r"谁|哪个人|什么人"), re.compile(r"由|负责|责任人"), 1.3),
)


def kinds(question: str) -> list[Kind]:
    """The kinds of things that a question asks for."""
    return [kind for kind in _KINDS if kind.asks.search(question)]
