"""Whether a statement is the speaker's own: about themselves, or about how they want to be answered.

What somebody else does, and what is to be done in the study, is no one's own: it becomes a proposal
(decisions.md, "remember"). Where the words leave it open, it is one too.
"""

from __future__ import annotations

import re

from memory.agent import clauses

_SELF = re.compile(r"我(?!们)|本人|汇报|回复|回答|答复|提到|称呼|直接说|只看|只说")
# Said of the future, or as a wish: the speaker's own only where it concerns the manner of answering.
_LASTING = re.compile(r"以后|今后|往后|下次|别再|不要再|从现在起|从今天起|每次|默认|一律|我们|咱")
_MANNER = re.compile(
    r"[先别]?[说讲写]|发(?![药放生现烧热病])|推送|通知|提醒|报(?![告量酬销])|[周月日简]报|列|排|显示|图"
    r"|表情|表格|字|页|英文|中文|缩写|全称"
    r"|小数|单位|百分|格式|模板|语气|正式|简单|简短|[长短]|啰|详|细|结论|重点|异常|emoji|感叹|符号|道歉"
    r"|早上|晚上|半夜|抄送|叫[您你]|代号|公历"
    r"|这么|这样|照这|按这|[您你]"
)
_OTHER = re.compile(
    r"主任|教授|[\u4e00-\u9fff]PI|PI(?!喜欢)|医生|护士|老师|同事|他们|她|他|项目|研究|方案|入组|标准"
    r"|受试者|患者|换成|改为|出差|开会"
)
_ACT = (
    r"查|核|检|化验|质控|审|录入|登记|上报|填|采血|采样|抽血|测|随访|访视|给药|发药|用药|停药|筛"
    r"|监查|排除|纳入|知情"
)
_OF_STUDY = re.compile(
    rf"{_ACT}|年龄|血[压糖常脂]|体[温重]|(?<![a-z])s?ae(?![a-z])|不良事件", re.IGNORECASE
)
# What need not be checked, done or entered (any more) is a rule of the study, whoever says it.
_SPARED = re.compile(
    rf"(?:不用|不必|不需要|无需|不要|别|甭|不再|免去?|停止?|取消|跳过|省略|省掉|略过|忽略|放宽"
    rf"|可以不)(?:再|去|给\S{{1,4}}?|管)?(?:做)?.{{0,4}}?(?:{_ACT})"
    r"|不(?:再)?(?:查|核|检|化验|质控|审|录|测|筛)(?!房)"
)
_INTRODUCES = re.compile(
    r"(?:^|[,\uff0c:\uff1a。\s])(?:我|本人)(?:的名字)?(?:叫|是(?![说想觉])|(?:现在|目前|主要|也)*负责)"
)
_CHANGES = re.compile(r"换成|改[为成到]|取消|出差|开会")


def is_study_rule(text: str) -> bool:
    """Whether it says that something of the study is not to be checked or done."""
    return bool(_SPARED.search(text))


def concerns_self(text: str) -> bool:
    """Whether a statement is the speaker's own: it names nobody else and nothing of the study.

    Who introduces themselves may name what they do there ("我负责 A 中心的入组").
    """
    if _INTRODUCES.search(text) and not _CHANGES.search(text):
        return all(clause.who == "self" for clause in clauses.split(clauses.folded(text)))
    if _OTHER.search(text) or is_study_rule(text):
        return False
    if _SELF.search(text):
        return True
    manner = _LASTING.search(text) and _MANNER.search(text)
    return bool(manner) and not _OF_STUDY.search(text)
