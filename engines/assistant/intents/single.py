"""One subject, named without a word, by a pronoun, or in a question that fits one subject only.

A part is the marked text without padding, lower case, as in `rules`.
"""

import re

from engines.assistant.intents import concepts
from engines.assistant.intents.marks import NAME, RECORD, VISIT
from engines.assistant.intents.types import Intent

_BARE_SUBJECT = re.compile(
    r"(?:[§¤¶]|受试者|患者|病人|病例|记录|编号|id|(?:#|[a-z])号?(?:分)?中心|号|的|和|跟|与|及|[,、: ])+"
)
# Two to four characters before it may be a name that no list of surnames knows.
_OWN_STATUS = re.compile(
    r"(?:(?!.{0,3}[例个位们咱家都全项研中组首谁人今天本周这那上下月年])[\u4e00-\u9fff]{2,4})?"
    r"(?:请问|那|到底|现在|目前|已经|成功|最后|最终)*"
    r"(?:(?:(?:入|出|退)组|入选|随机|筛败|脱落|退出|签字|签知情)(?:成功)?了?(?:吗|没有|没|么)(?:啊|呀|呢)?"
    r"|(?:分?在|分?到|进|是|属于)?了?(?:哪个?|什么|啥)组(?:的|啊|呀|呢)?)\??"
)
_PRONOUN = re.compile(
    r"^(?:那|那么|再看看?|还有|,)*(?:[他她]|该(?:患者|受试者|病人)|[这那][位名](?:患者|受试者|病人)?)的"
)
# What only a word of order, opinion or wish can be.
_COMMANDS = {
    Intent.DATA_ENTRY,
    Intent.QC_TASK,
    Intent.FEEDBACK,
    Intent.REMEMBER,
    Intent.GENERATE_REPORT,
}
_OF_STUDY = {
    Intent.PROJECT_INFO,
    Intent.ANALYZE_TREND,
    Intent.COUNT_RECORDS,
    Intent.QA_QUERY,
    Intent.GENERAL_CHAT,
}


def of_one(part: str, label: str) -> str | None:
    """Return the intent of a part that says no more than whom it concerns; None for all others."""
    if _BARE_SUBJECT.fullmatch(part) and (RECORD in part or NAME in part):
        asked = Intent.VISIT_WINDOW if VISIT in part else Intent.QUERY_RECORD
        return asked if label in _COMMANDS else None
    if label in {*_OF_STUDY, Intent.QUERY_RECORD} and _OWN_STATUS.fullmatch(part):
        return Intent.QUERY_RECORD
    pronoun = _PRONOUN.search(part) and concepts.FACT.search(part)
    return Intent.QUERY_RECORD if pronoun and label == Intent.QUERY_RECORD else None
