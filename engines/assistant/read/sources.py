"""Questions that people's own words answer: what was decided in earlier weeks, and what is kept in memory.

Both are told by closed classes of words: of time gone by (当时, 后来), of meeting and deciding, of the reports
themselves, of speaker and assistant (我让你, 你记得). A question of a subject's data is neither, unless it asks
how something of it was judged then.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from engines.assistant.read.naming import fold
from engines.assistant.read.setting import Setting
from engines.assistant.read.task import Task, TaskKind
from engines.assistant.read.tokens import Kind, Token
from study.protocol.terms import without_asking

OWN, STUDY, PROJECT = "own", "study", "project"
_PROJECT = re.compile(
    r"(?:研究|项目|课题|试验)的?(?:全称|名称|名字|叫什么|代码|编号|负责人|(?:启动|开始)(?:日期|时间))|注册号|登记号"
    r"|(?<![a-z])pi(?![a-z])(?:是|叫)?谁|谁是.{0,4}pi|主要研究者"
)
_WEEK = 7
_MOST_WEEKS = 60

_ASKS = r"(?:什么|啥|怎么|怎样|咋|如何|为何|哪|谁|几|多少|吗|么|没有?|来着)"
_WHY = r"(?:为什么|为啥|为何|凭什么|什么原因|原因是|什么考虑|理由是?)"
_HOW = r"(?:怎么|咋|如何|怎样)"
_WHEN = r"(?:什么时候|啥时候|何时|哪[天年月]|几月几?[号日]?|最早)"
_GONE = r"(?:当时|当初|那时候?|那会儿?|当年|起初|最?一?开始|原先|早先)"
_ONCE = (
    r"(?:之前|以前|(?<![晕睡])过去|历史上|曾经?|去年|前年|往年|前期|上次|上回|上季度|那[次批回])"
)
_DECIDED = r"(?:决定|拍的?板|敲定|商定|约定|讨论|商量|提议|同意|批准|定)"
_CHANGED = (
    r"(?:暂停|恢复|取消|停[过了用]|改[成为过版到]|换[成过了的]|放宽|收紧|又?[降涨][到回为了]|提高到|成立|增派"
    r"|加派|不用了|砍"
    r"|没搞成|没做成|没选|没找|作废|减少了|增加了)"
)
_KIND = r"(?<!病理)(?<!ct)(?<!mri)(?<!影像)(?<!检查)(?<!述职)(?:周报|月报|日报|季报|年报|报告|总结)"
_REPORTS = re.compile(
    rf"(?:{_KIND}|例会|会议|会上|开会|专家会|伦理会|项目会|纪要|群里|群聊).{{0,8}}(?:里|上|写|说|提|列|讲"
    rf"|内容|讨论|定"
    rf"|发生|评价|结论|意见|风险|问题|描述)|(?:上一?[期份次周]|前.期|第.{{1,3}}周|w\d+|那份).{{0,4}}{_KIND}"
    rf"|{_KIND}.{{0,6}}(?:看看|看一下|翻|调出|找出|念)"
    r"|前因后果|来龙去脉|踩(?:过|了)?(?:什么|啥|哪些)?坑|什么坑|怎么回事"
    r"|reports?\b.{0,12}\b(?:say|said|about|in|mention)|\bin (?:last|the) .{0,12}report"
)
_ORDERED = re.compile(
    r"(?:别|不用|先别|不要|给我|出|生成|来)(?:一?份|个|出|生成|查)?.{0,4}(?:周|月|日|季)报|报.{0,4}(?:生成"
    r"|出来|一份)"
)
_SETTLED = re.compile(
    rf"(?:{_HOW}|谁|{_WHEN})(?:就|才|最后|最终|给)?(?:{_DECIDED}|统一)(?:的|了|下来|过)"
    rf"|(?:谁|{_WHEN})(?:就|才)?(?:决定|同意|提议|拍的?板|批准)"
    rf"|{_DECIDED}过(?![的程])|有没有{_DECIDED}过|结论(?:是|到底)?{_ASKS}|{_DECIDED}的?结论|{_WHEN}的决定"
    rf"|{_DECIDED}(?:了|的)?(?:什么|啥|哪些)"
    rf"|{_WHEN}(?:就|才)?(?:开始)?(?:加|改|更新|要求|换|放宽|收紧|取消|恢复|停|加上|上线).{{0,8}}(?:的|了)$"
    rf"|从{_WHEN}(?:开始|要求|起)(?!用|吃|服)|{_WHY}(?:要|会|把|又|不再)?.{{0,14}}{_CHANGED}"
    rf"|{_CHANGED}.{{0,8}}{_WHY}"
    rf"|(?:后来|最后)(?:是|又|就)?.{{0,4}}(?:{_HOW}(?:改|定|处理|解决|收场)|{_WHY}|{_CHANGED})|{_WHY}后来"
    rf"|{_GONE}.{{0,14}}(?:{_DECIDED}|{_WHY}|处理|判定?的|意见|怎么回的|考虑)|{_WHY}{_GONE}"
    rf"|{_ONCE}.{{0,12}}(?:{_DECIDED}|结论|意见|规矩|{_WHY})"
    rf"|\b(?:why|when) did we\b|\bdid we (?:decide|discuss|agree)"
)
_EVENTS = re.compile(
    rf"{_ONCE}.{{0,14}}(?:过|了|解决|处理).{{0,10}}{_ASKS}|{_ONCE}.{{0,6}}没?有过|{_ONCE}有没有.{{0,10}}过"
)
_HAPPENED = re.compile(
    r"(?:做|定|作出?|出|遇到|碰到|发生|讨论|商量|决定)(?:过|了)(?:些|的)?(?:什么|啥|哪些)"
    r"|(?:哪些|什么|啥|主要)的?(?:关键)?(?:决定|决策|事情?|大事|问题|坑|进展|风险|待办)"
    r"|(?:决定|决策|大事|踩坑(?:记录)?|待办)(?:都|主要|一共)?(?:有|是)?(?:哪些|什么|啥)"
)

_WISHED = (
    r"(?:让|叫|要求|告诉|嘱咐|交代|吩咐|限制|规定|跟你[说讲交]|对你[说讲]|给你(?:立|定|说|讲))"
)
_OF_US = re.compile(
    rf"我(?:之前|以前|上次|刚才|都|曾|在)?{_WISHED}(?:过|了)?[你您]?.{{0,14}}{_ASKS}"
    rf"|(?:之前|以前|上次)?(?:我)?{_WISHED}过你?的?.{{0,12}}(?:记得|印象|{_ASKS})"
    r"|[你您](?:还)?(?:记得|记不记得|有没有印象|知道|了解|清楚).{0,8}(?:我(?!们)|本人)"
    r"|[你您](?:一般|通常|平时|每天|现在)?(?:几点|什么时候|怎么|该?怎样)(?:给|跟|对|叫|称呼|提醒|通知"
    r"|推送)我(?!们)"
    r"|(?:关于|对)我(?!们).{0,6}(?:记|知道|了解|什么|啥|多少)"
    r"|我(?:的|喜欢|在项目里|在研究里|平时|自己)(?:个人)?(?:的)?(?:偏好|喜好|习惯|禁令|画像|设置|角色|身份"
    r"|汇报偏好|(?:最佳|最好的?)?通知时间|要求|什么样|是什么角色).{0,10}"
    r"|\b(?:remember|know) (?:about )?(?:me|my)\b|\bmy (?:preferences?|profile|role)\b"
)
# What the speaker told of themselves is asked for again: 我星期几在门诊来着, 我对你回复的字数有什么要求.
_TOLD = re.compile(
    rf"我(?!们).{{0,16}}来着|我(?!们)对?[你您]的?(?:回复|回答|汇报|字数|格式).{{0,8}}{_ASKS}"
    rf"|我喜欢[你您]?(?:怎么|哪|什么)"
)
_ATTENTION = re.compile(
    r"(?:注意|留意|当心|小心|上心).{0,4}(?:什么|啥|哪|吗|点)|(?:什么|啥|哪).{0,6}(?:注意|留意|当心|小心|上心)"
)
_NOTED = re.compile(
    r"(?:系统)?禁令|热记忆|项目记忆|的(?:偏好|喜好)|(?:我们|咱们|大家)(?:之前)?(?:记|定下|约定)(?:的|了)(?:是)?"
    r"|(?:你|系统)(?:都)?(?:还)?(?:记得|记不记得|记住?了?)(?:些|的)?(?!.{0,4}(?:一下|住))"
    r"|(?:项目|研究|课题)?(?:现在|目前|当前)?(?:处于|处在|到|是|在)(?:什么|哪个|哪一?个?|啥)阶段|(?:本"
    r"|这)周的?目标(?!入组例数)"
)


def of_sources(said: str, tokens: Sequence[Token], setting: Setting) -> Task | None:
    """The task of a clause that asks for a decision of earlier weeks, or for what is kept; None for all else.

    Orders were taken out before. `tokens`: of the clause.
    """
    text = fold(said)
    kinds = {token.kind for token in tokens}
    if Kind.SUBJECT not in kinds and _PROJECT.search(text):
        return Task(TaskKind.PASSAGE, said, search=said, topic=PROJECT)
    if Kind.SUBJECT in kinds and _ATTENTION.search(text):
        return Task(TaskKind.MEMORY, said, search=_matter(said, tokens), topic=STUDY)
    told = _TOLD.search(text) and Kind.SUBJECT not in kinds
    if told or _OF_US.search(text):
        return Task(TaskKind.MEMORY, said, search=_matter(said, tokens), topic=OWN)
    if _NOTED.search(text):
        return Task(TaskKind.MEMORY, said, search=_matter(said, tokens), topic=STUDY)
    weeks = _weeks(text, tokens, setting)
    if _is_history(text, kinds, bool(weeks)):
        return Task(TaskKind.HISTORY, said, search=_matter(said, tokens), weeks=weeks)
    return None


def _is_history(text: str, kinds: set[Kind], has_weeks: bool) -> bool:
    """Whether past words of people are asked for; of a subject only how something was settled then."""
    if _ORDERED.search(text):
        return False
    if Kind.SUBJECT in kinds:
        return bool(re.search(rf"{_GONE}.{{0,14}}(?:{_DECIDED}|判|处理|意见)", text))
    if _REPORTS.search(text) or _SETTLED.search(text):
        return True
    is_of_data = kinds & {
        Kind.FIELD,
        Kind.FORM,
        Kind.ENROLLED,
        Kind.COUNT,
        Kind.VISIT,
        Kind.RUN,
        Kind.CHANGED,
    }
    if is_of_data:
        return False
    return bool(_EVENTS.search(text) or (has_weeks and _HAPPENED.search(text)))


def _weeks(text: str, tokens: Sequence[Token], setting: Setting) -> tuple[int, ...]:
    """The study's weeks of the stretches of time that have begun and are named, W5 among them."""
    numbers = [int(one) for one in re.findall(r"(?<![a-z0-9])w(\d{1,3})(?!\d)", text)]
    for token in tokens:
        first, last = token.days
        today = setting.calendar.today
        if token.kind is Kind.PERIOD and first is not None and first <= today:
            days = (day - setting.calendar.begin for day in (first, last or today))
            start, end = (one.days // _WEEK + 1 for one in days)
            numbers += range(max(start, 1), min(end, start + _MOST_WEEKS) + 1)
    return tuple(dict.fromkeys(number for number in numbers if number > 0))


def _matter(said: str, tokens: Sequence[Token]) -> str:
    """What is searched for: the words that do more than ask, without those for the time."""
    for token in tokens:
        if token.kind is Kind.PERIOD:
            said = said.replace(token.said, " ")
    return " ".join(without_asking(said).split())
