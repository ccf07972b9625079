"""Patterns of personal identifiers in Chinese clinical text (agents_memory.md 6, redcap_dify.md 5.2).

They err on the side of masking. A check digit never decides: an ID card with a typing error is one.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Collection, Mapping
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
_IS = r"\s{0,9}(?:号码?|编号|id|no\.?)?(?:为|是|叫|[\s:=(\[【“”\"'「《<]){0,9}"
DASHES = "\u2010-\u2015\u2212-"
DOTS = "·•‧∙⋅・ᐧ"
_SEPARATOR = rf"[ \t.,_/|{DASHES}]"
_BETWEEN, _MAYBE = rf"{_SEPARATOR}{{1,3}}", rf"{_SEPARATOR}{{0,3}}"
# A viral load has eleven digits too.
_COUNTED = r"(?!\s?(?:IU|copies|拷贝|CFU))"
_MOBILE_GROUPS = ((3, 4, 4), (3, 8), (7, 4), (5, 6), (6, 5), (3, 3, 5), (3, 5, 3), (1,) * 11)
_AREA = r"(?:10|2\d|[3-9]\d{2})"
_YEAR, _MONTH, _DAY = r"(?:19|20)\d{2}", r"(?:0[1-9]|1[0-2])", r"(?:[0-2]\d|3[01])"
# Not a date ("检查 2026-02-05"), not a stretch of time or a count ("住院 120 天").
_NUMBERED = (
    r"(?!(?:19|20)\d{2}[-/.年]\d)([A-Z]{0,4}-?\d[\dA-Z-]{2,20}+)"
    r"(?!\s*(?:天|日|次|周|年|月|元|小时|例|人))"
)
_SURNAMES = (
    "赵钱孙李周吴郑王冯陈褚卫蒋沈韩杨朱秦尤许何吕施张孔曹严华金魏陶姜戚谢邹喻柏窦章苏潘葛范彭郎"
    "鲁韦马苗凤花方俞任袁柳鲍史唐费廉岑薛雷贺倪汤滕殷罗毕郝邬安常乐傅卞齐康伍余顾孟黄穆萧尹"
    "姚邵汪祁毛狄贝臧戴宋茅庞熊纪舒屈项祝董梁杜阮蓝闵席季贾江童颜郭梅林刁钟徐邱骆高夏蔡田樊胡凌霍"
    "虞万柯卢莫房缪解应宗丁宣邓郁单洪包诸左石崔吉龚程邢裴陆荣翁荀惠甄曲封芮储靳汲段侯全班秋仲伊宫宁"
    "仇栾甘厉武符刘景詹束龙叶幸司黎薄印白怀蒲从鄂索赖卓蔺屠蒙池乔阴胥苍闻党翟谭贡姬申冉雍桑桂牛寿边"
    "扈燕冀尚农温庄晏柴瞿阎慕连茹习艾容向古易廖终居衡步都耿满弘匡国文寇广东欧沃利蔚越师巩聂晁勾敖融冷"
    "辛阚那简饶曾沙鞠丰关游佘"
)
_COMPOUND = (
    "欧阳|上官|司马|诸葛|东方|皇甫|尉迟|公孙|慕容|令狐|司徒|夏侯|端木|南宫|百里|呼延|轩辕|长孙|宇文"
)
_FULL_NAME = rf"(?:(?:{_COMPOUND})[\u4e00-\u9fff]{{1,2}}|[{_SURNAMES}][\u4e00-\u9fff]{{1,2}})"
# Words of the trade that begin with a surname: after a weak cue they are not names.
_NOT_NAMES = (
    "安全|安排|高血|高龄|高危|高热|应在|应当|应签|应该|应于|应按|应为|应有|应满|应先|全部|全程|全身|全血|常规|常见|成功|严重|关于|关注|"
    "单独|单次|项目|方案|方可|方能|平均|包括|包含|任何|任意|何时|何种|左侧|左肺|石蜡|文件|温度|黄疸|解除|封存|居住|居家|从未|从首|"
    "都需|都应|都有|那么|那个|连续|向研|终止|终点|满足|满意|简称|利用|利益|国家|国内|广泛|东部|师签|易发|古代|容易|步行|明确|"
    "经过|计划|计算|和家|沙星|柏油|利弊|安慰|安静|曾用|曾接|曾有|曾经|曾行|班次|白细|白蛋|水平|时间|时应|越来|随访|钟内|简要|向其|"
    "印证|秋季|夏季|冬季|季度|农村|申请|申办|国际|符合|融合|冷藏|关系|关键|全组|余下|余量|万一|满足|金额|石料|康复|宁可|毕业|许可"
)
_AFTER_NAME = (
    r"(?=$|[^\u4e00-\u9fff]|的|今|昨|明[天日早晚]|也|都|曾|会|能|又|再|还|这|那|跟|或|需|要|于|在|电话|手机|家属|诉|因|说|为|是|已|住|男|女|血|做|有|来|去|到|入|出|"
    r"签|用|服|发|出现|同意|拒绝|自述|反映|联系|身份|和|与|及|告|年)"
)


@dataclass(frozen=True)
class Pattern:
    """What `regex` finds is a `kind`; the part to mask is group 1, or everything."""

    kind: str
    regex: re.Pattern[str]


def _pattern(kind: str, regex: str, flags: int = re.IGNORECASE) -> Pattern:
    return Pattern(kind, re.compile(regex, flags))


def _mobile() -> str:
    """What follows the 1 of a mobile number: in one piece, or in groups with the same between all."""
    digits = ["[3-9]", *([r"\d"] * 9)]
    shapes = ["".join(digits)]
    for number, groups in enumerate(_MOBILE_GROUPS, 2):
        ends = set(itertools.accumulate(groups[:-1]))
        first = min(ends)
        between = {end: rf"({_BETWEEN})" if end == first else rf"\{number}" for end in ends}
        shapes.append("".join(between.get(at, "") + digit for at, digit in enumerate(digits, 1)))
    return f"(?:{'|'.join(shapes)})"


_MOBILE = _mobile()

PATTERNS = (
    _pattern(
        EMAIL,
        r"[A-Z0-9._%+-]{1,64}\s?(?:@|[(\[]at[)\]])\s?[A-Z0-9-]{1,63}(?:\s?\.[A-Z0-9-]{1,63}){1,4}",
    ),
    _pattern(
        ID_CARD,
        rf"[1-9](?<!\d\d)\d{{5}}{_MAYBE}{_YEAR}{_MAYBE}{_MONTH}{_MAYBE}{_DAY}{_MAYBE}\d{{3}}{_MAYBE}[\dX](?!\d)",
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
        rf"(?:身份证|护照|军官证|证件){_IS}(?:[\u4e00-\u9fff]字第)?([A-Z]{{0,2}}\d[\dA-Z-]{{4,20}})",
    ),
    _pattern(ACCOUNT, rf"{_EDGE}\d{{4}}(?:[ -]\d{{4}}){{3}}(?:[ -]\d{{1,3}})?{_END}"),
    _pattern(
        ACCOUNT,
        rf"(?:银行卡|卡号|账号|医保卡?|社保卡?|医保){_IS}([A-Z]{{0,3}}\d[\dA-Z -]{{4,25}}\d)",
    ),
    _pattern(PHONE, rf"(86(?<![1-9]86)\)?{_MAYBE}1{_MOBILE})(?!\d){_COUNTED}"),
    _pattern(PHONE, rf"(1(?<!\d1){_MOBILE})(?!\d){_COUNTED}"),
    _pattern(PHONE, r"[一幺][三四五六七八九][零〇一二三四五六七八九幺]{9}"),
    _pattern(
        PHONE, rf"{_EDGE}\(?0\d{{2,3}}\)?[ -]?\d{{7,8}}(?:[ -]?(?:转|ext\.?)?\d{{1,5}})?{_END}"
    ),
    _pattern(PHONE, rf"0(?<!\d0){_AREA}\)?{_MAYBE}\d{{3,4}}{_MAYBE}\d{{4}}(?!\d)"),
    _pattern(
        PHONE,
        rf"86(?<![1-9]86){_BETWEEN}\(?0?{_AREA}\)?{_MAYBE}\d{{3,4}}{_MAYBE}\d{{4}}(?!\d)",
    ),
    _pattern(PHONE, rf"[48]00(?<!\d\d00){_BETWEEN}\d{{3}}{_MAYBE}\d{{4}}(?!\d)"),
    _pattern(PHONE, rf"(?:电话|手机|座机|联系方式|tel|phone){_IS}(\+?\d[\d ()-]{{5,18}}\d)"),
    _pattern(
        HOSPITAL, rf"(?:住院|门诊|病案|病历|急诊|MRN|HIS)(?:号码?|编号|ID|#)?{_IS}{_NUMBERED}"
    ),
    _pattern(
        HOSPITAL,
        r"(?:hospital|inpatient|outpatient|admission|medical record|chart) ?(?:id|no\.?|number|#)"
        rf"{_IS}{_NUMBERED}",
    ),
    _pattern(
        HOSPITAL,
        r"(?:登记|病理|影像|检查|检验|病人|患者|标本|样本|条码|就诊卡?|诊疗卡?|床位?|CT|MRI?|申请单)"
        rf"(?:号码?|编号|ID|#){_IS}{_NUMBERED}",
    ),
    _pattern(
        ACCOUNT,
        r"(?:微信|wechat|weixin|微信号|wx|vx|qq)(?:号|id)?\s*(?:为|是|:|=)?\s*([A-Z0-9][A-Z0-9_-]{4,19})",
    ),
    _pattern(
        ADDRESS,
        r"(?:家庭住址|住址|地址|家住|现住|户籍地?|居住地|住在)\s*(?:为|是|:)?\s*"
        r"([\u4e00-\u9fff0-9A-Z# -]{3,60})",
    ),
    _pattern(
        ADDRESS,
        r"[\u4e00-\u9fff]{2,7}(?:省|市|区|县|镇|乡|自治区|街道)[\u4e00-\u9fff0-9A-Z]{0,24}?"
        r"(?:路|街|大道|巷|弄|胡同|村|小区|花园|里)[\u4e00-\u9fff0-9A-Z]{0,16}?\d{1,5}\s?(?:号|室|栋|幢|单元|楼|弄)"
        r"[\u4e00-\u9fff0-9A-Z-]{0,16}",
    ),
    _pattern(
        ADDRESS,
        r"[\u4e00-\u9fff]{2,6}(?:路|街|大道|巷|弄|胡同)\d{1,5}\s?(?:号|弄)(?:[0-9A-Z-]{1,6}(?:号|室|栋|幢|单元|楼))*",
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

STRONG_NAME = re.compile(
    r"(?:姓名|名字|名叫|叫做|联系人|家属|监护人|配偶|女儿|儿子|丈夫|妻子|父亲|母亲)(?:为|是|叫|[\s:]){0,9}"
    rf"({_FULL_NAME}|[\u4e00-\u9fff]·[\u4e00-\u9fff]{{1,8}})"
)
KIN = re.compile(
    r"(?:其[妻夫子女父母兄弟姐妹]|老伴|老公|老婆|爱人|哥哥|弟弟|姐姐|妹妹|儿媳|女婿|陪护|陪同人|紧急联系)"
    rf"(?:为|是|叫|[\s:]){{0,9}}((?!{_NOT_NAMES}){_FULL_NAME}){_AFTER_NAME}"
)
NAMED_FIELD = re.compile(
    r"姓名\s{0,9}(?:为|是|叫|:){1,4}\s{0,9}([\u4e00-\u9fff·]{2,12}|[A-Za-z][A-Za-z .'-]{1,40})"
)
WEAK_NAME = re.compile(
    r"(?:患者|受试者|病人|病友|参与者|病患)\s{0,9}(?:姓名|名字)?(?:为|是|叫|[\s:]){0,9}"
    rf"((?!{_NOT_NAMES}){_FULL_NAME}){_AFTER_NAME}"
)
_TITLES = "先生|女士|阿姨|大爷|大妈|大叔|大姐|大哥|叔叔|伯伯|奶奶|爷爷|小姐|师傅|老伯|太太"
TITLED_NAME = re.compile(rf"({_FULL_NAME})(?={_TITLES})")
SURNAMED = re.compile(
    rf"(?<![\u4e00-\u9fff])((?:{_COMPOUND}|[{_SURNAMES}])(?:(?={_TITLES})|某+|[×*]{{1,2}}|XX?))"
    rf"|(?<=患者|病人|问下|请问|查下|看看|受试)((?:{_COMPOUND}|[{_SURNAMES}])(?:(?={_TITLES})|某+))"
)
LATIN_NAME = re.compile(
    r"(?i:\b(?:patient|subject|name))(?i:\s+name)?\s*(?:is|:)?\s*([A-Z][a-z]{1,20}(?:\s+[A-Z][a-z]{1,20}){1,2})\b"
)
REST_OF_NAME = re.compile(rf"\[{NAME}#\d+\]((?:[{DOTS}][\u4e00-\u9fff]{{2,8}})+)")
NAMES = (REST_OF_NAME, NAMED_FIELD, STRONG_NAME, KIN, WEAK_NAME, TITLED_NAME, SURNAMED, LATIN_NAME)
_BIRTH_CUE = (
    r"(?:出生日期|出生年月日?|出生|生日|生于|DOB|birth(?:day| date)?)(?:为|是|于|[\s:(]){0,6}"
)
_WRITTEN_DAY = (
    rf"{_YEAR}\s?[/.年{DASHES}]\s?\d{{1,2}}(?:\s?[/.月{DASHES}]\s?\d{{1,2}}\s?日?)?|{_YEAR}\d{{4}}|"
    rf"\d{{1,2}}\s?[/.{DASHES}]\s?\d{{1,2}}\s?[/.{DASHES}]\s?{_YEAR}|"
    rf"[A-Z]{{3,9}}\.? \d{{1,2}},? {_YEAR}|\d{{1,2}}[ -][A-Z]{{3,9}}\.?,?[ -]{_YEAR}|"
    r"\d{1,2}月\d{1,2}[日号]"
)
BIRTH_DATES = (
    re.compile(rf"{_BIRTH_CUE}({_WRITTEN_DAY})", re.IGNORECASE),
    re.compile(
        rf"({_YEAR}[/.年{DASHES}]\d{{1,2}}[/.月{DASHES}]\d{{1,2}}日?)\s?(?:出生|生人|生(?=$|[^\u4e00-\u9fff]))"
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
    if today is None or not digits:
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


def surname(name: str) -> str:
    """The family name of a Chinese name of two to four characters; "" for every other value."""
    if not re.fullmatch(r"[\u4e00-\u9fff]{2,4}", name):
        return ""
    found = re.match(_COMPOUND, name)
    return found[0] if found and len(name) > 2 else name[0]


def name_spellings(name: str) -> list[str]:
    """Other ways to say a name of several parts: the first of 阿依古丽·买买提 alone, Smith, John."""
    parts = [part for part in re.split(rf"[{DOTS}.]", name) if len(part) > 1]
    if len(parts) > 1 and not name.isascii():
        return parts
    first, _blank, last = name.rpartition(" ")
    return [f"{last} {first}"] if first.isascii() and first and last.isascii() else []


def addressed(surnames: Collection[str]) -> re.Pattern[str]:
    """张先生, 老张, 小张, 张某: how people speak of somebody whose family name is known."""
    one = "|".join(re.escape(name) for name in sorted(surnames, key=len, reverse=True))
    return re.compile(
        rf"((?:{one})(?:(?={_TITLES}|老太|老师)|某+|[×*]{{1,2}}|XX?)|(?<![\u4e00-\u9fff])[老小阿](?:{one})"
        rf"(?![\u4e00-\u9fff]{{0,1}}(?:序|量|规))|(?<=患者|病人|那个|这个|帮我|的是|问下|请问|查下|看看)[老小阿](?:{one}))"
    )


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
