"""What people say of themselves, ask back about it, or want sent to them at which times.

All of it is memory (`remember`). A part is the marked text without padding, lower case, as in
`rules`.
"""

import re

from engines.assistant.intents.marks import NAME, RECORD, VISIT

_ASKED = re.compile(
    r"什么|啥|哪|多少|几|怎么|咋|谁|吗|么$|是否|\?|为何|呢$|没有?$|当初|为什么|(?<![能要])(.)不\1"
)
_POLITE = re.compile(r"能不能|可不可以|可以吗?|好不好|好吗|行吗|行不行|请问?|麻烦|帮我|帮忙")
_LEAD = r"^(?:请问?|麻烦|帮我|帮忙|那|其实|对了|补充|你|系统|知道|还|记得|清楚|,)*"
_ME = r"(?:我(?!们)|本人)"

# When somebody is told something.
_NOTICE = r"(?:通知|提醒|推送)(?![卡单函书信])"
_TO_ME = r"(?:通知|提醒|推送?给?|[发送]给?|叫|喊)我"
_NUMERAL = r"[#一二两三四五六七八九十]"
_DAYTIME = r"凌晨|清晨|早上?|早晨|上午|中午|午后|下午|傍晚|晚上?|夜里|半夜|[上下]班"
_WEEKDAY = r"(?:周|星期|礼拜)[一二三四五六日天末]"
_TIME = rf"(?:{_DAYTIME}|{_WEEKDAY}|{_NUMERAL}点|†|每[天日周月晚早]|工作日|[明后]天)"
_MOVE = r"(?:改|换|调|挪|移|推迟|提前|延|设|定)"
_MOVED = (
    re.compile(rf"{_MOVE}[到成为至在回整个]{{0,2}}.{{0,6}}{_TIME}.{{0,10}}{_TO_ME}"),
    re.compile(rf"{_NOTICE}(?:{_ME}|消息)?的?(?:时间|时刻|时段|频率).{{0,8}}{_MOVE}"),
    re.compile(
        rf"^(?:请|麻烦|你|先|,)*(?:别|不要|不用|勿)在?.{{0,3}}{_TIME}.{{0,6}}(?:(?:{_NOTICE}给?|打扰|吵|打电话给){_ME}|给{_ME}{_NOTICE})"
    ),
    re.compile(rf"{_MOVE}(?:一?下|掉)?(?:{_ME}的?)?(?:消息)?{_NOTICE}的?(?:时间|时刻|时段|频率)"),
)
_NOTICE_TIME = re.compile(
    rf"{_NOTICE}(?:{_ME}|消息)?的?(?:时间|时刻|时段|频率)|{_TO_ME}的(?:时间|时刻)"
)
_GOES_ON = re.compile(rf"(?:就|还是|请|帮我|给我|都)*{_MOVE}[到成为至在回整]")

# A report wished for again and again, or at another time: no order for one now.
_DAYS = r"[一二三四五六日天](?!报)"
_PERIOD = (
    rf"(?:每[逢个隔]*(?:天|晚上?|早上?|日(?!报)|(?:周|星期|礼拜)(?!报)(?:末|{_DAYS})?|月(?!报)|季度?(?!报)|年(?!报)|工作日)"
    rf"|工作日|逢?(?:周|星期|礼拜){_DAYS}(?:[到至\-~、和]?(?:周|星期|礼拜)?{_DAYS})+)"
)
_CLOCK = (
    rf"(?:的(?={_DAYTIME}|{_NUMERAL})|在|{_DAYTIME}|{_NUMERAL}|点[半钟整]?|[一三]刻|分|:|†|之?[前后]|左右"
    r"|准时|定时|按时|自动|固定|统一|都|就|要|请|你|帮我|[,、])*"
)
_SENT = r"(?:发|推送?|送|给|报|来)"
_TEXT = r"(?:[日周月季简]报|报告|小结|总结|汇总|汇报|进[展度]|情况)"
_SCHEDULED = re.compile(
    rf"^(?:请|麻烦|帮我|希望|我想|我要|你|从[下本这]周[起开始]*|,)*{_PERIOD}{_CLOCK}"
    rf"(?:(?:给|向|为|跟){_ME}|[把将][^,]{{1,12}}?)?{_SENT}(?=.*{_ME}|(?<=给我.)|(?<=给我..))"
)
_RESCHEDULED = re.compile(
    rf"{_TEXT}.{{0,2}}(?:改|换|挪|调)[到成为至在]?.{{0,4}}{_TIME}.{{0,6}}{_SENT}给?我?[吧啊就行好]*$"
)

# Who one is, what one does and looks at.
_ROLE = r"护士长?|医生|大夫|医师|药师|技师|研究者|协调员|监查员|稽查员|统计师|数据管理员|crc|cra|pm|pi|sub-?i"
_PLACE = r"科室?|中心|病区|院区|医院|药房|课题组|机构办|申办方|cro"
_IS = r"(?:现在|目前|其实)?是(?!说|想|问|要|让|来|在|代|指|看|觉|怕|真|没|你|[他她]|第|新|刚|不是)"
_INTRODUCES = re.compile(
    rf"^{_ME}(?:不是[^,;?]{{1,12}}[,;]?{_ME}?)?{_IS}[^,;?§¤]{{0,12}}?"
    rf"(?:(?:{_PLACE})(?:的[^,;?§¤把给看查将]{{0,8}})?|{_ROLE})(?:※|了|[\u4e00-\u9fff]{{0,3}})?(?:,?不是[^,;?]{{1,12}})?$"
)
_ERRATUM = re.compile(
    r"(?:再|先|我|来|要|刚才?|之前|前面|,)*(?:(?:更正|纠正|订正|勘误|修正|改正)(?:一?下)?"
    r"|(?<=我)(?:刚才?|之前|前面)?[说写打讲]错了)[吧哈啊,:]*"
)
_FOCUS = (
    rf"{_LEAD}{_ME}(?:个人|平时|现在|目前|自己|一般|一直|主要|比较|特别|非常|尤其|重点|只|也|更|最)*"
    r"(?:关注|关心|在意|看重|(?<=重点)看)(?!一?下|到)"
)
_FOCUSED = re.compile(rf"{_FOCUS}(?:的(?:主要)?是)?(?!的)[^,;?]{{1,20}}$")
_DUTY = re.compile(
    r"^(?:我们?|本人|咱们?)?(?:这?组|科|中心)?(?:叫|是)?[^,。;?!]{0,8}?(?:现在|目前|主要|专门|只)*"
    r"(?:负责|分管|主管)(?![的人]|医|老师|护)[^?]{1,24}$"
)
_DOES = re.compile(rf"^{_ME}(?:主要|平时|专门|一直|就是)+(?:做|搞|管|从事)[^,;?了过]{{2,16}}$")
# Work that is named with the characters of an order or a question.
_WORK = re.compile(
    r"[核检稽监自排审抽督巡复]查|查[房体重]|问[题卷诊]|质疑|质控|访问|看护|看诊|说明书|流程"
)
_ORDERED = re.compile(
    r"查|看|问|我要|没(?!来|打|接|吃|去)|告诉|(?<![他她人者])说|如何|了解|调出|找|有无|给我|发我|定义|时限"
)
_WHAT = r"(?:什么|啥|哪(?:些|个|块|几|里|儿|方面|一)|谁)"
_RECALLS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{_LEAD}{_ME}的(?:最佳|默认|个人|汇报|回复)?(?:{_NOTICE}(?:的?时[间刻段]|频率|方式)?|关注点|关注重点|偏好|喜好"
        r"|称呼|职责|分工|岗位|职务|科室|身份(?!证)|名字)(?:(?:都|设|定|现在|目前|到底|具体|是|在|有|叫)*"
        r"(?:什么|啥|哪|几|多少|怎么|吗|是否|\?).{0,8}|是?来着)?$",
        rf"{_LEAD}{_ME}(?:是|在|属于)(?:谁|(?:哪|什么|啥)[个家一]?(?:{_PLACE}|部门|组|单位|角色|职[位务]|岗位?|身份))"
        r"(?:的|来着|啊|呢|吗|\?)*$",
        rf"{_LEAD}{_ME}(?:主要|到底|具体|现在|目前|都|是)*(?:负责|分管|主管|管)(?:的是)?{_WHAT}[^,;§¤]{{0,8}}$",
        rf"{_FOCUS}(?:的?(?:点|重点|内容|指标|方面)?(?:都|是|有)*){_WHAT}[^,;§¤]{{0,8}}$",
        rf"{_LEAD}{_ME}(?:是不是|是否)(?:现在|也|还)?(?:负责|分管|主管|管|在|属于|关注)(?!的)[^,;§¤]{{1,10}}$",
        rf"{_LEAD}{_ME}(?:现在|也|还|是)*(?:负责|分管|主管|管|关注)(?!的)[^,;§¤]{{1,10}}(?:吗|么)\??$",
        rf"{_LEAD}{_ME}叫(?:什么|啥)(?:名字?)?(?:来着|啊|呢|吗|\?)*$",
        rf"{_LEAD}(?:一般|通常|每天|都|会|是)*(?:几点|什么时候|啥时候|何时|哪个时间)(?:会|给|来)*{_TO_ME}"
        r"(?:消息|通知|提醒|推送)?(?:的|啊|呢|\?)*$",
        rf"{_LEAD}(?:一般|通常|每天|都|会|是)*(?:几点|什么时候|啥时候|何时)(?:会|给)*{_ME}(?:推送|提醒|通知|发消息)(?:的|啊|呢|\?)*$",
        rf"{_LEAD}{_ME}(?:一般|通常|每天|都|会|是|该|能)*(?:几点|什么时候|啥时候|何时)(?:会|能)?(?:收到?|接收?到?)"
        r"(?:消息|通知|提醒|推送)(?:的|来着|啊|呢|\?)*$",
    )
)


def of_speaker(part: str) -> bool:
    """Tell whether a part says or asks something of its speaker, or of what is sent to them when."""
    if any(pattern.search(part) for pattern in _RECALLS):
        return True
    wish = _POLITE.sub("", part)
    if _ASKED.search(wish):
        return False
    return introduces(part) or _corrects_oneself(part) or _does(part) or _wants_sent(wish)


def introduces(part: str) -> bool:
    """Tell whether a part only says who speaks, which goes along with many an order."""
    return bool(_INTRODUCES.search(part)) and not _ASKED.search(part)


def continues(before: str, part: str) -> bool:
    """Tell whether a part only says on what its speaker says of themselves in the one before it."""
    if only_erratum(before):
        return bool(_SELF.match(part)) or not _ASKS_ANEW.search(part)
    himself = introduces(before) or _corrects_oneself(before)
    return bool(himself and _NOT_THAT.fullmatch(part)) or _wishes_on(before, part)


def shares_duty(before: str, part: str) -> bool:
    """Tell whether a part names one more duty of who said theirs before it ("我负责随访和录入")."""
    alike = not (_ASKED.search(part) or _ORDERED.search(_WORK.sub("", part)) or RECORD in part)
    return alike and bool(_DUTY.search(before)) and _does(before)


def only_erratum(part: str) -> bool:
    """Tell whether a part only says that a correction follows."""
    return bool(_ERRATUM.fullmatch(part))


def corrects_subject(part: str) -> bool:
    """Tell whether a part corrects what is noted of one subject ("更正一下,P003是女的不是男的")."""
    found = _ERRATUM.match(part)
    return bool(found and _OF_SUBJECT.match(part, found.end())) and not _ASKED.search(part)


_SELF = re.compile(
    rf"{_ME}(?:现在|目前|其实|应该)*(?:是(?!说|想|问|要|让|来|在|指)|不是(?!说|想|问|要|让|来|在|指)|叫|姓|在|管|负责|分管|关注|的(?!意思))"
)
# What was meant by the last message, or is wanted now, is no correction of what is kept.
_ASKS_ANEW = re.compile(
    rf"^(?:{_ME}|是|应该|应)*(?:[查看问要想说指]|[§¤])(?!.*(?<!不)是[^§¤不])|{_ASKED.pattern}"
)
_NOT_THAT = re.compile(r"(?:而|并)?不是[^,;?§¤#]{1,12}")
_OF_SUBJECT = re.compile(r"[§¤](?:的[^,;]{1,10})?(?:应该?|其实|实际)?是(?![§¤])")


def _wishes_on(before: str, part: str) -> bool:
    return bool(_NOTICE_TIME.search(before) and _GOES_ON.match(part)) and RECORD not in part


def _corrects_oneself(part: str) -> bool:
    found = _ERRATUM.match(part)
    return bool(found and _SELF.match(part, found.end()))


def _does(part: str) -> bool:
    duty = _DUTY.search(part) or _DOES.search(part)
    return bool(_FOCUSED.search(part) or (duty and not _ORDERED.search(_WORK.sub("", part))))


def _wants_sent(wish: str) -> bool:
    if RECORD in wish or NAME in wish or VISIT in wish:
        return False
    moved = any(pattern.search(wish) for pattern in _MOVED)
    again = _SCHEDULED.search(wish) and re.search(_TEXT, wish)
    return bool(moved or again or _RESCHEDULED.search(wish))
