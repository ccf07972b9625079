"""Same-length masks: dates, visits, names and numbers leave one marker each in a text.

A mask keeps every offset, so a slice of the marked text is the slice of the plain text. The
marker stands at the first character, the rest is filled with `PAD`, which features drop.
"""

import re
from typing import NamedTuple

PAD = "\x00"
RECORD, VISIT, DATE, NAME, STAFF, NUMBER = "§", "¶", "†", "¤", "※", "#"


class Span(NamedTuple):
    """A stretch of the normalised text and what it stands for."""

    start: int
    end: int
    value: str


class Free:
    """The characters of a text that nothing has taken yet; who comes first keeps them."""

    def __init__(self) -> None:
        self._taken: set[int] = set()

    def take(self, start: int, end: int) -> bool:
        """Take a stretch; False, and nothing taken, where any of it is another's."""
        stretch = range(start, end)
        if not self._taken.isdisjoint(stretch):
            return False
        self._taken.update(stretch)
        return True


_HAN = "一二三四五六七八九十"
_NOT_INSIDE = r"(?<![A-Za-z0-9])"
_VISITS = re.compile(
    rf"{_NOT_INSIDE}(?:V ?\d{{1,2}}(?: ?D-?\d{{1,3}})?|C\d{{1,2}} ?D\d{{1,3}}|[DW]-?(?:0|[1-9]\d{{0,2}})"
    r"|(?:day|week|cycle|visit) ?\d{1,3})(?![A-Za-z0-9]|-\d)"
    rf"|访视 ?\d{{1,2}}(?!\d|[个次条例])|第 ?(?:\d{{1,3}}|[{_HAN}]{{1,3}}) ?(?:次访视|次随访)",
    re.IGNORECASE,
)
_DATES = re.compile(
    r"(?<!\d)(?:19|20)\d\d ?[-/.年] ?\d{1,2}(?: ?[-/.月] ?\d{1,2}(?!\d) ?[日号]?)?月?"
    r"|(?<!\d)(?:19|20)\d\d(?:0[1-9]|1[0-2])[0-3]\d(?!\d)|(?<!\d)(?:19|20)\d\d ?年"
    rf"|(?<!\d)(?:\d{{1,2}}|[{_HAN}]{{1,2}}) ?月(?!龄) ?(?:份|(?:\d{{1,2}}|[{_HAN}]{{1,3}}) ?[日号]?)?"
    r"|(?<=月)\d{1,2}[日号]|(?<=周)\d{1,2}号|(?<=[天今明昨])\d{1,2}号"
    r"|(?<!\d)\d{1,2} ?[号日] ?(?:到|至|-|~) ?\d{1,2} ?[号日]"
    r"|(?<!\d)\d{1,2}:\d\d(?!\d)"
)
_VALUES = re.compile(r"(?<![A-Za-z0-9])\d{1,3} ?/ ?\d{1,3}(?!\d)|(?<!\d)\d{1,9}\.\d{1,9}")
_NUMBERS = re.compile(r"\d+(?:[.,]\d+)*")

_SURNAMES = (
    "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛"
    "叶阎余潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段钱汤尹黎易常武乔贺赖龚文"
)
_TITLES = "主任|老师|教授|医生|大夫|护士长?|院长|PI|pi|科长|博士|总监|总|医师|研究员|同学|工|姐|哥"
_KIN = "阿姨|大爷|大妈|大娘|奶奶|爷爷|叔叔?|大姐|大哥|女士|先生|老太太|老太|老爷子|老先生|师傅|伯伯|婶|某某?"
# Words that begin with a surname; a name never starts with them.
_WORDS = (
    "周报|周期|周[一二三四五六日末内均转不能来要会有去做该]|方案|方便|高血|高于|高[的了吗]|马上|常规|常见|常用|白细|白蛋|金额|"
    "任务|任何|石|何时|文献|文件|文字|万一|于|易|段时|余|江|钱|程度|程序|毛病|史|成|田|龙|黄疸|胡|叶酸|许可|"
    "谢谢|谢过|白[血内天班色]|文盲|黄[金历体]|唐[诗宋朝代]|段[子落]|高[危龄热风]|常[吃见]|秦[始朝]|"
    "武汉|苏州|江苏|常州|金华|徐州|郑州|贺|康复|夏天|秦皇|温|安|孔|汤|林|汪|罗|曾经|曾|彭|顾|侯"
)
# What is said of a person right after the name.
_FOLLOWS = (
    r"的|这个|那个|他|她|符|满足|患者|病人|受试者|入组|入了|签|出组|退组|随机|有没|是不是|最近|最新|下次|下一次|下回"
    r"|上次|上回|什么时候|啥时候|几号来|现在|今天|目前|今年|多大|几岁|血|肝|肾|心|体重|体温|身高|病|化验|检查"
    r"|是[哪男女几]|属于|分[在到]|吃[着了过]|用的|用了|怎么样|咋样|筛败|脱落|为什么|为啥|住院|出院"
    r"|该|还|到底|[¶VvAaSsEe]"
)
# No given name is made of a pronoun, a particle or a question word ("钱谁给的").
_GIVEN = r"(?![谁哪什么几多啥了的啦吗呢吧啊呀哈您你我他她它是有没不都要会也就])[\u4e00-\u9fff]"
_NAME = re.compile(
    rf"(?:^|(?<=[\s,。;:、?!\"'“”查看控核给对把叫帮下让和跟者人明是的]))"
    rf"(?!{_WORDS})[{_SURNAMES}](?:{_GIVEN}){{1,2}}?"
    rf"(?= ?(?:{_FOLLOWS})|$)"
)
_RARE_NAME = re.compile(
    r"(?:(?<=患者)|(?<=病人)|(?<=受试者)|(?<=[查看给对把])|(?<=查下)|(?<=看下)|(?<=一下)|(?<=看看)|(?<=^))"
    r"(?!高[血脂钾钠钙尿危龄热烧]|方案|周[一二三四五六日末内报期]|马上|黄[疸体]|康复|江苏|史)"
    rf"(?:胡|林|罗|曾|彭|顾|侯|汪|黄|高|方|周|马|石|田|汤|孔|余|史|江|钱|康|贺|龙)(?:{_GIVEN}){{2}}"
    rf"(?={_FOLLOWS})"
)
_STAFF = re.compile(rf"[{_SURNAMES}](?:{_TITLES})|[小][{_SURNAMES}](?![\u4e00-\u9fff]?[组样于])")
_FULL_NAME = re.compile(
    rf"(?:^|(?<=[\s,。;:、?!查看给对把叫帮下让和跟]))(?!{_WORDS})[{_SURNAMES}](?:{_GIVEN}){{1,2}}"
    r"(?:阿姨|大爷|大妈|大娘|奶奶|爷爷|叔叔|大姐|大哥|女士|先生|老太太|老爷子|老先生|师傅|伯伯)(?!们)"
)
_PATIENT = re.compile(rf"[{_SURNAMES}](?:{_KIN})(?!们)|(?<![多很太])老[{_SURNAMES}](?=的)")

_PEOPLE = (
    (_FULL_NAME, NAME),
    (_STAFF, STAFF),
    (_PATIENT, NAME),
    (_RARE_NAME, NAME),
    (_NAME, NAME),
)


def cover(text: str, spans: list[Span], marker: str) -> str:
    """Return `text` with every span replaced by `marker` and padding of the same length."""
    pieces, at = [], 0
    for start, end, _ in spans:
        pieces += [text[at:start], marker, PAD * (end - start - 1)]
        at = end
    return "".join([*pieces, text[at:]])


def find(pattern: re.Pattern[str], text: str) -> list[Span]:
    """Return the spans `pattern` matches, left to right."""
    return [Span(m.start(), m.end(), m.group()) for m in pattern.finditer(text)]


def visits(text: str) -> list[Span]:
    """Return the visit names (V3, V2D28, C1D1, D28, W12, 第二次访视), upper case, without spaces."""
    return [Span(s.start, s.end, s.value.upper().replace(" ", "")) for s in find(_VISITS, text)]


def dates(text: str) -> list[Span]:
    """Return dates, clock times and ranges of days."""
    return find(_DATES, text)


def values(text: str) -> list[Span]:
    """Return pairs such as 132/84 and decimals, which are never subjects."""
    return find(_VALUES, text)


def people(text: str) -> str:
    """Return `text` with staff and patients named by personal name marked."""
    for pattern, marker in _PEOPLE:
        text = cover(text, find(pattern, text), marker)
    return text


def numbers(text: str) -> str:
    """Return `text` with every remaining number marked."""
    return cover(text, find(_NUMBERS, text), NUMBER)
