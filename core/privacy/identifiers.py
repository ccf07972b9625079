"""Patterns of personal identifiers in Chinese clinical text (agents_memory.md 6, redcap_dify.md 5.2).

They err on the side of masking. A check digit never decides: an ID card with a typing error is one.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from functools import cached_property

from core.privacy.identifying_fields import BIRTHDAY

NAME = "姓名"
ID_CARD = "证件号"
PHONE = "电话"
EMAIL = "邮箱"
HOSPITAL = "就诊号"
ACCOUNT = "账号"
ADDRESS = "地址"
NUMBER = "号码"
BIRTH = "出生日期"
SUBJECT = "受试者"

# Bounded, so that no run of blanks can make a pattern try again and again. Where a pattern begins with
# a digit, what may not stand before it is asked second: the search then leaps from digit to digit.
_EDGE = r"(?<![\dA-Za-z])"
_END = r"(?![\dA-Za-z])"
IS = r"\s{0,9}(?:号码?|编号|id|no\.?)?(?:为|是|叫|[\s:=#|(\[【“”\"'「『《<]){0,9}"
# The same before a number, which may have a remark before it: 住院号(旧):1234567.
_IS = (
    r"\s{0,9}(?:号码?|编[号码]|id|no\.?|number)?\s?(?:\([\u4e00-\u9fff]{1,6}\))?"
    r"(?:为|是|叫|\bis\b|[\s:=#|(\[【“”\"'「『《<]){0,9}"
)
DASHES = "\u2010-\u2015\u2212\u301c\u30fc~-"
DOTS = "·•‧∙⋅・ᐧ"
_SEPARATOR = rf"[ \t.,、_/|*{DOTS}{DASHES}]"
_BETWEEN, _MAYBE = rf"{_SEPARATOR}{{1,3}}", rf"{_SEPARATOR}{{0,3}}"
# A viral load has eleven digits too, and so has a count of cells.
_COUNTED = r"(?!\s?(?:IU|copies|拷贝|CFU|个?/[mμu]?L))"
_NO_LOAD = r"(?<!载量1)(?<!载量[\s:]1)(?<!载量:\s1)(?<![DR]NA[\s:]1)(?<!计数1)(?<!计数[\s:]1)"
# Blanks, dashes and brackets are mixed within a number; commas and the like part numbers of a list.
_MIXED = rf"[ \t(){DASHES}]{{1,3}}"
_MOBILE_GROUPS = ((3, 4, 4), (3, 3, 5), (3, 5, 3), (3, 8), (7, 4), (5, 6), (6, 5), (1,) * 11)
_MIXED_GROUPS = (*_MOBILE_GROUPS, (4, 4, 3), (4, 3, 4))
_AREA = r"(?:10|2\d|[3-9]\d{2})"
YEAR = r"(?:19|20)\d{2}"
_MONTH, _DAY = r"(?:0[1-9]|1[0-2])", r"(?:[0-2]\d|3[01])"
COMPACT_DAY = rf"{YEAR}{_MONTH}{_DAY}(?!\d)"
# Not a date ("检查 2026-02-05"), not a stretch of time or a count ("住院 120 天"), no sample of a visit.
_NUMBERED = (
    r"(?!(?:19|20)\d{2}[-/.年]\d)(?![A-Z\d]{1,9}-V\d|V\d{1,2}-)([A-Z]{0,4}-?\d[\dA-Z-]{2,20}+)"
    r"(?!\s*(?:天|日|次|周|年|月|元|小时|例|人))"
)


@dataclass(frozen=True)
class Pattern:
    """What `regex` finds is a `kind`; the part to mask is group 1, or everything."""

    kind: str
    source: str
    flags: int = re.IGNORECASE

    @cached_property
    def regex(self) -> re.Pattern[str]:
        """Made when a text is first read: most processes of the house read none."""
        return re.compile(self.source, self.flags)


def _mobile() -> str:
    """What follows the 1 of a mobile number: in one piece, or in groups."""

    def shape(groups: tuple[int, ...], gap: str, again: str) -> str:
        first, *ends = itertools.accumulate(groups[:-1])
        between = dict.fromkeys(ends, again) | {first: gap}
        digits = ("[3-9]", *[r"\d"] * 9)
        return "".join(between.get(at, "") + digit for at, digit in enumerate(digits, 1))

    same = (
        shape(groups, f"({_BETWEEN})", rf"\{number}")
        for number, groups in enumerate(_MOBILE_GROUPS, 2)
    )
    mixed = (shape(groups, _MIXED, _MIXED) for groups in _MIXED_GROUPS)
    return rf"(?:[3-9]\d{{9}}|{'|'.join((*same, *mixed))})"


_MOBILE = _mobile()

_ACCOUNT = r"[A-Z0-9][A-Z0-9_-]{4,19}"
_FAMILY, _GIVEN = (
    r"(?:姓氏?|(?:sur|last_?|family_?)name|last|family)",
    r"(?:名字?|(?:first_?|given_?)name|first|given)",
)
NAME_PART = re.compile(rf"{_FAMILY}|{_GIVEN}|middle_?name", re.IGNORECASE)
"""A key beside which another one tells the rest of a name."""
_PART = r"[\"']?\s?[:=]\s?[\"']?"
_APART = r"[\"']?[\s,;/|]{1,4}[\"']?"
_ONE_PART = r"(?:[\u4e00-\u9fff]{1,3}|[A-Z][a-z]{1,19})(?![\u4e00-\u9fffA-Za-z\d])"
# Digits as words, English or pinyin with tones or without; a telephone number has seven and more.
_DIGIT_WORD = (
    r"(?:zero|oh|one|two|three|four|five|six|seven|eight|nine|"
    r"l[iíǐīì]ng|y[iíǐīì]|y[aāáǎà]o|[eēéěè]r|li[aāáǎà]ng|s[aāáǎà]n|s[iíǐīì]|w[uūúǔù]|li[uūúǔù]|q[iíǐīì]|"
    r"b[aāáǎà]|ji[uūúǔù]|d[oōóǒò]ng|gu[aāáǎà]i)"
)
_SPOKEN_DIGITS = (
    # What they begin with is asked first: few signs of a Chinese text are one of these.
    rf"(?=[zotfsenlywqbjdgēéěè])(?<![a-z]){_DIGIT_WORD}"
    rf"(?:[\s,.-]{{0,3}}(?:double[\s-]|triple[\s-])?{_DIGIT_WORD}){{6,30}}(?![a-z])"
)
_HOUSE = r"(?:(?:\d{1,5}|[一二三四五六七八九十百]{1,4})\s?(?:号|弄|#)|(?:No\.?|#)\s?\d{1,5})"

# 静脉通路2号 is no address; 交通路2号 is one.
_ROAD = r"(?:路(?<![脉经管号液谢症疗胞]通路)(?<!中线路)|街|大道|巷|弄|胡同)"
# What is said about addresses; 和平区, 应城市 and 如皋市 are addresses.
_NO_ADDRESS = (
    r"和(?![平县顺田静龙政硕])|[与及或、栏请需发填]|可(?!克)|应(?![城县])|如(?![皋东])|字段|是否|已|一致|为?空|"
    r"[较很得]|外地|本地|附近|不(?!详)"
)

PATTERNS = (
    Pattern(
        EMAIL,
        r"[A-Z0-9._%+-]{1,64}\s?(?:@|[(\[]at[)\]]|(?:#|(?<=\s)at(?=\s)|艾特)(?=\s?(?:163|126|1[38]9|qq|gmail|outlook|"
        r"hotmail|sina|sohu|foxmail|yeah|aliyun|icloud)\b))\s?"
        r"[A-Z0-9-]{1,63}(?:\s?(?:[.。]|dot\s|[(\[]dot[)\]]\s?)[A-Z0-9-]{1,63}){1,4}",
    ),
    Pattern(
        ID_CARD,
        rf"[1-9](?<!\d\d)\d(?:{_MAYBE}\d\d){{2}}{_MAYBE}{YEAR}{_MAYBE}{_MONTH}{_MAYBE}{_DAY}{_MAYBE}\d{{3}}{_MAYBE}[\dX](?!\d)",
    ),
    Pattern(ID_CARD, rf"[1-9](?<!\d\d)(?:{_BETWEEN}\d){{16}}{_BETWEEN}[\dX](?!\d)"),
    Pattern(ID_CARD, rf"\d(?<!\d\d)\d{{3}}(?:{_BETWEEN}\d{{4}}){{3}}{_BETWEEN}\d[\dX](?!\d)"),
    Pattern(ID_CARD, r"\d(?<!\d\d)\d{16}[\dX](?!\d)"),
    Pattern(ID_CARD, r"\d(?<!\d\d)\d{14}(?!\d)"),
    Pattern(
        ID_CARD, rf"[1-9](?<!\d\d)\d{{5}}{_BETWEEN}\d{{2}}{_MONTH}{_DAY}{_BETWEEN}\d{{3}}(?!\d)"
    ),
    Pattern(
        ID_CARD,
        rf"(?:身份证|护照|[军士警]官证|(?:通行|居[住留]|驾驶|出生|台胞|回乡|残疾)证|证件|"
        rf"passport|national id|id card|ssn){_IS}(?:[\u4e00-\u9fff]字第)?([A-Z]{{0,2}}\d[\dA-Z-]{{4,20}})",
    ),
    Pattern(NUMBER, rf"(?:[后末][三四五六3-6]位|尾号){_IS}(\d{{2,6}}X?){_END}"),
    Pattern(ACCOUNT, rf"{_EDGE}\d{{4}}(?:[ -]\d{{4}}){{3}}(?:[ -]\d{{1,3}})?{_END}"),
    Pattern(
        ACCOUNT,
        rf"(?:银行卡|卡号|账号|医保卡?|社保卡?|医保|社会保障卡?|一卡通|健康卡)"
        rf"{_IS}([A-Z]{{0,3}}\d[\dA-Z -]{{4,25}}\d)",
    ),
    Pattern(PHONE, rf"(86(?<![1-9]86)\)?{_MAYBE}1{_MOBILE})(?!\d){_COUNTED}"),
    Pattern(PHONE, rf"(1(?<!\d1){_NO_LOAD}{_MOBILE})(?!\d){_COUNTED}"),
    Pattern(PHONE, rf"[一幺]{_MAYBE}[三四五六七八九](?:{_MAYBE}[零〇一二三四五六七八九幺]){{9}}"),
    Pattern(
        PHONE, rf"{_EDGE}\(?0\d{{2,3}}\)?[ -]?\d{{7,8}}(?:[ -]?(?:转|ext\.?)?\d{{1,5}})?{_END}"
    ),
    Pattern(PHONE, rf"0(?<!\d0){_AREA}\)?{_MAYBE}\d{{3,4}}{_MAYBE}\d{{4}}(?!\d)"),
    Pattern(
        PHONE,
        rf"86(?<![1-9]86){_BETWEEN}\(?0?{_AREA}\)?{_MAYBE}\d{{3,4}}{_MAYBE}\d{{4}}(?!\d)",
    ),
    Pattern(PHONE, rf"[48]00(?<!\d\d00){_BETWEEN}\d{{3}}{_MAYBE}\d{{4}}(?!\d)"),
    Pattern(
        PHONE,
        r"(?:电话|宅电|手机|座机|固话|传真|联系方式|tel|phone|fax)"
        rf"{_IS}(\+?\d(?!\d{{3}}-\d\d?-\d\d?(?!\d))[\d ()-]{{5,18}}\d(?:[零〇一二三四五六七八九幺]{{3,9}})?)",
    ),
    Pattern(PHONE, rf"(?:致电|拨打?|打){_IS}(\d{{3,4}}-?\d{{4}})(?!\d)"),
    Pattern(PHONE, rf"(?:分机|内线|短号)(?:电话)?{_IS}(\d{{3,6}}){_END}"),
    Pattern(
        HOSPITAL,
        rf"(?:住院|门(?:\(急\)|急)?诊|病案|病历|急诊|条形?码|(?:MRN|HIS)(?<![A-Z]...)|(?:EMPI|UHID)(?<![A-Z]....))(?:本|卡|流水)?"
        rf"(?![\s:]{{0,9}}{COMPACT_DAY})(?:号码?|编号|ID|#)?{_IS}{_NUMBERED}",
    ),
    Pattern(
        HOSPITAL,
        r"(?:hospital|patient|inpatient|outpatient|admission|accession|medical record|chart)"
        rf"[ _]?(?:id|no\.?|number|#){_IS}{_NUMBERED}",
    ),
    Pattern(
        HOSPITAL,
        r"(?:登记|病理|影像|放射|超声|检查|检验|体检|档案|病人|病员|患者|标本|样本|就诊卡?|诊疗卡?|挂号单?|床位?|CT|MRI?|"
        rf"申请单)\s?单?(?:号码?|编号|ID|No\.?|#){_IS}{_NUMBERED}",
    ),
    Pattern(
        HOSPITAL,
        rf"(?:ID号(?<![A-Z]ID号)(?<!受试者ID号)(?<!(?:筛选|随机|入组)ID号){_IS}([A-Z]{{0,4}}\d{{5,20}})|"
        rf"(?:床位?号|病床){_IS}([A-Z]?区?\d{{1,4}})){_END}",
    ),
    Pattern(HOSPITAL, r"(\d(?<![\dA-Z.+]\d)\d{0,2})\s?床(?!位|旁|边|上|以|规模|的?医院|监护|ICU)"),
    Pattern(
        NUMBER,
        r"[京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼][A-HJ-Z][·\s-]?(?=[A-Z]{0,5}\d)"
        r"[A-HJ-NP-Z0-9]{4}[A-HJ-NP-Z0-9挂学警港澳]{1,2}(?![A-Za-z0-9])",
        re.NOFLAG,
    ),
    Pattern(
        ACCOUNT,
        r"(?:微信|[v威薇]信|加[微v]|wechat|weixin|(?:wx|vx|qq)(?<![A-Z]..)|企鹅|抖音|支付宝|微博)(?:账号|帐号|昵称|名)?"
        rf"(?:(?=\s{{0,9}}(?:号|id\b|no\b|为|是|叫|is\b|[:=#|(\[【“\"'「『《<])){_IS}(?!{YEAR}-\d)({_ACCOUNT})"
        # "WeChat reminder" tells no account where nothing says that one follows.
        rf"|\s{{0,9}}(?!{YEAR}-\d|{COMPACT_DAY})(?=[A-Z-]{{0,19}}[\d_])({_ACCOUNT}))",
    ),
    Pattern(
        ADDRESS,
        rf"(?:住址|地址(?<!(?:回调|接口|网络|邮件|邮箱|网页|务器|IP)地址)(?<!IP\s地址)|家住|现住(?!院)|户籍地?|居住地|住在)"
        rf"(?!{_NO_ADDRESS}){_IS}(?!见|同|不详|未|变更|信息|哪)((?:[\u4e00-\u9fff0-9A-Z# -]|\.(?=\d)){{3,60}})",
    ),
    Pattern(
        ADDRESS,
        r"(?:住(?!院)|老家|籍贯|祖籍|原籍)[在于:]?([\u4e00-\u9fff]{2,7}(?:省|市|(?<!病)区|县|镇|乡|街道)"
        r"[\u4e00-\u9fff0-9A-Z-]{2,60})",
    ),
    Pattern(ADDRESS, rf"(?:邮编|邮政编码|zip ?code|postcode){_IS}(\d{{6}})(?!\d)"),
    Pattern(
        ADDRESS,
        r"(?:No\.? ?)?\d{1,5},?(?: [A-Z][a-z]+){1,3} (?:Road|Rd|Street|Avenue|Ave|Lane)\b",
        re.NOFLAG,
    ),
    Pattern(
        ADDRESS,
        rf"[\u4e00-\u9fff]{{2,7}}(?:省|市|区|县|镇|乡|自治区|街道)(?:[\u4e00-\u9fff0-9A-Z]{{0,24}}?"
        rf"(?:{_ROAD}|村|小区|花园|里)[\u4e00-\u9fff0-9A-Z]{{0,16}}?\d{{1,5}}\s?(?:号|室|栋|幢|单元|楼|弄)"
        rf"[\u4e00-\u9fff0-9A-Z-]{{0,16}}|"
        # 四川省凉山州昭觉县支尔莫乡: three places, each within the one before it.
        r"[\u4e00-\u9fff]{1,12}(?:州|市|县|区|旗)[\u4e00-\u9fff]{1,6}(?:镇|乡|村|街道)(?!卫生|社区|中心|医院))",
    ),
    Pattern(
        ADDRESS,
        rf"[\u4e00-\u9fff]{{2,6}}(?:{_ROAD}\s?{_HOUSE}|"
        r"(?:小区|花园|新村|公寓|家园|苑)(?:\d{1,5}\s?(?:号|栋|幢|座|#)|\d{1,4}-\d{1,4}))"
        r"(?:楼?[0-9A-Z-]{1,6}(?:号|室|栋|幢|单元|楼|#)?){0,4}",
    ),
    Pattern(NUMBER, rf"{_EDGE}\d{{13,30}}{_END}{_COUNTED}"),
    Pattern(NUMBER, _SPOKEN_DIGITS),
    Pattern(NAME, rf"{_FAMILY}{_PART}({_ONE_PART}{_APART}{_GIVEN}{_PART}{_ONE_PART})"),
    Pattern(NAME, rf"{_GIVEN}{_PART}({_ONE_PART}{_APART}{_FAMILY}{_PART}{_ONE_PART})"),
)

_SHORT_ID = r"\d{1,4}(?:[-/]\d{1,4}){0,2}"
_SHORT_IDS = rf"{_SHORT_ID}(?:\s?[、,和与及]\s?{_SHORT_ID}){{0,50}}"
SHORT_ID = re.compile(_SHORT_ID)
SUBJECT_NUMBERS = (
    re.compile(
        r"(?:受试者|患者|病人|病例|病友|参与者|编号|记录|筛选号|随机号|入组号|subject|patient|participant|record)"
        r"\s{0,3}(?:编号|号码?|id|no\.?|number)?(?:为|是|[\s:=#(\"'“]){0,4}"
        rf"{_SHORT_IDS}(?!\d|\.\d|\]|\s?(?:例|人|名|位|个|天|日|周|岁|次|月|年|%))",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?<![\d./月年-]){_SHORT_IDS}\s?号(?!\s?(?:分?中心|医院|院区|楼|床|方案|机|窗|门|诊室))"
    ),
    re.compile(rf"(?<!\w)(?:#|no\.?|id)\s?:?\s?{_SHORT_ID}(?!\d|\.\d|\])", re.IGNORECASE),
)
"""Where the words around say that a bare number is a subject: 受试者 7, 7、12号, #7."""


def kind_of(field: str) -> str:
    """What kind of identifier a dictionary field or key of known values holds."""
    for kind, words in _KINDS.items():
        if re.search(words, field, re.IGNORECASE):
            return kind
    return "标识"


def kind_of_value(value: str) -> str:
    """What kind of identifier a value looks like, where its field is not known."""
    found = (kind for kind, shape in _SHAPES if re.fullmatch(shape, value.strip(), re.IGNORECASE))
    return next(found, "标识")


_SHAPES = (
    (BIRTH, r"(?:19|20)\d{2}[-/.]\d{1,2}[-/.]\d{1,2}(?:[T\s]\d\d:\d\d.{0,12})?"),
    (EMAIL, r"\S+@\S+"),
    (ID_CARD, r"\d{15}|\d{17}[\dX]"),
    (PHONE, r"[+\d][\d -]{6,16}"),
    (HOSPITAL, r"[A-Z]{0,4}-?\d[\dA-Z-]{2,20}"),
    (
        NAME,
        rf"[\u4e00-\u9fff]{{2,5}}|[\u4e00-\u9fff]+(?:[{DOTS}][\u4e00-\u9fff]+)+|[A-Z][A-Z .'-]{{1,40}}",
    ),
    (ADDRESS, r"[\u4e00-\u9fff].{5,}"),
)
_KINDS = {
    SUBJECT: r"受试者",
    NAME: r"姓名|名字|name|initial|缩写",
    ID_CARD: r"身份|证件|id_?(?:card|no)|passport|护照",
    PHONE: r"电话|手机|phone|mobile|tel",
    EMAIL: r"邮箱|e?mail",
    HOSPITAL: r"住院|门诊|病案|病历|mrn|hospital|就诊",
    ADDRESS: r"地址|住址|addr",
    ACCOUNT: r"微信|wechat|银行|医保|account|card",
    BIRTH: rf"出生|{BIRTHDAY}|birth|dob|csrq",
}
