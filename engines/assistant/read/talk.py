"""What is said to the assistant itself: greetings, what it can do, the last words again, what it refuses.

Each is a whole clause of a closed form; every other clause is read as a question of the study.
"""

from __future__ import annotations

import re

from core.privacy.name_characters import FAMILY
from engines.assistant.read import orders
from engines.assistant.read.orders import masked
from engines.assistant.read.task import Task, TaskKind
from memory.people.commands import asks_all

GREET, THANKS, HELP, AGAIN, LAST_QUESTION = "greet", "thanks", "help", "again", "last_question"
OFF_TOPIC, IDENTIFIER, INSTRUCTIONS, REMINDER = (
    "off_topic",
    "identifier",
    "instructions",
    "reminder",
)

_PAD = r"(?:哈|啊|呀|哦|噢|嗯|啦|了|哟|哒|~|!|。|,|\.| )*"
_WHO = r"(?:大家|各位|你|机器人|小?助手|试验助手|同学|老师|亲|in advance|there|all|bot)?"
_GREET = re.compile(
    rf"(?:{_WHO}(?:好|在吗?|在么|早|早上好|上午好|中午好|下午好|晚上好|晚安|再见|拜拜|明天见|新年快乐|哈喽|嗨"
    rf"|hi|hello|hey|good morning|bye|在不在|忙吗){_WHO}{_PAD})+"
    r"|(?:你|早|今天)?(?:吃了吗|睡了吗|辛苦|心情.{0,8}|加油.{0,4})"
)
_THANKS = re.compile(
    rf"(?:(?:好的?|嗯+|ok|行|收到|知道了|明白了?|没事了?|可以了|先这样|就这样|那行)?{_PAD}(?:太|非常|多|万分"
    rf"|十分)?(?:谢+谢?|感谢|辛苦|多谢|thanks?|thank you|thx|3q){_WHO}(?:老师|大家|多谢|啦|你)*{_PAD})+"
    rf"|(?:好的?|嗯+|ok|okay|行|收到|知道|明白|没事|可以|先这样|就这样|那行|哈+|呵+|好嘞){_PAD}"
)
_HELP = re.compile(
    r"(?:请问|那)?(?:你|系统|助手|这个(?:机器人|助手)?)?(?:都|还|到底|现在|可以|能|会|有)*(?:能|会|可以|支持"
    r"|懂)(?:帮我|帮忙|给我)?(?:干|做|查|问|些|点|处理|回答)*(?:什么|啥|哪些)(?:事|问题|功能|忙"
    r"|活)?(?:情)?(?:呢|啊|呀|\?)*"
    r"|(?:你|系统)?(?:有|都有)(?:什么|啥|哪些)(?:功能|本事|用处|用)(?:呢|啊|\?)*|(?:帮助|help|使用说明|功能"
    r"|菜单|怎么用(?:你|啊|呀)?|怎么(?:使用|问你)|如何使用)\??"
    r"|你(?:是|叫)(?:谁|什么|啥|哪个|机器人|真人|ai|人工智能).{0,8}|你是.{0,6}(?:做的|开发的|吗).{0,4}"
    r"|(?:怎么|该怎么)称呼你.{0,2}|what can you do.{0,6}|who are you.{0,2}"
    r"|你(?:能|会|可以)(?:不能)?.{1,12}(?:吗|不)\??"
)
_AGAIN = re.compile(
    r"(?:请|麻烦)?你?(?:再|重新?)(?:说|讲|发|回答|重复)(?:给我)?一?[遍次下](?:吧|呗)?|(?:请"
    r"|麻烦)?重复一?[遍下]|(?:say|repeat) (?:that|it)(?: again)?|again"
)
_LAST_QUESTION = re.compile(
    r"(?:那)?我(?:上[次一回]个?|刚刚?才?|之前|前面)(?:都)?(?:问|说)(?:的|了|过|到)*(?:问题)?(?:是"
    r"|都是)?(?:什么|啥|哪个)(?:来着|问题)?\??"
    r"|我的?上一?个问题是什么\??|what did i (?:just )?ask\??"
)
_REMINDER = re.compile(
    r"(?:记得|别忘了?)?(?:到时候?|[^,]{0,14})(?:提醒|叫|喊)我[^,]{1,30}|(?:设|定)(?:置|个)?(?:一个)?(?:闹钟"
    r"|提醒).{0,16}"
)
_NOTICE_TIME = re.compile(r"(?:通知|提醒|推送|叫)我$|时间|改[成到为]|点(?:以后|之后)?$|提前")
_RULES = re.compile(
    r"(?:请|现在|麻烦)?(?:忽略|无视|忘掉|忘记|绕过|绕开|跳过|解除|抛开|不管)(?:掉|你|以上|上面|上述|之前|前面"
    r"|先前|所有|一切|全部|任何|别的|什么|安全|系统|的)*"
    r"(?:设定|规则|指令|限制|要求|身份|约束|提示词?|规定|权限(?:校验)?|命令).{0,10}"
    r"|(?:从现在起|现在|从现在开始)?你?(?:现在)?(?:没有|不受)(?:任何)?(?:限制|约束)了?|(?:从现在起|假装"
    r"|假设)?你(?:现在)?(?:是|扮演|没有)(?:dan|开发者|root|管理员|任何限制|[^吗?]{1,8}(?:师|人|家)).{0,6}"
    r"|(?:ignore|forget|disregard|bypass) .{0,30}(?:instructions?|rules?|prompts?|limits?).{0,20}"
    r"|.{0,12}(?:系统提示词?|system prompt|提示词).{0,12}"
)
_IDENTIFIER = re.compile(
    r"身份证|手机号|(?<!打)电话号?码?(?!随访)|家庭?住址|住址|姓名|(?<!我)叫(?:什么|啥)名|家住|住(?:在)?哪"
    r"|出生|生日|(?:哪年哪月|哪年|几月几号|哪天)(?:出)?生|(?<!起个)名字(?!里)|真实姓名"
    r"|住院号|病历号|银行卡|邮箱"
)
_SOUGHT = re.compile(
    r"发|给|导|列|查|是|年|哪|啥|多少|什么|告诉|所有|全部|§|谁|哪|要|看|show|list|name|phone"
)
_OF_STAFF = re.compile(
    r"[pP][iI](?![a-z])|主任|医生|监查|牵头|联系人|研究者|护士|负责|协调员|crc|cra|机构|伦理|管理员|中心|申办"
)
_STUDY = re.compile(r"受试者|患者|病人|入组|方案|访视|随访|质控|周报|试验|研究|项目|筛[选败]")
_OUTSIDE = re.compile(
    r"股[市票价]|大盘|天气|气温|下雨|下雪|带伞|电影|唱歌|首歌|[写首].{0,8}诗|七律|笑话|段子|故事|小说|菜谱|红烧"
    r"|好吃的|火锅|外卖|旅游|去哪儿?玩|彩票|双色球|球赛|足球"
    r"|世界杯|星座|运势|算命|机票|翻译成|翻成|爬虫|贪吃蛇|python|java(?!s)|股票分析|[我咱](?:家)?(?:爸|妈"
    r"|爷爷|奶奶|外婆|外公|儿子|女儿|孩子|老婆|老公|媳妇|姥姥|姥爷)"
)


SHOW = "show"
"""The topic of the task that asks for all that is kept."""
DAY, REVIEWS = "day", "reviews"
"""What an agenda is asked for: all that waits for the reader, or only what is to be reviewed."""
# A clause asks for one's own day where nothing but these stands in it (design.md 5a.1).
_WHO = "我们?(?:这儿|这里|这边|手上|手头|名下)?"
_WHEN = "今天|今日|今儿|现在|目前|眼下|手上|手头|这会儿"
_ASKED = "有没有|有什么|有啥|什么|啥|哪些|哪几|几[个条项件例]?|多少"
_REVIEW = "复核|审核|审批"
_WORK = "待办|任务|事情|事|工作|活儿|活|处理|干|做|办|忙|等着|等|轮到"
_REST = "还|都|要|该|得|需要|应该|急着?|紧急|重要|先|有|的|些|点|吗|呢|么|来|去|在|待|[条项件]|请问|[\\s,?]"
_WHOLE = re.compile(f"(?:{_WHO}|{_WHEN}|{_ASKED}|{_REVIEW}|{_WORK}|{_REST})+")


def agenda(clause: str) -> str:
    """`DAY` or `REVIEWS` where every word of a clause asks what waits for the reader, else ""."""
    said = masked(clause)[0]
    if not _WHOLE.fullmatch(said):
        return ""
    own, when, asked = (re.search(words, said) for words in (_WHO, _WHEN, _ASKED))
    if re.search(_REVIEW, said):
        return REVIEWS if own and asked else ""
    return DAY if re.search(_WORK, said) and asked and (own or when) else ""


def topic_of(clause: str, pattern: str | None = None) -> str | None:
    """The topic of a clause that is talk; None for all else. `pattern`: of the study's record ids."""
    said, ids = masked(clause, pattern)
    if _AGAIN.fullmatch(said):
        return AGAIN
    if _LAST_QUESTION.fullmatch(said):
        return LAST_QUESTION
    if _GREET.fullmatch(said):
        return GREET
    if not said or _THANKS.fullmatch(said):
        return THANKS
    if _RULES.fullmatch(said):
        return INSTRUCTIONS
    if _IDENTIFIER.search(said) and _SOUGHT.search(said) and not _OF_STAFF.search(said):
        return IDENTIFIER
    if not ids and _HELP.fullmatch(said):
        return HELP
    if not ids and _OUTSIDE.search(said) and not _STUDY.search(said):
        return OFF_TOPIC
    if _REMINDER.fullmatch(said) and not _NOTICE_TIME.search(said):
        return REMINDER
    return None


def told_by_form(clause: str, pattern: str | None = None) -> Task | None:
    """A clause that is an order, to be written, an agenda, asks for all that is kept or is talk; else None."""
    if order := orders.order_of(clause, pattern):
        return Task(TaskKind.ORDER, clause, order=order)
    if orders.writes(clause, pattern):
        return Task(TaskKind.ENTRY, clause)
    if day := agenda(clause):
        return Task(TaskKind.AGENDA, clause, topic=day)
    if asks_all(clause):
        return Task(TaskKind.MEMORY, clause, topic=SHOW)
    topic = topic_of(clause, pattern)
    return Task(TaskKind.TALK, clause, topic=topic) if topic else None


CALLED = re.compile(
    rf"^(?:请|麻烦|帮我|给我|查|看|问|一?下|那|,)*(?!方案|周报|高血|石|常规|马上"
    rf"|金额)[{FAMILY}][\u4e00-\u9fff]{{1,2}}? ?"
    r"(?=的|今天|现在|最近|入组|出组|下次|上次|怎么样|是[哪几男女]|有没|来|签|这个|那个)"
)
"""A surname and a given name before what is asked of a person."""
WHOM = re.compile(r"哪[个位名](?:病人|患者|受试者)")
"""Asks which patient somebody is."""
