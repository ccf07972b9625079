"""Whether a message may hold something about its sender, and whether a statement is the speaker's own. Offline.

A statement is the speaker's own where it is about themselves, or about how they want to be answered.

What somebody else does, and what is to be done in the study, is no one's own: it becomes a proposal
(decisions.md, "remember"). Where the words leave it open, it is one too.
"""

from __future__ import annotations

import re

from memory.models import UserMemory
from memory.people import commands, fact_store
from memory.people.commands import untold
from memory.people.quotes import clauses, folded, letters_of
from memory.people.schemas import current, pattern
from projects.models import Member

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
# What is allowed, and which rules hold, nobody settles by being remembered.
_GRANTS = re.compile(
    r"权限|规则|提示词|(?:忽略|无视|绕过|绕开|违反|不(?:用|必|要|再)?(?:遵守|理会)|取消|解除).{0,8}(?:指令|限制|要求|设定|禁令)"
    r"|(?:允许|准许|准予|授权|有权|开放|放开).{0,8}(?:看|访问|读|查|下载|导出|改|删|数据|中心|站点|site)"
    r"|\b(?:ignore|disregard|bypass)\b.{0,30}\b(?:rule|instruction|limit)|\ballow(?:ed)? (?:me|to)\b",
    re.IGNORECASE,
)
_CHANGES = re.compile(r"换成|改[为成到]|取消|出差|开会")
# The speaker's own whatever it names, a colleague's title or the study: how they are called, ...
_LEAD = (
    r"^(?:请|麻烦|你|您|还是|可以|直接|以后|今后|往后|下次|每次|从现在起|从今天起|默认|一律|都|要|就|先|优先|重点|主要"
    r"|然后|另外|,|:|\s)*"
)
_CALLED = re.compile(rf"{_LEAD}(?:称呼|叫|喊|称)我(?!们|[去来把帮给在不别])[为做作]?.{{1,12}}$")
_NO_NAME = re.compile(rf"项目|研究(?!者)|方案|入组|标准|受试者|患者|{_ACT}")
# ... what they look at first or like ...
_MINDS = re.compile(
    r"(?:我|本人)(?:个人|最|更|比较|主要|特别|尤其|非常|很|一直|平时|通常|一般|也|还|只|就|都|现在|目前|不(?:太|怎么|大)?)*"
    r"(?:关注|关心|在意|看重|担心|喜欢|想先?看|爱看|习惯|偏好|倾向于?)"
)
# ... and in what order and form the assistant tells them, as long as it tells nobody else.
_TELLS = re.compile(
    rf"{_LEAD}(?:[给向跟对]我)?(?:汇报|回复|回答|答复|报告|总结|说明?|讲|列出?|显示|展示|(?:告诉|通知|提醒)我(?!们))"
)
_TO_OTHERS = re.compile(
    rf"(?:给|向|跟|对|让|由|告诉|通知|提醒)(?!我(?!们))|[再并](?:去|做)?(?:{_ACT})"
    r"|主任|教授|PI|CR[AC]\b|医生|护士|老师|同事|他|她",
    re.IGNORECASE,
)

_INTRODUCES = re.compile(
    r"^(?:我|本人)(?:的名字)?(?:叫|是(?![说想觉]))|^(?:我|本人)?(?:现在|目前|主要|也)*负责"
)
_FIRST = re.compile(r"我|本人|咱|以后|今后|每次|记住|不要|别|\b(?:I|I'm|my|me)\b", re.IGNORECASE)


def is_study_rule(text: str) -> bool:
    """Whether it says that something of the study is not to be checked or done, or is allowed."""
    return bool(_SPARED.search(text) or _GRANTS.search(text))


def concerns_self(text: str) -> bool:
    """Whether a statement is the speaker's own: it names nobody else and nothing of the study.

    Who introduces themselves may name what they do there ("我负责 A 中心的入组"), who says what they look at
    or how they are to be told may name that.
    """
    if is_study_rule(text):
        return False
    if _OTHER.search(text):
        told = [untold(clause.text).strip() for clause in clauses(folded(text))]
        rest = [clause for clause in told if not _is_own(clause)]
        return len(rest) < len(told) and not any(
            _OTHER.search(clause) or _OF_STUDY.search(clause) for clause in rest
        )
    manner = _LASTING.search(text) and _MANNER.search(text) and not _OF_STUDY.search(text)
    return bool(_SELF.search(text) or manner)


def _is_own(clause: str) -> bool:
    """Whether a clause says how the speaker is called, told or minded, or what they are."""
    if _CHANGES.search(clause):
        return False
    if _CALLED.search(clause):
        return not _NO_NAME.search(clause)
    tells = _TELLS.search(clause) and not _TO_OTHERS.search(clause)
    return bool(tells or _MINDS.search(clause) or _INTRODUCES.search(clause))


def has_news(member: Member, text: str) -> bool:
    """Whether the Memory Manager should read this message: it may hold something personal that is not kept.

    Somebody speaks of themselves or of what is to last, beside a word that the schema looks for.
    """
    said = folded(text)
    if commands.parse_command(said) or not _FIRST.search(said):
        return False
    cues = [pattern(slot.cue) for slot in current().said if slot.cue]
    told = [
        clause.text
        for clause in clauses(said)
        if clause.states and any(cue.search(clause.text) for cue in cues)
    ]
    if not told:
        return False
    # What the fields rest on; a statement is kept, but not read yet.
    rows = fact_store.active(member).exclude(field=UserMemory.STATEMENT)
    quotes = "\n".join(letters_of(quote) for quote in rows.values_list("evidence", flat=True))
    return any(letters_of(clause) not in quotes for clause in told)
