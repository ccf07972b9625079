"""What users say to their own memory: show it, forget something (issue 4). Offline, no model."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

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


@dataclass(frozen=True)
class Show:
    """ "你记得我什么"."""


@dataclass(frozen=True)
class Forget:
    """ "忘掉…": what the user named, in their words."""

    what: str


def parse_command(text: str) -> Show | Forget | None:
    """The command that a message (or one task of it) is; None for everything else."""
    said = unicodedata.normalize("NFKC", text).strip()
    if len(said) > _LONGEST:
        return None
    if len(said.rstrip("?。!")) <= _SHORT * 2 and _shows(said.rstrip("?。! ")):
        return Show()
    what = _forgets(said)
    return None if what is None else Forget(what)


def _shows(said: str) -> bool:
    return not _OTHER_ASK.search(said) and any(pattern.search(said) for pattern in _SHOW)


def _forgets(said: str) -> str | None:
    if _ASKS.search(said.removesuffix("好吗").removesuffix("可以吗")):
        return None
    found = _FORWARD.match(said) or _BACKWARD.match(said)
    if not found or _RULES.search(found["what"]):
        return None
    # Deleting is a word for study data as well; forgetting is not.
    return found["what"] if found["forget"] or _MINE.search(found["what"]) else None
