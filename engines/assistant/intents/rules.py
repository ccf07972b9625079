"""The labelling rules that say something explicitly, as patterns on one part of a message.

Source: intents_labels.md; the numbers are the rules there. A part is the marked text without
padding, lower case: `§` a subject, `¶` a visit, `¤` a patient's name, `※` staff, `†` a date.
"""

import re

from engines.assistant.intents import (
    answers,
    orders,
    own,
    single,
)
from engines.assistant.intents.marks import NAME, RECORD
from engines.assistant.intents.model import NONE
from engines.assistant.intents.types import Intent

_NEGATED = re.compile(
    r"^(?:那|这次|今天|现在|先|暂时|请|麻烦|你|千万|其实|就|哦|嗯|好的|§|¤|的|都|周报|月报|质控|,|\s)*"
    r"(?:不用|不必|不需要|无需|无须|别|(?<!要)不要|甭|先不|暂不|没必要|不想|不是要|不是让你|不急着?|别急着?(?=[出跑做写录查登质])|请?勿|切勿|严禁)"
    r"(?!忘|把.{1,10}忘|漏|谢|客气|紧|错|超过|了$|再(?:记|发|推|提醒|叫|称|[给跟对][我他])|记(?:我|着)|管我|啰|绕|老|扯|瞎|糊弄|敷衍|废话|那么|这么|说这|急|人|院|的科|的医)"
    r"|^.{0,12}(?:先不|不用|不必|先别|暂不|别)(?:再)?(?:管|查|看|跑|录|做|写|出|弄|动|质控|登记)(?:它|他|了)*$"
    r"|^(?:§|¤).{0,3}不(?:查|看|跑|录|做)了?$|^(?:别的|其他的?|其余)(?:都)?(?:不用|不要|不看)"
    r"|^(?:先)?不(?:跑|做|出|录|查|看)(?:质控|周报|月报|报告|§)"
    r"|^我?(?:并|也)?(?:不(?:问|想看|想知道)|不是(?:要|想|想要|想看)(?!的))(?!题|过|到)(?!.*[?吗])"
)
_PREAMBLE = re.compile(
    r"^(?:请|现在|麻烦)?(?:忽略|无视|忘掉|忘了|忘记|绕过|绕开|跳过|解除|抛开|不管|不要管)"
    r"(?:掉|你|以上|上面|上述|之前|前面|先前|所有|一切|全部|任何|别的|其[他它余]|什么|安全|系统|的)*"
    r"(?:设定|规则|指令|限制|要求|身份|约束|提示词?|规定|权限|命令)$"
    r"|^(?:从现在起?|现在|从现在开始)?,?你?(?:现在)?(?:没有|不受)(?:任何)?(?:限制|约束)了?$|^你(?:现在)?是(?:dan|开发者|root|管理员)(?:模式)?$"
    r"|^(?:从现在起|从今天起|现在起|假装|假设|假如)你?(?:是|扮演|成为|当).{1,8}$"
    r"|^(?:ignore|forget|disregard|bypass) .{0,30}(?:instructions?|rules?|prompts?|limits?)$"
    r"|^you are (?:now )?(?:in )?(?:a )?(?:dan|developer|root|admin|jailbroken)\b.{0,12}$"
)
_CONDITION = re.compile(
    r"^(?:如果|要是|万一|假如)?[^§¤?]{1,14}的话$|^(?:如果|要是|万一|假如|若)[^§¤?查看核录]{1,12}$"
)
_IF = re.compile(r"^(?:如果|要是|万一|假如|若)|[§¤].*(?:要是|如果)|的话$")
_LASTING = re.compile(r"以后|今后|往后|下次|下回|每次|从现在|从今|记住|记得|默认|忘记")
_ABOUT_ASSISTANT = re.compile(
    r"你.{0,3}(?:是谁|是什么|是哪|是不是|是机器|是ai|是真|是人|能|会|可以|叫|懂|支持|有啥|有什么|有哪些|擅长|都有)"
    r"|怎么(?:用|使|问|跟你)|功能|使用|操作手册|机器人|真人|称呼你|what can|who are|how do i|are you a"
)
_TOLD = re.compile(
    r"^(?:请|麻烦|帮我)?(?:以后|今后|往后|从现在起|从今天起|下次)(?!.{0,6}(?:随访|访视|来|复查|给药|什么时候|几号|是哪天))"
)
_KEEP = re.compile(
    r"^(?:请|你|帮我|麻烦|给我|替我)*(?:记住|记牢|记着|提醒我|别忘|忘掉)|(?:记住|[,你]记着)[了啊哦吧]?$"
    r"|^(?:把|我的|访视|随访|周报|每日|的)*(?:提醒|通知|推送)(?:.{0,4})(?:提前|推迟|改[到成]|放[到在]|发到|早点|晚点|关了|关掉)(?!.{0,8}[吗?])"
    r"|^(?:凡是|每当)?(?:提到|说到|讲到|提起|说起|谈到).{0,14}(?:叫|称呼|用|都|记得|只|要|别)(?!.{0,8}[吗?])"
)
_CORRECTS = re.compile(
    r"^(?:我|你)?(?:又|都|可|明明|并)?(?:不是|没|没有)(?:让|叫|请|喊)你|^我?(?:不是|没)问(?!题|过)"
    r"|^不是(?!要|想)[^吗?§#是]{1,5}$|^(?:你|刚才?|又|是不是|都)*(?:看|弄|搞|算|数|说|理解|查|答|列)(?:错|反|混|串)[^吗?录填改]{0,4}(?:了|吧|啦)+$"
    r"|说(?:反|错|串)[了吧啦]+$"
)
_WRITE = re.compile(
    r"(?<![漏没未已])(?:记|登记|录|补|加|添加|新增|报)(?:一?[条个例下]|上)?.{0,8}(?:s?ae(?![a-z])|不良事件|合并用药|方案偏离)"
    r"|(?<![漏没未已])记一?[个条笔](?!备忘|提醒|事|笔记|会议|待办)"
    r"|(?:填|录|输|登|写)[错反]了(?=[应要,]|$)(?!.*你)|(?:填|录|输|登|写)[错反]了.{0,3}(?:应该|实际|其实)?是[#§¶†]"
    r"|[§¤].*#.{0,8}(?:记一?下|记上|记着)$|记进去|录进去|写进系统|录入系统|填进系统|登记一下|补录"
)
_ASKS = re.compile(
    r"(.)不\1|查|看|问|我要|吗|没(?!来|打|接|吃|去)|多少|几|什么|啥|怎么|哪|是否|告诉|(?<![§¤他她人者])说|\?|如何|了解|调出|找|谁|咋|有无|给我|发我|定义|时限|流程|呢$"
)
_REPORT = r"(?:周报|月报|季报|年报|简报|报告)"
_PAST = (
    r"(?:上上?个?[周月]|上次|上一[份期次]|上礼拜|上个?星期|上季度|去年|之前|以前|往期|往年|历年|前年|历次"
    r"|前几周|第#周|†)"
)
_MISSED = re.compile(
    rf"{_PAST}.{{0,6}}{_REPORT}.{{0,6}}(?:漏|忘|没出|没发|没写|没做|补(?!贴|助|偿))"
    rf"|补(?!贴|助|偿).{{0,6}}{_PAST}.{{0,3}}{_REPORT}|(?:忘|漏|没)[了记]?[出写发做]了?.{{0,6}}{_REPORT}|{_REPORT}.{{0,4}}补(?!贴|助|偿)"
)
_OLD_REPORT = re.compile(
    rf"{_PAST}.{{0,6}}{_REPORT}.{{0,4}}(?:里|中|说|写了|写的|讲|内容|提到|怎么|结论|给我看|看看|看下|找出|再发)"
    rf"|(?:翻|找|看).{{0,4}}{_PAST}.{{0,5}}{_REPORT}|{_PAST}.{{0,5}}{_REPORT}(?:找|翻|调)"
)
_PAST_QC = re.compile(
    r"(?:上次|上回|上一次|最近一次|之前|以前).{0,6}质控.{0,8}(?:什么时候|啥时候|哪天|几号|几点|结果|发现|时间|什么|啥)"
    r"|质控.{0,4}(?:历史|记录)|(?:什么时候|啥时候|哪天|几号).{0,6}质控(?:过|的)"
    r"|(?:什么时候|啥时候|哪天|几号).{0,8}(?:做|跑|查|走)[的过]了?.{0,8}质控"
)
_QC_RESULT = re.compile(
    r"(?:质控|复核|核查)(?:[§¤])?的?(?:结果|结论)(?:是|有|都|现在|出来了?)*(?:怎么样|怎样|咋样|如何|什么|啥|多少|呢|吗|没|在哪)"
    r"|(?:看一?下|看看|查看).{0,8}的(?:质控|复核|审核)(?:结果|结论|状态|情况|记录)?$"
)
# Appointments and postponements that are to be written down.
_BOOK = re.compile(
    r"(?:[¶§¤]|访视|随访|复查|复诊|日期|时间).{0,10}?(?:改|[更修订]正|推迟|推后|延后|延|顺延|提前|挪|推|调整|定|约|安排|排)(?:到|至|成|为|在)(?!底)"
    r"|(?:¶|访视|随访|复查|复诊).{0,4}(?:推迟|延后|延迟|顺延|提前|往[前后][推挪延])(?:#|[一二两三半])个?[天周月]"
    r"|^(?:请|麻烦|帮忙|帮我|你)*(?:给|把|帮|替|和|跟)[§¤¶他她].{0,4}(?:预约|约一?[下个]|约[上好†周下明后]|改约|改期|排[到在一])"
    r"|^(?:请|麻烦|帮忙|帮我|你)*[把将].{0,8}(?:[¶†]|日期|访视|随访|复查).{0,4}(?:往|向)?[前后]?(?:挪|推|延|提)[前后迟]?.{0,3}[天周]"
    r"|^(?:请|麻烦|帮忙|帮我|你)*(?:预约|约一?[下个]|改约|约)[§¤]"
)
_DOUBTED = re.compile(
    r"(.)不\1|吗|么$|不$|[行可]以?不|没$|没有$|什么|啥|怎么|哪|几[号天点月]|[周期拜]几|是否|为何|第几|能.{0,12}不|谁|多久|\?|记住|提醒|以后|今后|往后(?![挪推延])|默认|前$|会[上议]"
    r"|(?<!应)该(?=来|做)|原因|之前"
)
_VALUE = re.compile(
    r"^(?:应该?|实际|其实|正确的?|真实的?)(?:应该?)?是[^吗?谁哪什啥]{1,12}$|^不是#.{0,4}是#.{0,4}$"
)
_DONE = re.compile(r"^[^吗?把将请帮]{0,10}(?:补|录|改|填|更新|传|写|修)(?:完|好|过|齐)了$")
_CHANGED = re.compile(
    r"(?:改|调整|变|修订|变更|动|放宽|收紧|更新)过(?![程敏度])|(?:改|变|修订|更新|调整)(?:了|的)(?:什么|啥|哪|多少|几)"
    r"|(?:什么时候|啥时候|何时|几时|哪[年次]|几月).{0,6}(?:改|放宽|收紧|调|加|删|降|提高|延长|缩短)[^吗?]{0,3}的$"
    r"|谁(?:提|定|决定|拍板|同意|要求|主张|建议|说)[^吗?]{0,6}(?:的|改|换|停|加|不)"
)
_OF_RULES = re.compile(
    r"方案|标准|入排|入选|排除|纳入|知情|终点|窗|随访|访视|剂量|洗脱|样本量|流程|间隔|频率|频次|年龄|上限|下限|crf|第#[条版]|pi(?![a-z])"
)
_WINDOW = re.compile(
    r"超窗|[§¤].{0,4}过期|时间窗|窗口|窗期|访视窗|逾期|(?:下次|下回|下一次)(?:来|访视|随访|复查|什么时候|啥时候|几号|哪天|是)"
    r"|(?:¶|访视|随访|复查|复诊).{0,6}(?:哪天|几号|什么时候|啥时候|何时|日期|最晚|最早|到期|前后)"
)
_NOT_WINDOW = re.compile(
    r"登记|偏离|记|录|原因|为什么|为啥|比例|趋势|多了|越来越|改成|改到|质控|写|(?:哪天|什么时候).{0,4}质控|上次会|怎么定|取消|随访.{0,3}(?:做?到(?=什么|啥|何|哪)|要?做多|持续|一?[总共]|期[有是要])"
)
_PERSON = re.compile(
    r"那[个位].{0,14}(?:病人|患者|受试者|老太太|老头|大爷|阿姨|小伙|姑娘|女的|男的)|谁|哪[个位几些一]"
)
_ANYBODY = re.compile(r"人|患者|受试者|病例|中心|大家|其[他它余]|别的|都|最|几[例个位]|规律|共同")
_DESCRIBED = re.compile(
    r"那[个位](?!时|月|周|季|次|方案|会).{1,10}的.{0,6}(?:后来|现在|怎么样|咋样|怎么处理)"
)
_MEETING = re.compile(r"会上|会议|讨论|报告|方案|决定|周报|月报|事[,的]?")
_DECIDED = re.compile(
    r"(?:当时|当初|当年|那会儿?|那时候).{0,4}(?:为什么|为啥|为何|怎么(?:定|想|考虑|决定|商量)|是?怎么说)"
)
_NOT_OF_ONE = {
    Intent.QUERY_PROTOCOL,
    Intent.PROJECT_INFO,
    Intent.GENERAL_CHAT,
    Intent.OFF_TOPIC,
    Intent.COUNT_RECORDS,
    Intent.QA_QUERY,
}
_QUESTION = re.compile(r"啥|多少|几[例个位名次天片盒种周月岁]|什么|哪|怎么|为啥|为何")
_OF_MEMORY = re.compile(
    r"记|忘|提醒|备忘|偏好|习惯|喜欢|爱看|规矩|要求|格式|以后|今后|往后|下次|你知道|你清楚|叫|印象|设"
)
_WRITTEN = re.compile(
    r"(?:录|填|登记|写|补|传|报|交|签|改|关)(?:了|过|完|好|上|进去|进系统)*(?:没有?|吗|么|不)[啊呢呀]?$|([录填写补传报交签改])没\1|有没有.{0,2}(?:录|填|登记|上传|报|写|补)"
)
_WHY = re.compile(r"为什么|为啥|为何|怎么")
_FAILED = re.compile(
    r"没过|没有?通过|不通过|不合格|没入|筛败|没满足|不符合|不满足|没达|卡在|退出|退组|脱落|出组"
)
_OUTSIDE = re.compile(
    r"股[市票价]|大盘|天气|气温|下雨|下雪|带伞|电影|唱歌|首歌|首诗|写诗|笑话|段子|故事|小说|菜谱|红烧|好吃的|火锅|外卖"
    r"|旅游|去哪玩|去哪儿玩|彩票|双色球|球赛|世界杯|星座|运势|算命|翻译成|翻成|爬虫|贪吃蛇|python|java|excel"
    r"|[我咱](?:家)?(?:爸|妈|爷爷|奶奶|外婆|外公|儿子|女儿|孩子|老婆|老公|媳妇|姥姥|姥爷|丈母娘|岳父)"
)
_VISITING = re.compile(r"访视|随访|复查|复诊")
_STUDY = re.compile(
    r"受试者|患者|病人|入组|方案|访视|随访|质控|周报|月报|报告|ae(?![a-z])|试验|研究|项目|crf|数据|筛[选败]|标准|[§¶¤]"
)


def negated(part: str) -> bool:
    """Tell whether a part says what must not be done (rule 2)."""
    refused = _NEGATED.search(part) and not _LASTING.search(part)
    return bool(refused) and not own.of_speaker(part)


def conditional(part: str) -> bool:
    """Tell whether a part is an "if" that has to be looked up first (rule 3)."""
    return bool(_IF.search(part))


def corrects(part: str) -> bool:
    """Tell whether a part complains that something else was asked for (rule 9)."""
    return bool(_CORRECTS.search(part))


def only_preamble(part: str) -> bool:
    """Tell whether a part only lifts the rules; an injection is labelled by what it wants."""
    return bool(_PREAMBLE.search(part))


def only_condition(part: str) -> bool:
    """Tell whether a part is the bare "if" of the step after it (rule 3)."""
    return bool(_CONDITION.search(part))


def of_anybody(part: str) -> bool:
    """Tell whether a part looks for persons, centres or causes, not for what one subject has."""
    return bool(_PERSON.search(part) or _ANYBODY.search(part))


def asks_about_assistant(part: str) -> bool:
    """Tell whether small talk asks something itself (rule 1)."""
    return bool(_ABOUT_ASSISTANT.search(part))


def impossible(part: str) -> frozenset[str]:
    """Return the classes that what stands in a part rules out.

    What is said of one subject is not about the study, the world or all subjects; a question
    that speaks of no memory is nothing to keep.
    """
    ruled_out: set[str] = set()
    if RECORD in part or NAME in part:
        ruled_out |= _NOT_OF_ONE
    if _QUESTION.search(part) and not _OF_MEMORY.search(part):
        ruled_out.add(Intent.REMEMBER)
    if orders.asked_again(part):
        ruled_out.add(Intent.QC_TASK)
    return frozenset(ruled_out)


def asks(part: str) -> bool:
    """Tell whether a part asks or looks something up, and is not a bare topic or statement."""
    return bool(_ASKS.search(part)) or orders.asked_again(part)


def decide(part: str, label: str) -> str:
    """Return the intent of a part: what the rules say explicitly, else the classifier's `label`."""
    return explicit(part, label) or _otherwise(part, label)


def explicit(part: str, label: str) -> str | None:
    """Return the intent that a part's own words leave no doubt about; None for all others."""
    stated = _memory_or_entry(part) or _appointment(part) or _past_or_new(part)
    return stated or _visit(part, label) or single.of_one(part, label)


def _otherwise(part: str, label: str) -> str:
    if label == Intent.FEEDBACK and (answers.of_mood(part) or not answers.judges(part)):
        return Intent.GENERAL_CHAT
    found = _outside(part, label) or _in_charge(part, label) or _of_design(part, label)
    return found or _person(part, label)


def done(part: str) -> bool:
    """Tell whether a part only reports an entry that was made ("P003数据补完了")."""
    return bool(_DONE.search(part))


def corrected_value(part: str) -> bool:
    """Tell whether a part only names the right value of what is to be changed."""
    return bool(_VALUE.search(part))


def _memory_or_entry(part: str) -> str | None:
    """Rules 8 and 9."""
    if corrects(part):
        return Intent.FEEDBACK
    if own.of_speaker(part):
        return Intent.REMEMBER
    if own.corrects_subject(part):
        return Intent.DATA_ENTRY
    if orders.decides(part) and not _LASTING.search(part):
        return Intent.DATA_ENTRY
    if orders.orders_check(part):
        return Intent.QC_TASK
    if orders.said_again(part):
        return Intent.GENERAL_CHAT
    if answers.limits_length(part):
        return Intent.REMEMBER
    if _KEEP.search(part) or _TOLD.search(part):
        return Intent.REMEMBER
    written = _WRITE.search(part) and not _ASKS.search(part) and not _LASTING.search(part)
    return Intent.DATA_ENTRY if written else None


def _appointment(part: str) -> str | None:
    """An appointment made or moved is written down; one asked about is rule 5."""
    booked = _BOOK.search(part) and not _DOUBTED.search(part)
    return Intent.DATA_ENTRY if booked else None


def _past_or_new(part: str) -> str | None:
    """Rule 6; what was changed in the study's own rules is history, too."""
    if _MISSED.search(part):
        return Intent.GENERATE_REPORT
    named = RECORD in part or NAME in part
    if not named and _CHANGED.search(part) and _OF_RULES.search(part):
        return Intent.QUERY_HISTORY
    past = (_OLD_REPORT, _PAST_QC, _QC_RESULT, _DECIDED)
    return Intent.QUERY_HISTORY if any(pattern.search(part) for pattern in past) else None


def _visit(part: str, label: str) -> str | None:
    """Rule 5."""
    clear = _WINDOW.search(part) and not _NOT_WINDOW.search(part)
    return Intent.VISIT_WINDOW if clear and label not in _OWN_WINDOW else None


_OWN_WINDOW = {
    Intent.REMEMBER,
    Intent.ANALYZE_TREND,
    Intent.FEEDBACK,
    Intent.QUERY_HISTORY,
    Intent.QC_TASK,
}


def _in_charge(part: str, label: str) -> str | None:
    """Who does the checks or entries orders none."""
    ordered = label in {Intent.QC_TASK, Intent.DATA_ENTRY}
    return Intent.PROJECT_INFO if ordered and _IN_CHARGE.search(part) else None


def _outside(part: str, label: str) -> str | None:
    if label == Intent.OFF_TOPIC and _VISITING.search(part):
        return Intent.VISIT_WINDOW
    remark = label == NONE and not asks(part)
    outside = _OUTSIDE.search(part) and not _STUDY.search(part) and not remark
    return Intent.OFF_TOPIC if outside and label not in {Intent.REMEMBER, Intent.FEEDBACK} else None


def _of_design(part: str, label: str) -> str | None:
    """What the study's texts lay down, though it is asked with 几, 哪些 or 多少."""
    if label == Intent.COUNT_RECORDS and _TEXT_COUNT.search(part):
        return None if _PEOPLE.search(part) else Intent.QUERY_PROTOCOL
    if label == Intent.PROJECT_INFO and _SO_FAR.search(part) and not _PLANNED.search(part):
        return Intent.COUNT_RECORDS
    if label == Intent.COUNT_RECORDS and _PLANNED.search(part) and not _REACHED.search(part):
        return Intent.PROJECT_INFO
    if _is_roster(part, label):
        return Intent.COUNT_RECORDS
    if label in _WORDLESS and orders.only_again(part):
        return Intent.QUERY_RECORD
    return None


_WORDLESS = {Intent.QUERY_PROTOCOL, Intent.PROJECT_INFO, Intent.QA_QUERY, Intent.OFF_TOPIC}


def _is_roster(part: str, label: str) -> bool:
    """Whether the subjects of a status are to be listed, whatever document a part calls it."""
    if re.search(_REPORT, part) or RECORD in part or NAME in part:
        return False
    made = label in (Intent.GENERATE_REPORT, Intent.PROJECT_INFO)
    listed = made or label in (Intent.QUERY_RECORD, Intent.QA_QUERY)
    return bool((made and _ROSTER.search(part)) or (listed and _ROSTER_OF.search(part)))


_TEXT_COUNT = re.compile(
    r"(?:入选|纳入|排除|入排|标准|终点|亚组|分层|量表|剂量|指标|分析集|附录).{0,6}(?:几|多少)[个条种项档]"
    r"|(?:几|多少)[个条种项档].{0,3}(?:入选|纳入|排除|标准|终点|亚组|分层|量表|剂量|指标)"
)
_PEOPLE = re.compile(r"人|例|病人|受试者|患者|位|名|签|筛|脱|退|§")
# A list of subjects is read from the data; a report is a text that is made.
_LIST = r".{0,4}(?:名单|名册|花名册|清单|列表|编号)"
_ROSTER = re.compile(rf"(?:受试者|患者|病人|病例){_LIST}")
_ROSTER_OF = re.compile(
    rf"(?:入组|在组|筛选|筛败|脱落|退出|随机){_LIST}"
    rf"|^(?:请|麻烦|帮我|帮忙|[给发]我|我?要|看看?|查看?|列出|导出|一下|一?份|全部|所有|全体|目前|现在|的)*"
    rf"(?:受试者|患者|病人|病例){_LIST}$"
)
_PLANNED = re.compile(
    r"(?:计划|预期|预计|拟|原定|方案设计)(?:要|总)?(?:入组?|招募?|收|纳入|样本|总).{0,8}(?:多少|几|数|量)"
)
# How many have come so far is read from the data, whatever it is asked of.
_SO_FAR = re.compile(
    r"(?:累计|已经?|目前|现在|至今|为止|到现在|总?共)(?:一?共|已经?|总共|成功)*(?:入组|筛选?|随机|入选|纳入|招募|招|收|入|完成|脱落|退出)"
    r"[了到过]?.{0,6}(?:多少|几[例个位人名]|[人例]数|总数)"
)
_IN_CHARGE = re.compile(
    r"(?:谁|哪[个位](?:老师|医生|同事|科室?|人|中心|部门)?)(?:来|在)?(?:负责|分管|主管)|由(?:谁|哪[个位].{0,4})(?:来)?(?:负责|做|分管)"
)
_REACHED = re.compile(r"差|还|完成|达|剩|缺|够|百分|%|进度|超")


def _person(part: str, label: str) -> str:
    """Rule 7; why a named subject failed, or whether its data are entered, is about it."""
    named = RECORD in part or NAME in part
    written = label == Intent.DATA_ENTRY and _WRITTEN.search(part)
    if named and (label == Intent.COUNT_RECORDS or written):
        return Intent.QUERY_RECORD
    why = _WHY.search(part) and _FAILED.search(part)
    if named and (label == Intent.QA_QUERY or (why and label in _ABOUT_RULES)):
        return Intent.QUERY_RECORD
    described = _DESCRIBED.search(part) and not _MEETING.search(part)
    asked = label == Intent.QUERY_RECORD and _PERSON.search(part)
    if not named and (asked or (described and label == Intent.QUERY_HISTORY)):
        return Intent.QA_QUERY
    return label


_ABOUT_RULES = {Intent.QUERY_PROTOCOL, Intent.QUERY_HISTORY}
