"""What users say to their own memory: show it, forget something, notify me at eight. Offline, no model."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import time

from core.language import clock_times
from memory.people.quotes import denies, folded

_LONGEST = 120
_LEAD = r"(?:请|麻烦|帮我|帮忙|可以|能不能|那|你|您|就|都|现在|,|\s)*"
_TAIL = r"(?:吧|了|掉|哦|啊|呀|好吗|可以吗|谢谢|please|[。.!,\s])*"
# 忘了 and 忘记 rather report what somebody did not do: an order names what is the speaker's own, or is polite.
_OWN = r"关于|有关|我(?!们)|本人|刚|上一?句|之前|以前|一切|所有|全部|那|这|你(?:记|知|存)|吧|everything"
_ORDER = rf"忘掉|(?:忘了|忘记)(?:(?<=请..)|(?<=请[你您]..)|(?=\s*(?:{_OWN})))(?!.*了[。.!,\s]*$)"
_FORGET = rf"{_ORDER}|别再?记|不要再?记|不用再?记|forget(?: about)?"
_DELETE = r"删掉|删除|删了|清除|清空|抹掉|抹去|delete|erase|remove"
_FORWARD = re.compile(
    rf"^{_LEAD}(?:(?P<forget>{_FORGET})|(?P<delete>{_DELETE}))\s*(?P<what>.*?){_TAIL}$",
    re.IGNORECASE,
)
_BACKWARD = re.compile(
    rf"^{_LEAD}[把将](?P<what>.+?)(?:都|全部|全)?给?(?:(?P<forget>忘掉|忘了|忘记|忘)|(?P<delete>{_DELETE})){_TAIL}$",
    re.IGNORECASE,
)
_MINE = re.compile(r"我|本人|记忆|\b(?:my|me)\b", re.IGNORECASE)
_RULES = re.compile(
    r"规则|指令|设定|限制|要求|提示词|身份|权限|密码|instruction|rule|prompt|password|previous",
    re.IGNORECASE,
)
_ASKS = re.compile(r"怎么|什么|为什么|吗|多少|哪|\?")
_KNOWS = r"记得|记住|记着|记了|记下|记录|存了|存着|保存|知道|了解|掌握"
_DONE = r"[了过着的得住下来到都,\s]{0,3}"
_ME = r"我(?:本人|自己|个人)?"
# Behind it stands nothing else: 我哪些受试者 asks for the study's data.
_WHAT = (
    r"(?:的|都|些)*(?:什么|哪些|多少|啥)(?:方面)?的?(?:个人)?"
    r"(?:信息|情况|资料|事情?|内容|东西|偏好|喜好|习惯|特点|记录|记忆)?[了呢吗啊呀没有,\s]*$"
)
_SHOW = (
    re.compile(rf"(?:{_KNOWS}){_DONE}(?:关于|有关|对)?{_ME}{_WHAT}"),
    re.compile(rf"(?:关于|有关|对){_ME}[的信息情况资料你您都还现在目前已经一共,\s]{{0,8}}(?:{_KNOWS}){_DONE}{_WHAT}"),
    re.compile(r"^(?:请|给我|帮我)?(?:看看?|查看|显示|列出)?(?:你)?(?:关于)?我的(?:记忆|画像|用户画像|档案)(?:是什么|有哪些|呢)?$"),
    re.compile(r"what (?:do|did) you (?:remember|know|have|keep|store) (?:about|on|of) me", re.IGNORECASE),
)  # fmt: skip
_OTHER_ASK = re.compile(r"上次|上回|规矩|说过|告诉|[A-Z]{1,4}-?\d{2,}")
_SHORT = 24

# What the assistant is told to do with what follows says nothing of whom it speaks.
_TOLD_TO_KEEP = re.compile(
    r"^(?:请|麻烦|帮我|你|再|都|然后|接着|另外|还有|顺便|并且|而且|最后|,|:|\s)*"
    r"(?:记住|记得|记着|记下|记一下|记一?笔|备忘|别忘(?:了|记)?)(?:了|一下|下来|,|:|\s)*"
)
_NOTICE = r"通知|提醒|推送|消息"
# Beside the time and the notice nothing else stands in such an order, word for word.
_NOTIFY = re.compile(
    rf"(?:{_NOTICE}|以后|今后|往后|从现在起|从今天起|每天|每日|每次|有事|都|就|请|麻烦|帮我|把|将|给|我|你|您|的|最佳|时间|希望"
    r"|改[到成为]|设[为成置]|设定|调[到整]|放[到在]|定在|固定|统一|默认|一律|发|到|在|于|为|是|成|左右|再|最好|吧|好|行"
    r"|[,，:：。.!！、\s])+"
)
_REMINDS = re.compile(
    r"提醒(?:一[下声])?(?:我|咱|大家|一[下声]|[他她]|[\u4e00-\u9fff]{1,3}(?:护士|医生|主任|老师|PI))|(?<![到的收看条次])提醒[^,，。的]{0,6}$"
    r"|(?:设|定|加|建|弄)(?:置|定)?(?:一?个)?[^,，。]{0,4}(?:提醒|闹钟)|\bremind (?:me|us)\b",
    re.IGNORECASE,
)
# Said of how answers are to be given, not of a time: 以后每次提醒我先看结论.
_LASTING = re.compile(r"以后|今后|往后|每次|别|不要|不用|勿")
_IN_FUTURE = r"以后|今后|往后|每天|每日|每次|默认|一律|改|设|调|固定|统一|定在|放"
_MEANS = re.compile(rf"(?=.*(?:{_NOTICE}))(?=.*(?:{_IN_FUTURE}))", re.DOTALL)
_MY_NOTICE = re.compile(rf"我|(?:{_NOTICE})时间")


@dataclass(frozen=True)
class Show:
    """ "你记得我什么"."""


@dataclass(frozen=True)
class Forget:
    """ "忘掉…": what the user named, in their words."""

    what: str


def parse_command(text: str) -> Show | Forget | None:
    """The command that a message (or one task of it) is; None for everything else."""
    said = folded(text).strip()
    if len(said) > _LONGEST:
        return None
    if asks_all(said):
        return Show()
    what = _forgets(said)
    return None if what is None else Forget(what)


def asks_all(text: str) -> bool:
    """Whether a text asks for all that is kept of its sender."""
    said = folded(text).strip().rstrip("?。! ")
    fits = len(said) <= _SHORT * 2 and not _OTHER_ASK.search(said)
    return fits and any(pattern.search(said) for pattern in _SHOW)


def _forgets(said: str) -> str | None:
    if _ASKS.search(said.removesuffix("好吗").removesuffix("可以吗")):
        return None
    found = _FORWARD.match(said) or _BACKWARD.match(said)
    if not found or _RULES.search(found["what"]):
        return None
    # Deleting is a word for study data as well; forgetting is not.
    return found["what"] if found["forget"] or _MINE.search(found["what"]) else None


def untold(text: str) -> str:
    """A statement without the order to remember it."""
    return (
        _TOLD_TO_KEEP.sub("", text.strip(), count=1) if _TOLD_TO_KEEP.match(text.strip()) else text
    )


def notice_time(text: str) -> time | None:
    """The time of the day at which a text orders notices from now on; None where it says anything else."""
    said = folded(text)
    clock, rest = clock_times.exact(said), clock_times.without(said)
    is_order = bool(_NOTIFY.fullmatch(rest)) and bool(_MEANS.match(rest))
    return clock if is_order and clock_times.exact(rest) is None else None


def may_set_notice_time(text: str) -> bool:
    """Whether a text may be meant to say when notices are to come."""
    told = re.search(_NOTICE, text) and _MY_NOTICE.search(text) and not denies(text)
    return bool(told) and clock_times.exact(text) is not None


def asks_reminder(text: str) -> bool:
    """Whether a text asks to be reminded of something later; not when notices are to come."""
    told = _REMINDS.search(text) and not _LASTING.search(text)
    return bool(told) and notice_time(text) is None
