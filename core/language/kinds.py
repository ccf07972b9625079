"""What kind of thing a question asks for, and whether a rule tells one: a time, a figure, a person."""

from __future__ import annotations

import re
from dataclasses import dataclass

from core.language.numerals import HAN


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of answer: how it is asked for, how one reads, and what a rule counts that tells one.

    `is_figure`: one rule tells it, not a list of them.
    """

    asks: re.Pattern[str]
    answer: re.Pattern[str]
    counts: float
    is_figure: bool = False

    def tells(self, text: str) -> bool:
        """Whether a rule holds something of this kind."""
        return bool(self.answer.search(text))


_NUMBER = rf"[\d{HAN}]+"
# 第 8 天 is a day, and no time that something lasts or is due in.
_TIME = rf"(?<![第\d{HAN}])(?<!第\s){_NUMBER}\s*(?:小时|天|周(?!岁)|个?月|年|个?工作日|分钟)"
_PERMITTED = r"可以|可用|均可|方可|不?允许|禁止|禁用|不受限|不[得可能应再]|不能|不限|方能|即可"
_KINDS = (
    Kind(
        re.compile(
            r"(?:多久|多长时间|几个?[天周月年]|隔多久).{0,6}一次|频率|[一每]个?[天周月季年].{0,4}几次"
        ),
        re.compile(r"[每各].{0,6}[次天周月年日]|一次|两次"),
        1.3,
        is_figure=True,
    ),
    Kind(
        re.compile(r"多久|多长时间|几(?:天|小时|周|个?月|年|个?工作日)|多少(?:天|小时|周|年)|时限"),
        re.compile(rf"{_TIME}|（天）|\(天\)"),
        1.3,
        is_figure=True,
    ),
    Kind(
        re.compile(r"什么时候|何时|哪[天日年]"),
        re.compile(rf"{_TIME}|\d{{4}}-\d\d|[当次]日|当天"),
        1.3,
        True,
    ),
    # From which value on: 升到多少要停药, 低到几要减量. A share of people is no such value.
    Kind(
        re.compile(r"(?:[升降掉跌涨高低超]|达|大|小)(?:到|过|于)?(?:多少|几)"),
        re.compile(
            r"(?:超过|低于|高于|少于|多于|大于|小于|达到?)[^，。；;]{0,12}\d(?![\d.]*\s*%)"
            r"|\d[^，。；;%]{0,8}以[上下]"
        ),
        1.6,
        is_figure=True,
    ),
    Kind(re.compile(r"多少|几|多[大高低]"), re.compile(rf"[\d{HAN}]"), 1.15, True),
    Kind(
        re.compile(r"停[药用不吃]|继续|接着|还能.{0,4}[吃用服]"),
        re.compile(r"暂停|停[药用]|维持|继续|恢复"),
        1.2,
    ),
    # What is allowed is told by a permission; what has to be done by a duty, too.
    Kind(
        re.compile(r"可以|[能可]否|能不能|能.{0,8}吗|[还才]能|允许|行不行|可不可以"),
        re.compile(rf"{_PERMITTED}|[能算]。|属于|除外"),
        1.15,
    ),
    Kind(
        re.compile(r"[要需算]不[要需算]|需不需要|要.{0,8}吗|算.{0,8}吗|属于.{0,8}吗|用不用"),
        re.compile(rf"{_PERMITTED}|不[要作]|须|(?<![反适效相])应|[能算]。|无需|属于|除外"),
        1.15,
    ),
    Kind(
        re.compile(r"(?:怎么|如何|咋)(?:办|处理|处置|弄|整|调)"),
        re.compile(
            r"处理|暂停|停[药用]|维持|继续|会诊|就诊|对症|复查|随访|报告|联系|登记|隔离|不得|立即"
        ),
        1.3,
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
