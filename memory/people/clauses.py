"""A message in clauses, and where a quote stands in it (issue 4, "Grounded").

Clauses that ask, suppose, or speak of somebody else are no source, whatever a model makes of them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

_SENTENCE = re.compile(r"[^。!?;\n]+[。!?;\n]?")
_CLAUSE = re.compile(r"(?:[^,。!?;\n]|(?<=\d),(?=\d{3}))+")
_ASKS = re.compile(
    r"(?:吗|么|呢)\s*$|是不是|有没有|能不能|可不可以|要不要|什么|怎么|哪|谁|多少|(?<![十百千0-9好前这那上])几[岁个年点例位名次条份]"
    r"|帮我[看查找]|查一?[下查]|看一?[下看]"
)
_SUPPOSES = re.compile(
    r"如果|假如|假设|要是|万一|倘若|若是|比如|例如|譬如|好比|的话|\bif\b|suppose", re.IGNORECASE
)
_SELF = re.compile(r"我|本人|咱|俺|\b(?:I|I'm|my|me)\b", re.IGNORECASE)
_KIN = (
    "爱人|老婆|老公|妻子|丈夫|太太|先生|媳妇|女朋友|男朋友|对象|孩子|小孩|儿子|女儿|父母|父亲|母亲|爸|妈|爷爷|奶奶|"
    "哥|姐|弟|妹|家人|家里人|亲戚"
)
_STAFF = "同事|同学|朋友|领导|老板|主任(?![医药护技])|导师|老师|学生|室友|客户"
_SURNAMES = (
    "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶余潘杜戴夏钟汪"
    "田姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖龚"
)
_GIVEN = "[明红丽华芳伟强军娜敏静勇婷雪梅玲燕珍英兰霞萍琳慧娟鹏辉杰刚]"
# 王主任, 小李, 老周, and 你 where it is not told what to do: whoever is named first is spoken of.
_NAMED = (
    rf"[{_SURNAMES}](?![级年案法面向])[\u4e00-\u9fff]?"
    r"(?:主任|医生|医师|大夫|教授|护士长?|老师|院长|所长|经理|博士|总(?![结是的共数体会则计量和院部分]))"
    # 小组, 小学 and 老家 are nobody: who is called so has a surname, or one of the usual given names.
    rf"|(?:[小老阿][{_SURNAMES}]|[小阿]{_GIVEN})(?=是|在|说|喜|希|负|管|要|也|最|的)|\[[^\]]*姓名[^\]]*\]"
    r"|[您你]们?(?=是|今年|负责|属于|毕业|工作|有|在(?!.*[里中时前后上]))"
)
# What somebody else made of the speaker: the assistant's guess is no source.
_REPORTED = re.compile(
    r"听说|据说|(?<![跟和对给同向])(?:[您你]们?|系统|助手|机器人|AI)(?:刚才|之前|上次|总|都|就)*"
    r"(?:说|讲|猜|认为|觉得|以为|推测|记(?:得|成|错|着|了))",
    re.IGNORECASE,
)
_PATIENT = r"患者|受试者|病人|入组者|受访者|[A-Z]{1,4}-?\d{2,6}"
# What the assistant is told to do with what follows says nothing of whom it speaks.
_TOLD = (
    r"(?:请|麻烦|帮我|你|再|都|然后|接着|另外|还有|顺便|并且|而且|最后|,|:|\s)*"
    r"(?:记住|记得|记着|记下|记一下|记一?笔|备忘|注意|提醒(?:我|一下)?|别忘(?:了|记)?)(?:了|一下|下来|,|:|\s)*"
)
_TOLD_TO_KEEP = re.compile(_TOLD.replace("提醒(?:我|一下)?|", "").replace("|注意", ""))
_OTHER = re.compile(
    rf"^(?:{_TOLD})?(?:(?:以后|今后|从现在起|另外|然后|还有|而且|但是?|不过|今天|昨天|现在|目前|这|那|有|一|个|位|名|我们?|咱们?|的|科里|家)){{0,4}}"
    rf"(?:(?P<kin>{_KIN})|(?P<staff>{_STAFF})|(?P<patient>{_PATIENT})|(?P<named>{_NAMED})|(?P<they>他们?|她们?|对方|人家|别人|有人))"
)
_HEAD = re.compile(rf"的(?:{_PATIENT}|{_STAFF}|人|孩子)\s*$")
_OF_OTHERS = re.compile(rf"^.{{0,6}}(?:的|岁)?(?:{_PATIENT}|孩子|老人|老太太|老头)")
# 别 within a word: 性别, 分别, 特别.
_DENIES = re.compile(
    r"没|不|无|并非|非(?!常)|从未|尚未|勿|甭|(?<![性级分特区个鉴类识判差辨告离病组派])别(?!的|人|处|名|称|家|院|科|国|墅|致)"
    r"|\bnot\b|n't|\bno\b",
    re.IGNORECASE,
)
_DENIES_NOTHING = re.compile(
    # 别忘了我… is an order to remember it; a mere 不对 denies what was said before it.
    r"(?:不要?|不能|别|勿)忘(?:了|记)?|^\s*(?:(?:不对|不是|不|没有?)[了的啊哦呀吧]*\s*)+$"
    r"|差不多|不错|不过|不久|不少|不仅|不但|不断|不良事件|没问题|无锡|无疑"
    r"|(?:不[到足满止]|未满|不(?:少于|超过|低于|高于))\s*(?=[\d一二两三四五六七八九十百])|(?<=[岁年万亿元例个])不[到足]"
)

# What separates two digits, unless it is the comma of 80,000.
_BETWEEN = re.compile(r"\d(?!,\d{3})[^\w\s]\d")


@dataclass(frozen=True)
class Clause:
    """A stretch of the message. `who`: "self", "kin" or "other"; `states`: neither asked nor supposed."""

    start: int
    end: int
    text: str
    who: str
    states: bool


def untold(text: str) -> str:
    """A statement without the order to remember it."""
    return (
        _TOLD_TO_KEEP.sub("", text.strip(), count=1) if _TOLD_TO_KEEP.match(text.strip()) else text
    )


def folded(text: str) -> str:
    """As numbers and patterns are looked for: NFKC."""
    return unicodedata.normalize("NFKC", text)


def split(text: str) -> list[Clause]:
    """The clauses of a folded message, in order. A clause without a subject goes on with the last one's."""
    found: list[Clause] = []
    who = "self"
    for sentence in _SENTENCE.finditer(text):
        supposed = False
        for clause in _CLAUSE.finditer(sentence[0]):
            body = clause[0]
            who = _subject(body.strip(), who)
            supposed = supposed or bool(_SUPPOSES.search(body))
            last = clause.end() >= len(sentence[0].rstrip("?"))
            asked = bool(_ASKS.search(body)) or (last and sentence[0].rstrip().endswith("?"))
            start = sentence.start() + clause.start()
            strange = _HEAD.search(body) and not _SELF.search(body)
            about = "other" if strange or _REPORTED.search(body) else who
            found.append(Clause(start, start + len(body), body, about, not (asked or supposed)))
    return found


def _subject(clause: str, before: str) -> str:
    other = _OTHER.match(clause)
    if other:
        return "kin" if other["kin"] else "other"
    return "self" if _SELF.search(clause) else before


def modifies_others(clause: Clause, at: int) -> bool:
    """Whether what ends at `at` of the message describes somebody else (35岁以上的患者)."""
    return bool(_OF_OTHERS.match(clause.text[at - clause.start :]))


def denies(text: str) -> bool:
    """Whether something is said not to be."""
    return bool(_DENIES.search(_DENIES_NOTHING.sub("", text)))


def at(found: list[Clause], start: int, end: int) -> list[Clause]:
    """The clauses that a stretch of the message touches."""
    return [clause for clause in found if clause.start < end and start < clause.end]


@dataclass(frozen=True)
class Place:
    """Where a quote stands: its stretch of the text and the clauses it touches."""

    start: int
    end: int
    text: str
    clauses: tuple[Clause, ...]

    @property
    def context(self) -> str:
        """The whole clauses."""
        return ",".join(clause.text for clause in self.clauses)


def places(text: str, quote: str) -> Iterator[Place]:
    """Every place of a quote in a text, both folded (`folded`)."""
    stood, where = letters(text)
    wanted, _ = letters(quote)
    found = split(text)
    place = stood.find(wanted) if wanted else -1
    while place >= 0:
        start, end = where[place], where[place + len(wanted) - 1] + 1
        yield Place(start, end, text[start:end], tuple(at(found, start, end)))
        place = stood.find(wanted, place + 1)


def letters(text: str) -> tuple[str, list[int]]:
    """Letters and digits in small letters, and where each stood; 1.5 and 1-2 do not become 15 and 12."""
    kept = [
        (char.casefold(), at)
        for at, char in enumerate(text)
        if char.isalnum() or _BETWEEN.match(text, at - 1 if at else 0, at + 5)
    ]
    pairs = [(one, at) for chars, at in kept for one in chars]
    return "".join(one for one, _ in pairs), [at for _, at in pairs]


def letters_of(text: str) -> str:
    """Letters and digits only, as values are compared."""
    return letters(folded(text))[0]
