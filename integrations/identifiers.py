"""Patterns of personal identifiers in Chinese clinical text (agents_memory.md 6, redcap_dify.md 5.2).

They err on the side of masking. A check digit never decides: an ID card with a typing error is one.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

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
DASHES = "\u2010-\u2015\u2212\u301c\u30fc~-"
DOTS = "·•‧∙⋅・ᐧ"
_SEPARATOR = rf"[ \t.,_/|*{DOTS}{DASHES}]"
_BETWEEN, _MAYBE = rf"{_SEPARATOR}{{1,3}}", rf"{_SEPARATOR}{{0,3}}"
# A viral load has eleven digits too.
_COUNTED = r"(?!\s?(?:IU|copies|拷贝|CFU))"
# Blanks, dashes and brackets are mixed within a number; commas and the like part numbers of a list.
_MIXED = rf"[ \t(){DASHES}]{{1,3}}"
_MOBILE_GROUPS = ((3, 4, 4), (3, 3, 5), (3, 5, 3), (3, 8), (7, 4), (5, 6), (6, 5), (1,) * 11)
_MIXED_GROUPS = (*_MOBILE_GROUPS, (4, 4, 3), (4, 3, 4))
_AREA = r"(?:10|2\d|[3-9]\d{2})"
_YEAR, _MONTH, _DAY = r"(?:19|20)\d{2}", r"(?:0[1-9]|1[0-2])", r"(?:[0-2]\d|3[01])"
# Not a date ("检查 2026-02-05"), not a stretch of time or a count ("住院 120 天").
_NUMBERED = (
    r"(?!(?:19|20)\d{2}[-/.年]\d)([A-Z]{0,4}-?\d[\dA-Z-]{2,20}+)"
    r"(?!\s*(?:天|日|次|周|年|月|元|小时|例|人))"
)


@dataclass(frozen=True)
class Pattern:
    """What `regex` finds is a `kind`; the part to mask is group 1, or everything."""

    kind: str
    regex: re.Pattern[str]


def _pattern(kind: str, regex: str, flags: int = re.IGNORECASE) -> Pattern:
    return Pattern(kind, re.compile(regex, flags))


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

PATTERNS = (
    _pattern(
        EMAIL,
        r"[A-Z0-9._%+-]{1,64}\s?(?:@|[(\[]at[)\]]|(?:#|(?<=\s)at(?=\s)|艾特)(?=\s?(?:163|126|1[38]9|qq|gmail|outlook|"
        r"hotmail|sina|sohu|foxmail|yeah|aliyun|icloud)\b))\s?"
        r"[A-Z0-9-]{1,63}(?:\s?(?:[.。]|dot\s)[A-Z0-9-]{1,63}){1,4}",
    ),
    _pattern(
        ID_CARD,
        rf"[1-9](?<!\d\d)\d(?:{_MAYBE}\d\d){{2}}{_MAYBE}{_YEAR}{_MAYBE}{_MONTH}{_MAYBE}{_DAY}{_MAYBE}\d{{3}}{_MAYBE}[\dX](?!\d)",
    ),
    _pattern(ID_CARD, rf"[1-9](?<!\d\d)(?:{_BETWEEN}\d){{16}}{_BETWEEN}[\dX](?!\d)"),
    _pattern(ID_CARD, rf"\d(?<!\d\d)\d{{3}}(?:{_BETWEEN}\d{{4}}){{3}}{_BETWEEN}\d[\dX](?!\d)"),
    _pattern(ID_CARD, r"\d(?<!\d\d)\d{16}[\dX](?!\d)"),
    _pattern(ID_CARD, r"\d(?<!\d\d)\d{14}(?!\d)"),
    _pattern(
        ID_CARD, rf"[1-9](?<!\d\d)\d{{5}}{_BETWEEN}\d{{2}}{_MONTH}{_DAY}{_BETWEEN}\d{{3}}(?!\d)"
    ),
    _pattern(
        ID_CARD,
        rf"(?:身份证|护照|[军士警]官证|(?:通行|居[住留]|驾驶|出生|台胞|回乡|残疾)证|证件){IS}(?:[\u4e00-\u9fff]字第)?([A-Z]{{0,2}}\d[\dA-Z-]{{4,20}})",
    ),
    _pattern(NUMBER, rf"(?:[后末][三四五六3-6]位|尾号){IS}(\d{{2,6}}X?){_END}"),
    _pattern(ACCOUNT, rf"{_EDGE}\d{{4}}(?:[ -]\d{{4}}){{3}}(?:[ -]\d{{1,3}})?{_END}"),
    _pattern(
        ACCOUNT,
        rf"(?:银行卡|卡号|账号|医保卡?|社保卡?|医保){IS}([A-Z]{{0,3}}\d[\dA-Z -]{{4,25}}\d)",
    ),
    _pattern(PHONE, rf"(86(?<![1-9]86)\)?{_MAYBE}1{_MOBILE})(?!\d){_COUNTED}"),
    _pattern(PHONE, rf"(1(?<!\d1){_MOBILE})(?!\d){_COUNTED}"),
    _pattern(PHONE, rf"[一幺]{_MAYBE}[三四五六七八九](?:{_MAYBE}[零〇一二三四五六七八九幺]){{9}}"),
    _pattern(
        PHONE, rf"{_EDGE}\(?0\d{{2,3}}\)?[ -]?\d{{7,8}}(?:[ -]?(?:转|ext\.?)?\d{{1,5}})?{_END}"
    ),
    _pattern(PHONE, rf"0(?<!\d0){_AREA}\)?{_MAYBE}\d{{3,4}}{_MAYBE}\d{{4}}(?!\d)"),
    _pattern(
        PHONE,
        rf"86(?<![1-9]86){_BETWEEN}\(?0?{_AREA}\)?{_MAYBE}\d{{3,4}}{_MAYBE}\d{{4}}(?!\d)",
    ),
    _pattern(PHONE, rf"[48]00(?<!\d\d00){_BETWEEN}\d{{3}}{_MAYBE}\d{{4}}(?!\d)"),
    _pattern(
        PHONE,
        r"(?:电话|宅电|手机|座机|固话|传真|联系方式|tel|phone|fax)"
        rf"{IS}(\+?\d(?!\d{{3}}-\d\d?-\d\d?(?!\d))[\d ()-]{{5,18}}\d)",
    ),
    _pattern(PHONE, rf"(?:致电|拨打?|打){IS}(\d{{3,4}}-?\d{{4}})(?!\d)"),
    _pattern(PHONE, rf"(?:分机|内线|短号)(?:电话)?{IS}(\d{{3,6}}){_END}"),
    _pattern(
        HOSPITAL,
        rf"(?:住院|门诊|病案|病历|急诊|条形?码|MRN|HIS)(?:本|卡|流水)?(?:号码?|编号|ID|#)?{IS}{_NUMBERED}",
    ),
    _pattern(
        HOSPITAL,
        r"(?:hospital|patient|inpatient|outpatient|admission|medical record|chart) ?(?:id|no\.?|number|#)"
        rf"{IS}{_NUMBERED}",
    ),
    _pattern(
        HOSPITAL,
        r"(?:登记|病理|影像|放射|超声|检查|检验|体检|档案|病人|病员|患者|标本|样本|就诊卡?|诊疗卡?|挂号单?|床位?|CT|MRI?|"
        rf"申请单)\s?(?:号码?|编号|ID|No\.?|#){IS}{_NUMBERED}",
    ),
    _pattern(
        ACCOUNT,
        r"(?:微信|v信|加[微v]|wechat|weixin|wx|vx|qq|企鹅|抖音|支付宝|微博)(?:账号|帐号|昵称|名)?"
        rf"{IS}(?!{_YEAR}-\d)([A-Z0-9][A-Z0-9_-]{{4,19}})",
    ),
    _pattern(
        ADDRESS,
        rf"(?:住址|地址|家住|现住|户籍地?|居住地|住在){IS}(?!见|同|不详|未|变更|信息|哪)"
        r"([\u4e00-\u9fff0-9A-Z# -]{3,60})",
    ),
    _pattern(
        ADDRESS,
        r"住(?!院)[在于]?([\u4e00-\u9fff]{2,7}(?:省|市|(?<!病)区|县|镇|乡|街道)[\u4e00-\u9fff0-9A-Z-]{2,60})",
    ),
    _pattern(ADDRESS, rf"(?:邮编|邮政编码|zip ?code|postcode){IS}(\d{{6}})(?!\d)"),
    _pattern(
        ADDRESS,
        r"(?:No\.? ?)?\d{1,5}(?: [A-Z][a-z]+){1,3} (?:Road|Rd|Street|Avenue|Ave|Lane)\b",
        re.NOFLAG,
    ),
    _pattern(
        ADDRESS,
        r"[\u4e00-\u9fff]{2,7}(?:省|市|区|县|镇|乡|自治区|街道)[\u4e00-\u9fff0-9A-Z]{0,24}?"
        r"(?:路|街|大道|巷|弄|胡同|村|小区|花园|里)[\u4e00-\u9fff0-9A-Z]{0,16}?\d{1,5}\s?(?:号|室|栋|幢|单元|楼|弄)"
        r"[\u4e00-\u9fff0-9A-Z-]{0,16}",
    ),
    _pattern(
        ADDRESS,
        r"[\u4e00-\u9fff]{2,6}(?:(?:路|街|大道|巷|弄|胡同)(?:\d{1,5}|[一二三四五六七八九十百]{1,4})\s?(?:号|弄)|"
        r"(?:小区|花园|新村|公寓|家园|苑)\d{1,5}\s?(?:号|栋|幢|座))(?:[0-9A-Z-]{1,6}(?:号|室|栋|幢|单元|楼)?){0,4}",
    ),
    _pattern(NUMBER, rf"{_EDGE}\d{{13,30}}{_END}"),
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
    re.compile(rf"(?<![\d./月年-]){_SHORT_IDS}\s?号"),
    re.compile(rf"(?<!\w)(?:#|no\.?|id)\s?:?\s?{_SHORT_ID}(?!\d|\.\d|\])", re.IGNORECASE),
)
"""Where the words around say that a bare number is a subject: 受试者 7, 7、12号, #7."""

_BIRTH_CUE = (
    r"(?:出生(?:日期|时间|年月日?)?|生日在?|生于|D\.?O\.?B\.?|birth(?:day| date)?|\bborn(?: on| in)?)于?"
    rf"{IS}"
)
_HAN_NUMBER = r"[正冬腊初一二三四五六七八九十廿]{1,3}"
_NUMBERED_DAY = (
    rf"{_YEAR}\s?[/.年{DASHES}]\s?\d{{1,2}}(?:\s?[/.月{DASHES}]\s?\d{{1,2}}\s?[日号]?|\s?月)?|{_YEAR}\d{{4}}|"
    rf"\d{{1,2}}\s?[/.{DASHES}]\s?\d{{1,2}}\s?[/.{DASHES}]\s?{_YEAR}|"
    rf"(?:(?<!\d)\d{{2}}年)?\d{{1,2}}月\d{{1,2}}[日号]|(?<!\d)\d{{2}}(?:\s?[/.年{DASHES}]\s?\d{{1,2}}){{2}}(?!\d)|"
    rf"(?:{_YEAR}年|[一二][零〇一二三四五六七八九]{{3}}年)?{_HAN_NUMBER}月{_HAN_NUMBER}[日号]?"
)
_WRITTEN_DAY = rf"{_NUMBERED_DAY}|[A-Z]{{3,9}}\.? \d{{1,2}},? {_YEAR}|\d{{1,2}}[ -][A-Z]{{3,9}}\.?,?[ -]{_YEAR}"
BIRTH_DATES = (
    re.compile(rf"{_BIRTH_CUE}({_WRITTEN_DAY})", re.IGNORECASE),
    re.compile(
        rf"(?=[^生]{{3,24}}生)({_NUMBERED_DAY})[\s(]{{0,3}}(?:出生|生人|生(?=$|的|[^\u4e00-\u9fff]))"
    ),
)
GENE = re.compile(
    r"基因|突变|测序|外显子|单核苷酸|snp|genotyp|genom|mutation|(?:^|_)genes?(?:_|$)", re.IGNORECASE
)
DATED = re.compile(r"\s*(?:19|20)\d{2}")
BIRTH_FIELD = re.compile(r"出生|生日|(?:^|_)(?:dob|birth)", re.IGNORECASE)


IDENTIFYING_FIELD = re.compile(
    r"姓名|患者名|受试者名|名字|身份证|证件号|护照|军官证|电话|手机|联系方式|座机|传真|住院号|门诊号|病案号|病历号|就诊号|就诊卡|"
    r"诊疗卡|登记号|病理号|影像号|条码|地址|住址|户籍|户口|工作单位|邮箱|邮编|邮政编码|微信|QQ|银行卡|账号|卡号|医保|社保|社会保障号|"
    r"联系人|监护人|家属|照片|人脸|指纹|车牌|设备序列号|拼音(?:首字母|缩写)|(?:姓名|患者|受试者|名)缩写|^缩写$|"
    r"(?:^|_)(?:patient|subject|full|first|last|family|given|sur|pt)_?name(?:$|_)|^(?:name|bank|cell|initial)$|"
    r"(?:^|_)(?:xm|xingming|sfzh?|zyh|mzh|bah|sjh|lxdh)(?:$|_)|"
    r"(?:^|_)(?:id_?card|id_?(?:no|number)|identity|national_?id|passport|ssn|mrn|phone|mobile|tel|telephone|fax|"
    r"cell_?phone|e?mail|address|addr|zip|zip_?code|postcode|wechat|weixin|qq|bank_?(?:no|card|account|acct)|"
    r"insurance|(?:pt|patient|subject)_?initial|initials|contact|guardian|device_?id|imei|"
    r"(?:hosp|hospital|inpatient|outpatient|admission)_?(?:no|num|number|id)|medical_?record(?:_?no)?|photo)(?:$|_|\d)|"
    r"\b(?:(?:patient|subject|full|first|last|family|given)(?:'s)? name|"
    r"(?:tele|mobile |cell ?)?phone (?:no|number)|(?:tele|mobile |cell ?)phone$|"
    r"national id|id (?:card|no|number)|passport|medical record|social security|"
    r"(?:hospital|inpatient|outpatient|admission) (?:no|number|id)|e-?mail|(?:home |mailing |street )?address$|"
    r"zip code|postal code|contact (?:person|name|number)|initials$)\b",
    re.IGNORECASE,
)
NOT_IDENTIFYING = re.compile(
    r"最后.{0,4}联系|(?:失去|能否|是否|有无|愿意).{0,4}(?:联系|电话)|电话(?:随访|访视).{0,4}(?:日期|时间|次数|结果|完成)|"
    r"contact_(?:date|yn)|insurance_type|医保类型",
    re.IGNORECASE,
)


def birth_fields(labels: Mapping[str, str]) -> frozenset[str]:
    """Fields that hold a date of birth, by name or label."""
    return frozenset(
        name
        for name, label in labels.items()
        if BIRTH_FIELD.search(name) or BIRTH_FIELD.search(label)
    )


def age_on(birth: str, today: date | None) -> int | None:
    """Completed years on `today`; None without a full, possible date."""
    digits = re.findall(r"\d+", birth)
    if today is None or not digits or len(digits[0]) == 2:
        return None
    parts = [digits[0][:4], digits[0][4:6], digits[0][6:8]] if len(digits[0]) == 8 else digits
    try:
        born = date(int(parts[0]), int(parts[1]), int(parts[2]))
    except (ValueError, IndexError):
        return None
    return today.year - born.year - ((today.month, today.day) < (born.month, born.day))


def identifies(name: str, label: str = "") -> bool:
    """Whether a field's name or label says that it holds an identifier, flagged or not."""
    text = f"{normalise(label)}"
    told = IDENTIFYING_FIELD.search(name) or IDENTIFYING_FIELD.search(text)
    return bool(told) and not NOT_IDENTIFYING.search(f"{name} {text}")


def birth_spellings(value: str) -> list[str]:
    """A date of birth in the ways people write it; [] for what is no full date."""
    found = re.fullmatch(
        r"((?:19|20)\d{2})(?:[-/.年](\d{1,2})[-/.月](\d{1,2})日?|(\d{2})(\d{2}))", value.strip()
    )
    if not found:
        return []
    year, month, day = (int(part) for part in found.groups() if part)
    return [
        f"{year}-{month:02}-{day:02}",
        f"{year}/{month}/{day}",
        f"{year}.{month}.{day}",
        f"{year}年{month}月{day}日",
        f"{year}年{month:02}月{day:02}日",
        f"{year}{month:02}{day:02}",
        f"{month:02}/{day:02}/{year}",
        f"{day:02}/{month:02}/{year}",
    ]


_FOREIGN_DIGIT = re.compile(r"[^\D0-9]")


def normalise(text: str) -> str:
    """NFKC, digits of every script as ASCII, invisible characters dropped."""
    folded = unicodedata.normalize("NFKC", text)
    # Invisible characters are not printable either: most texts need no look at each character.
    if folded.isascii() or (
        folded.replace("\n", "").isprintable() and not _FOREIGN_DIGIT.search(folded)
    ):
        return folded
    return "".join(_plain(char) for char in folded if unicodedata.category(char) != "Cf")


def _plain(char: str) -> str:
    digit = unicodedata.decimal(char, None)
    return str(digit) if digit is not None else char


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
    (BIRTH, r"(?:19|20)\d{2}[-/.]\d{1,2}[-/.]\d{1,2}"),
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
    BIRTH: r"出生|生日|birth|dob",
}
