"""Which listed field a clause of the user fills, and with which of its words, by generic cues."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from simulators.llm.extract import described
from simulators.llm.protocol import Chat

# What people say, and the words by which a field that holds it is described.
CUES = (
    (r"不要|别再|不许|禁止|don't|never", r"禁|不希望|ban|forbid"),
    (r"提醒|通知|推送|remind|notify", r"通知|提醒|notif"),
    (r"关心|关注|在意|看重|care about", r"关注|关心|focus|concern"),
    (r"喜欢|习惯|偏好|希望|只看|只要|先说|以后|prefer|like", r"偏好|喜好|prefer"),
    (r"负责|分管|主管|responsible", r"职责|分工|负责|dut"),
    (r"岁|years old", r"年龄|\bage\b"),
    (r"专业|方向|擅长|主攻|speciali", r"专业|方向|special|major"),
    (r"医师|医生|护士|协调员|研究者|监查员|统计师|管理员|工程师|经理|老师|doctor|nurse",
     r"角色|职位|role|job|title"),
    (r"[\u4e00-\u9fff]科|科室|病区|部门|department", r"科室|部门|department"),
    (r"大学|学院|毕业|university", r"院校|学校|大学|universit"),
    (r"年薪|收入|工资|income|salary", r"收入|年薪|income|salary"),
)  # fmt: skip
LEAD = re.compile(
    r"^(?:请|帮我)?(?:记住|记一下)?[,，:：]?(?:我们?|本人)?(?:平时|一般|现在|目前|主要|最(?!好)|还|比较)*"
    r"(?:的[^是为]{1,6}[是为]|喜欢|习惯|希望|负责|分管|关注|关心|在意|擅长|主攻|是|在)?的?"
)
PLACED = re.compile(r"在(?P<place>[^,，]{2,10}?)(?:做|当|担任|任)(?P<what>[^,，]{2,20})$")


def fields(options: Sequence[Any], chat: Chat, clause: str) -> Iterator[tuple[Any, str]]:
    """(option, value) pairs of a clause; none where no option is described as what it says."""
    if placed := PLACED.search(clause):
        for part in (placed["place"], placed["what"]):
            yield from _one(options, chat, part, part)
        return
    value = clause if re.search(r"不要|别再|以后", clause) else LEAD.sub("", clause)
    yield from _one(options, chat, clause, value or clause)


def _one(options: Sequence[Any], chat: Chat, said: str, value: str) -> Iterator[tuple[Any, str]]:
    told = {option: f"{option} {described(option, options, chat)}" for option in options}
    for cue, meant in CUES:
        fitting = [option for option, text in told.items() if re.search(meant, text, re.I)]
        if fitting and re.search(cue, said, re.I):
            yield fitting[0], value
            return
