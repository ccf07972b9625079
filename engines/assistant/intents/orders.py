"""What looks like an order of quality control and is none: asked again, or decided by a person.

A part is the marked text without padding, lower case, as in `rules`.
"""

import re

from engines.assistant.intents import concepts

_ONCE_MORE = r"(?:给我|跟我|和我|我)?(?:一遍|一次|遍|一下|下)(?:看看|吧|啊|呗|哈|了)*"
_SAY = rf"(?:说|讲|念|报|答|回答|告诉|发|重复|复述|介绍|解释|翻译|读){_ONCE_MORE}"
_LOOK = rf"(?:查|看|算|数|列|找|问|确认|统计|调){_ONCE_MORE}"
_SAID_AGAIN = re.compile(_SAY)
_LOOKED_AGAIN = re.compile(_LOOK)
_ONLY_AGAIN = re.compile(
    rf"(?:请|麻烦|你|您|能不能|可以|帮我|帮忙|给我|跟我|再|重新|重|,)*(?:{_SAY}|{_LOOK})(?:好吗|可以吗|谢谢)?"
)
_CHECKS = re.compile(
    r"质控|质检|核|校|审|排查|自查|检查|清理|清洗|过一遍|跑|捋|漏|错|矛盾|一致|逻辑|违背|偏离|合不?合|缺|对不对|打架|异常|问题|反"
    r"|qc|sdv|verify|check"
)
# Data as such are checked; a named value is looked up.
_AS_SUCH = re.compile(r"数据|表|全部|所有|全体|每个|大家")

_POLITE = r"(?:请|麻烦|帮我|帮忙|你|您|给我|替我|现在|直接|马上|立刻|赶紧|快|先|就|都|再|把|将|给|对|让|,)*"
_CHANGE = r"改成|改为|改回|标记?[成为]|设[成为置]|置为"
_DECIDE = (
    r"批准|核准|准许|批了|批掉|同意|驳回|拒绝|否决|放行|关闭|关掉|关了|解决|消除|消掉|销掉|注销|结案|删除|删掉|删了|清除|清空"
    r"|撤销|撤回|撤掉|取消|终止|停止|停掉|停了|中止|暂停|恢复|重新?打开|重开|更改|修改|改一?下|锁定|解锁|分配|指派|转给|转派|豁免"
    r"|approve|reject|close|cancel|resolve|delete|stop"
)
# What a check may do by itself: an order at the beginning, or at the end with a particle.
_LET_THROUGH = r"通过"
_DECIDED_ON = (
    r"复核|审核|审批|审阅|质控|核查|质疑|疑问|问题|发现|违规|警告|任务|运行|流程|待办|规则|结果|结论|状态"
    r"|query|finding|review|run(?![a-z])|qc"
)
_GAP = r"[^,。;?!]{0,14}?"
_ENDED = r"(?:了|掉|吧|呗|一下|下|它|给我|好)*"
_DECISION = re.compile(
    rf"^{_POLITE}(?:{_DECIDE}|{_CHANGE}|{_LET_THROUGH}(?!后|之后|以后|的|了|没|率)){_GAP}(?:{_DECIDED_ON})"
    rf"|^{_POLITE}{_GAP}(?:{_DECIDED_ON}){_GAP}(?:(?:{_DECIDE}){_ENDED}|(?:{_CHANGE})[^,。;?!]{{1,10}})$"
    rf"|^{_POLITE}{_GAP}(?:复核|审核|审批|审阅)(?:直接|给|都)*{_LET_THROUGH}(?:了|吧|一下|掉)*$"
)
_ONLY_DECIDES = re.compile(rf"{_POLITE}(?:{_DECIDE}|{_LET_THROUGH}){_ENDED}")
_ASKED = re.compile(
    r"吗|么$|没$|没有$|多少|几[个例条次位项]|什么|啥|怎么|哪|谁|是否|有没有|(.)不\1|为何|\?|呢$|查一?下|看一?[下看]|列出|统计"
    r"|(?:已经|已|被|刚才?|昨天|上次)\S{0,4}(?:批准|驳回|关|解决|取消|停|删|改)"
)
_STILL_CHECKED = re.compile(r"(?:再|然后|并|就|重新)(?:跑|做|质控|核|检查)")


# 质控 at the beginning, with its subject: an order, whatever of the subject is to be checked.
_ORDER = re.compile(
    rf"^{_POLITE}(?:质控|质检|复核|核查|核对|核验|校验|qc)(?:一下|一遍|下)?"
    r"(?:受试者|患者|病人|病例|记录|id|编号|:|的)*[§¤]",
    re.IGNORECASE,
)
_OF_RESULT = re.compile(r"结果|结论|历史|时间|日期$|原因|报告|(?:做|跑|通|核|查)过|发现")


def orders_check(part: str) -> bool:
    """Tell whether a part orders the quality control of a subject it names."""
    return bool(_ORDER.search(part)) and not (_ASKED.search(part) or _OF_RESULT.search(part))


def decides(part: str) -> bool:
    """Tell whether a part decides on a review, finding or run, or changes one: a write request."""
    clear = _DECISION.search(part) and not _ASKED.search(part)
    return bool(clear) and not _STILL_CHECKED.search(part)


def said_again(part: str) -> bool:
    """Tell whether a part only asks for the words before it once more; else it is looked up anew."""
    return only_again(part) and bool(_SAID_AGAIN.search(part))


def only_decides(part: str) -> bool:
    """Tell whether a part is a decision without its object, which stands before it."""
    return bool(_ONLY_DECIDES.fullmatch(part))


def only_again(part: str) -> bool:
    """Tell whether a part only asks for the one before it once more ("再说一遍")."""
    return bool(_ONLY_AGAIN.fullmatch(part))


def asked_again(part: str) -> bool:
    """Tell whether a part wants to be told or shown something (again), which checks nothing."""
    if _CHECKS.search(part):
        return False
    if _SAID_AGAIN.search(part) or only_again(part):
        return True
    value = concepts.FACT.search(part) and not _AS_SUCH.search(part)
    return bool(_LOOKED_AGAIN.search(part) and value)
