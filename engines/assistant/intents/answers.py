"""What is said of the assistant's answers: an opinion, and how long they may be.

A part is the marked text without padding, lower case, as in `rules`.
"""

import re

_LENGTH = re.compile(
    r"^(?:请|麻烦|希望|你|给我的|给我|我的|对我的|的|每次|所有|每条|每个|以后|,)*(?:回复|回答|答复|答案"
    r"|回话|汇报|消息)(?:我)?(?:的)?"
    r"(?:都|要|请|尽量|最好|必须|应该|应|须|得|内容|字数|长度|篇幅|控制|限制|压缩|限|在|到)*"
    r"(?:(?:不|别|勿)(?:要|能|可以?|得|许|必)?(?:超过?|多于|大于|高于)|最多|至多|顶多)?(?:#"
    r"|[一二两三四五六七八九十百]{1,5})个?字(?:以内"
    r"|之内|以下|内)?(?:吧|哈|谢谢)?$"
)
_ASKED = re.compile(r"啥|多少|几|什么|哪|怎么|吗|为何")
_MOOD = re.compile(
    r"心情(?:真|很|挺|特别|非常|超级?|太|都|还|也|有点|有些|不太|不|格外|是|的)*"
    r"(?:好|不错|棒|差|糟|美丽|愉快|舒畅|低落|郁闷|烦|一般|可以)"
)
_ANSWER = re.compile(r"回答|回复|答复|[日周月]报|报告|数据|结果|[§¤]")
# Han, a sign or a number (666) may be an opinion; of Latin letters, only words that are known for it.
_HAN_OR_SIGN = re.compile(r"[\u4e00-\u9fff\U0001F300-\U0001FAFF\u2600-\u27bf]|^#?$")
_OPINION = re.compile(
    r"(?<![a-z])(?:good|great|nice|perfect|excellent|awesome|cool|love|like|thank|thumb|help|use|work"
    r"|well|right|correct|exact"
    r"|spot on|wrong|bad|not?(?![a-z])|nope|never|long|slow|short|verbose|vague|unclear|confus"
    r"|incorrect|inaccurate"
    r"|error|mis|mixed|match|poor|terrible|awful|wors|better|best|sense|so so|off(?![a-z])|doesn|don.t"
    r"|yyds|nb|tql"
    r"|answer|reply|ok(?![a-z]))"
)


def limits_length(part: str) -> bool:
    """Tell whether a part says how long the answers may be, and not how long an ordered text is."""
    return bool(_LENGTH.search(part)) and not _ASKED.search(part)


def of_mood(part: str) -> bool:
    """Tell whether a part says how its speaker feels, and judges no answer."""
    return bool(_MOOD.search(part)) and not _ANSWER.search(part)


def judges(part: str) -> bool:
    """Tell whether a part can be an opinion: a stray letter or a row of signs is none."""
    return bool(_HAN_OR_SIGN.search(part) or _OPINION.search(part))
