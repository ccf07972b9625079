"""What users say to their own memory: show it, forget something (issue 4). Offline, no model."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

_LONGEST = 120
_LEAD = r"(?:请|麻烦|帮我|帮忙|可以|能不能|那|你|您|就|都|现在|,|\s)*"
_TAIL = r"(?:吧|了|掉|哦|啊|呀|好吗|可以吗|谢谢|please|[。.!,\s])*"
_FORGET = r"忘掉|忘了(?!问|说|告诉|提|跟|给|带|把|拿|做|交)|忘记|别再?记|不要再?记|不用再?记|forget(?: about)?"
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
_WHAT = r"什么|哪些|多少|啥|些"
_SHOW = (
    re.compile(rf"(?:{_KNOWS}).{{0,3}}(?:关于|有关|对)?我.{{0,4}}(?:{_WHAT})"),
    re.compile(rf"(?:关于|有关|对)我.{{0,6}}(?:{_KNOWS}).{{0,5}}(?:{_WHAT})"),
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


def parse(text: str) -> Show | Forget | None:
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
