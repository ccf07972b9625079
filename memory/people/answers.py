"""Which of the offered values an answer means: 肿瘤科, 以肿瘤科为准, 不是心内科是肿瘤科, 第二个. Offline."""

from __future__ import annotations

import re
from collections.abc import Sequence

from language import clock_times
from memory.people import clauses, fact_store
from memory.people.grounding import plain, torn

_LONGEST = 40
_LEAST = 2
# What stands around a value that is chosen, and says nothing else.
_AROUND = re.compile(
    r"^(?:以后(?!者)|今后|以|是|应该|应当|应|就|按照?|选择?|用|算|要|填|写|记|改[为成]|而|那个?|这个?|我们?|本人|现在|目前|今年|在|的"
    r"|请|还是|当然|对|嗯|好|哦|更正|准确(?:地|来)?说?|其实|确实|正确)+"
    r"|(?:为准|才|就|是|对|正确|那个|这个|这[边里]|那[边里]|上班|工作|任职|的|了|吧|啊|呀|哦|呢|好|行|可以|没错|谢谢)+$"
)
_NOT = re.compile(r"^(?:不是|不对|不|没有?)+|不$")
_THAT = r"(?:那|这)?一?(?:个|种|项|条)"
_PLACES = (
    re.compile(
        rf"第一{_THAT}?|第1{_THAT}?|前者|前面{_THAT}?|前一个|头一个|(?:the )?first(?: one)?"
    ),
    re.compile(rf"第[二两]{_THAT}?|第2{_THAT}?|(?:the )?second(?: one)?"),
    re.compile(rf"第三{_THAT}?|第3{_THAT}?|(?:the )?third(?: one)?"),
    re.compile(rf"第四{_THAT}?|第4{_THAT}?|(?:the )?fourth(?: one)?"),
)
_LAST = re.compile(rf"后者|后面{_THAT}?|后一个|最后{_THAT}?|(?:the )?(?:latter|last)(?: one)?")
_ONLY_A_TIME = re.compile(r"[\d零〇一二两三四五六七八九十半刻点时分早上中正下午晚间凌晨夜里深傍]+")


def chosen(
    options: Sequence[fact_store.Detail], text: str, names: Sequence[str] = ()
) -> fact_store.Detail | None:
    """The one value that every clause of the answer names, or denies another than; else None.

    `names`: how the field is called ("科室是肿瘤科").
    """
    said = clauses.folded(text).strip()
    if same := _same(options, plain(said)):
        return options[same[0]] if len(same) == 1 else None
    told = clauses.split(said)
    if len(said) > _LONGEST or not all(one.states for one in told):
        return None
    meant: set[int] = set()
    denied: set[int] = set()
    for clause in told:
        words = _bare(clause.text, names)
        value = _bare(_NOT.sub("", words), names)
        hits = _fitting(options, value)
        if value and len(hits) != 1:
            return None
        (denied if clauses.denies(words) else meant).update(hits)
    return options[meant.pop()] if len(meant) == 1 and not meant & denied else None


def place(text: str, count: int) -> int | None:
    """The place of the value that "the second one" means among `count`; None for other words."""
    said = _bare(clauses.folded(text).strip(" 。.!,").casefold(), ())
    found = next((at for at, named in enumerate(_PLACES) if named.fullmatch(said)), None)
    if found is None and _LAST.fullmatch(said):
        found = count - 1
    return found if found is not None and found < count else None


def _bare(words: str, names: Sequence[str]) -> str:
    """The words without what merely stands around a value."""
    left, before = words.strip(" 。.!?,:\"'“”"), ""
    while left != before:
        before = left
        for name in names:
            left = left.removeprefix(name).strip()
        left = _AROUND.sub("", left).strip(" :")
    return left


def _fitting(options: Sequence[fact_store.Detail], words: str) -> list[int]:
    """The options that the words are; none are: those that hold the words."""
    said = plain(words)
    if not said:
        return []
    if same := _same(options, said):
        return same
    if _ONLY_A_TIME.fullmatch(words) and (time := clock_times.exact(words)):
        return [at for at, one in enumerate(options) if clock_times.exact(one["said"]) == time]
    return [at for at, one in enumerate(options) if any(_holds(v, said) for v in _spelled(one))]


def _same(options: Sequence[fact_store.Detail], said: str) -> list[int]:
    return [at for at, one in enumerate(options) if said in _spelled(one)]


def _spelled(option: fact_store.Detail) -> set[str]:
    return {plain(option["said"]), plain(str(option["value"]))} - {""}


def _holds(value: str, said: str) -> bool:
    """肿瘤 names 肿瘤科 and 32 names 32岁, but 2 does not."""
    at = value.find(said)
    if at < 0 or (len(said) < _LEAST and not said.isdigit()):
        return False
    return not torn(value, at) and not torn(value, at + len(said))
