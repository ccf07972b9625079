"""Names of people in Chinese and English text: what says that the words beside it are one."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import cache

from core.privacy.identifiers import DOTS, IS, NAME
from core.privacy.latin_names import LATIN_NAMES
from core.privacy.name_characters import (
    COMPOUND,
    FAMILY,
    FUNCTION,
    GIVEN,
    LONGER_WORDS,
    NO_GIVEN_NAMES,
    ORDINARY,
    ORDINARY_WORDS,
    TELLING,
    TRANSLITERATED,
)

HAN = r"[\u4e00-\u9fff]"
_COMPOUND = "|".join(COMPOUND)
_ANY_FAMILY = rf"(?:{_COMPOUND}|[{FAMILY}{ORDINARY}{FUNCTION}])"
_PLAIN_FAMILY = rf"(?:{_COMPOUND}|[{FAMILY}{ORDINARY}])"
_WORD = "|".join([*LONGER_WORDS, *(f"{word[0]}[{word[1:]}]" for word in ORDINARY_WORDS)])
# 王小明明天来: the second character of a given name that begins the next word is none.
_SECOND = (
    rf"(?!明[天日早晚显确]|今[天日]|一[天次直周]|学[习历]|春[节季]|健[康]|安[全排]|建[议]){HAN}"
)
_GIVEN = rf"[{GIVEN}](?:(?={_SECOND})[{GIVEN}])?"
_USUAL = rf"{_PLAIN_FAMILY}{_GIVEN}"
_SURE = (
    rf"(?:{_USUAL}|[{FUNCTION}](?!{'|'.join(NO_GIVEN_NAMES)})"
    rf"(?:[{TELLING}](?:(?={_SECOND})[{GIVEN}])?|[{GIVEN}][{TELLING}]))"
)
# An unusual given name needs more around it than a usual one.
_FULL = rf"(?:(?:{_COMPOUND}){HAN}{{1,2}}|[{FAMILY}]{HAN}{{1,2}})"
_AFTER_NAME = (
    r"(?=$|[^\u4e00-\u9fff]|的|今|昨|明[天日早晚]|也|都|曾|会|能|又|再|还|这|那|跟|或|需|要|于|在|电话|手机|家属|诉|因|说|为|是|已|住|男|女|血|做|有|来|去|到|入|出|"
    r"签|用|服|发|出现|同意|拒绝|自述|反映|联系|身份|和|与|及|告|年|陪)"
)
_DOTTED = rf"{HAN}{{2,8}}[{DOTS}](?:{HAN}{{2,8}}(?:[{DOTS}]{HAN}{{2,8}}){{0,2}}|(?=\[{NAME}#))"
_SPACED = rf"[{FAMILY}] {{1,2}}[{GIVEN}](?: {{1,2}}[{GIVEN}])?(?!{HAN})"


def _one_of(*names: str) -> str:
    """The first of these that stands there, where no ordinary word does."""
    return rf"(?!{_WORD})(?:{'|'.join(names)})"


# Words with dots that begin a line are a heading: 入组·随访·出组.
_CALLED = rf"((?<!\n){_DOTTED}|{_one_of(_FULL + _AFTER_NAME, _SURE, _SPACED)})"
_IS = rf"(?:\({HAN}{{1,6}}\))?(?:\s?[-\u2012-\u2015]{{1,2}}\s?|{IS})"

_PERSON = "患者|受试者|病人|病友|参与者|病患"
_NO_VALUE = (
    "未[填知详写录提记采公]|不[详明能得可应在符一]|无|空|必[填须]|是否|否|缺失|已[脱隐填删略]|同[上前]|待[填定补]|保密|脱敏|隐[去藏名]|略|暂[无缺]|见|"
    "字[段符]|文本|缩写|拼音|首字|性别|年龄|出生|电话|手机|编号|科室|职[务称]|角色|单位|身份|住院|门诊|签[名字署]|日期|联系|民族|地址|为空|请|一?栏|列|项|"
    "一致|匹配|全[名称]|真实|受试者|患者|病人|姓名|名称|标识|个人|敏感|匿名|代[码号]|需|须|应[当为该与]|可[以能为]"
)
_NAMED_FIELD = (
    r"(?:姓\s?名|[者人他她我]的?名字)(?:[、/,]性别)?(?:[、/,]年龄)?[\"'”\\]{0,3}\s{0,9}(?:为|是|叫|[:=|>]|[-\u2012-\u2015]{1,3}){1,4}[\"'“\\\s]{0,9}"
    rf"(?!{_NO_VALUE})([\u4e00-\u9fff{DOTS}]{{2,12}}|(?!(?i:n/?a|null|none|nil|unknown|missing|blank|required|string|text|"
    r"yes|no|true|false|not|field|value)\b)[A-Za-z][A-Za-z .'-]{1,40})"
)
_NAME_KEY = (
    r"[Nn](?<![A-Za-z].)(?i:ame)[\"'\\]{0,3}\s{0,3}[:=>][\"'\\\s]{0,6}"
    rf"({_DOTTED}|{_one_of(_SURE)})(?!{HAN})"
)
_STRONG_NAME = (
    rf"(?:姓\s?名|名字(?!段)|名叫|叫做|[他她]叫|[本原]名|曾用名){IS}"
    rf"({_one_of(_SPACED, _FULL, _SURE)}|{HAN}[{DOTS}]{HAN}{{1,8}})"
    r"|(?:家属|监护人|联系人|代理人|见证人|签字人|签名|配偶|女儿|儿子|丈夫|妻子|父亲|母亲)(?:及?(?:电话|联系方式))?"
    rf"{_IS}({_DOTTED}|{_one_of(_FULL, _SURE, _SPACED)})"
    rf"|签字\s?[:=]{IS}({_one_of(_FULL, _SURE)})"
)
_KIN = (
    r"(?:其[妻夫子女父母兄弟姐妹]|之[妻夫子女父母]|老伴|老公|老婆|爱人|哥哥|弟弟|姐姐|妹妹|儿媳|女婿|陪护|陪同[人者]|紧急联系|"
    "外甥女?|外孙女?|孙[子女]|侄[子女儿]|岳[父母]|公公|婆婆|姐夫|妹夫|嫂子|弟媳|表[哥弟姐妹]|堂[哥弟姐妹]|舅舅|舅妈|姑姑|姨妈|保姆|护工|邻居|同事|朋友)"
    rf"{_IS}{_CALLED}"
)
_WEAK_NAME = rf"(?:{_PERSON})\s{{0,9}}(?:本人|的?姓名|的?名字|名(?![单册额称]))?{_IS}{_CALLED}"
_STAFF = (
    "医生|医师|大夫|主任|护士长?|教授|研究者|研究护士|协调员|监查员|CRC|CRA|PI|"
    "记录[人者员]|审[核阅查][人者员]|复核[人者员]|操作[人者员]|报告[人者员]"
)
_STAFF_NAME = (
    rf"(?:{_STAFF})(?:签[名字])?"
    rf"(?:\s?[:=]{IS}({_one_of(_FULL + _AFTER_NAME, _SURE)})|{_IS}({_one_of(_SURE)}))"
)
# 张医生 and 王护士 stay: people of the house, whose profiles and wishes would lose whom they are about.
TITLES = (
    "先生|女士|同志|小朋友|阿姨|大爷|大妈|大叔|大姐|大哥|叔叔|伯伯|奶奶|爷爷|小姐|师傅|老伯|太太"
)
INSIDE_NAMES = re.compile(TITLES)
# The glance ahead spares every other place the long lists.
_TITLED_NAME = (
    rf"(?={HAN}{{2,4}}(?:{TITLES}|[\s,、(|/]{{1,3}}[男女]))"
    rf"(?!{_WORD})(?:({_FULL}|{_SURE})(?={TITLES})"
    rf"|(?<!{HAN})({_FULL}|{_SURE})(?=[\s,、(|/]{{1,3}}[男女]性?(?!{HAN})))"
)
# A class of characters at the beginning lets the search leap; what may not stand before it is asked second.
_COMPOUND_REST = f"(?:{'|'.join(f'(?<={name[0]}){name[1]}' for name in COMPOUND)})?"
_COMPOUND_FIRST = "".join(name[0] for name in COMPOUND)
_MR = rf"(?={TITLES})(?!先生[成产效])"
# No 周 before a sign of multiplication or emphasis: it is a week there.
_MARKED = FAMILY.replace("周", "") + "常方易安白石温康金左夏"
_MARK = r"(?:[×*]{1,2}(?![\s*]?\d)|XX?(?![\s-]?[A-Za-z0-9线光染连片]))"
_SURNAMED = (
    rf"((?:[{FAMILY}{ORDINARY}{FUNCTION}{_COMPOUND_FIRST}](?<!{HAN}.){_COMPOUND_REST}(?:{_MR}|(?<![{FUNCTION}])某+)"
    rf"|[{_MARKED}](?<![\u4e00-\u9fff\d*×].)(?<![\d*×]\s.){_MARK}))"
    rf"|(?<=患者|病人|问下|请问|查下|看看|受试)({_ANY_FAMILY}(?:(?={TITLES})|某+))"
    rf"|(?<=[者人他她]姓)((?!名){_ANY_FAMILY})"
)
_BEFORE = "患者|病人|那个|这个|帮我|的是|问下|请问|查下|看看"
_MASKED = "电话|证件号|就诊号|邮箱|账号|号码|地址|出生日期"
_ABOUT = (
    r"\s?\((?:患者|病人|受试者)\)|"
    r"[\s,、(:;|/]{0,3}(?:(?:联系|手机|电话|身份证|住院|门诊|病案|病历|微信|邮箱|号|码|[:为是]|\s){1,6})?"
    rf"\[(?:{_MASKED})#|[\s,、(|/]{{1,3}}(?:今年|现年|年龄)?\s?\d{{1,3}}\s?岁"
)
_DOES = (
    "的|患者|病人|受试者|家属|入组|出组|来电|来院|来了|没来|到了|昨[天日]|今[天日]|明[天日]|前天|上[次周]|下[次周]|什么时候|何时|是否|有没有|怎么|"
    "复查|复诊|随访|访视|失访|脱落|退出|打电话"
)
_BARE_NAME = (
    rf"([{FAMILY}{ORDINARY}{_COMPOUND_FIRST}](?<!\w.)(?<=(?!{_WORD}).){_COMPOUND_REST}{_GIVEN})"
    rf"(?={_ABOUT}|{_DOES})"
)
_ASKED_NAME = (
    r"(?:查(?<![检复抽审核调普筛探排体]查)(?:一下|询|下|看|找|查)?|看(?:一下|下|看)?|联系(?:一下)?|问(?:一下|下)?|请问|"
    rf"关于|这位|致电|打给|床)\s?({_one_of(_USUAL)})"
    rf"|[和跟与给向找请让叫]({_one_of(_USUAL)})(?=的(?:{_PERSON}))"
    rf"|我是({_one_of(_USUAL)})(?=的?(?:家[属人]|儿子|女儿|爱人|妻子|丈夫|父亲|母亲))"
)
_FOREIGN = rf"[{TRANSLITERATED}]{{2,8}}"
_FOREIGN_NAME = (
    rf"({_FOREIGN}(?:[{DOTS}.]{_FOREIGN}){{1,3}})|({_FOREIGN})(?=[{DOTS}.]\[{NAME}#)"
    rf"|\[{NAME}#\d+\][{DOTS}.]({_FOREIGN})"
)
_REST_OF_NAME = rf"\[{NAME}#\d+\]((?:[{DOTS}]{HAN}{{2,8}})+)"
_JOIN = r"\s?(?:[、,和与及跟/;]|以及)\s?"
_NEXT = _one_of(rf"{_FULL}(?={_JOIN}|[。)\s]|$)", _SURE)
_NEXT_NAME = rf"\[{NAME}#\d+\]{_JOIN}({_NEXT})"
"""The second name of a list; asked again, the third, and so on."""
_REST_OF_LIST = rf"\[{NAME}#\d+\]((?:{_JOIN}{_NEXT})+)"
_LISTED = 6


@cache
def names() -> tuple[re.Pattern[str], ...]:
    """What is masked as a name, in this order; group 1, or the last that matched, is the name.

    Made when a text is first read: most processes of the house read none.
    """
    first = (_FOREIGN_NAME, _REST_OF_NAME, _NAMED_FIELD, _NAME_KEY, _STRONG_NAME, _KIN, _WEAK_NAME)
    then = (_STAFF_NAME, _TITLED_NAME, _SURNAMED, _BARE_NAME, _ASKED_NAME, *LATIN_NAMES)
    lists = (*[_NEXT_NAME] * _LISTED, _REST_OF_LIST)
    return tuple(re.compile(one) for one in (*first, *then, *lists))


def surname(name: str) -> str:
    """The family name of a Chinese name of two to four characters; "" for every other value."""
    if not re.fullmatch(r"[\u4e00-\u9fff]{2,4}", name):
        return ""
    found = re.match(_COMPOUND, name)
    return found[0] if found and len(name) > 2 else name[0]


def name_spellings(name: str) -> list[str]:
    """Other ways to say a name of several parts: 艾力 of 买买提·艾力 alone; Li Anna, no middle names."""
    parts = [part for part in re.split(rf"[\s,{DOTS}.]+", name) if part]
    if len(parts) < 2:
        return []
    if not all(part.isascii() for part in parts):
        return [part for part in parts if len(part) > 1] if not re.search(r"\s", name) else []
    first, *_middle, last = parts
    return [
        f"{last} {' '.join(parts[:-1])}",
        f"{' '.join(parts[1:])} {first}",
        f"{first} {last}",
        f"{last} {first}",
    ]


def addressed(surnames: Collection[str]) -> re.Pattern[str]:
    """张先生, 老张, 小张, 张某: how people speak of somebody whose family name is known."""
    one = _any_of(surnames)
    marked = _any_of(name for name in surnames if name != "周")
    return re.compile(
        rf"((?:{one})(?:(?={TITLES}|老太|老师)|某+)"
        rf"|(?:(?<![\u4e00-\u9fff\d*×])(?<![\d*×]\s)|(?<={_BEFORE}))(?:{marked}){_MARK}"
        rf"|(?<![\u4e00-\u9fff])[老小阿](?:{one})(?![\u4e00-\u9fff]{{0,1}}(?:序|量|规))|(?<={_BEFORE})[老小阿](?:{one}))"
    )


def _any_of(surnames: Iterable[str]) -> str:
    longest = sorted(surnames, key=len, reverse=True)
    return "|".join(map(re.escape, longest)) or "(?!)"
