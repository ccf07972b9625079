"""Patterns of personal identifiers in Chinese clinical text (agents_memory.md 6, redcap_dify.md 5.2).

They err on the side of masking. A check digit never decides: an ID card with a typing error is one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass

NAME = "姓名"
ID_CARD = "证件号"
PHONE = "电话"
EMAIL = "邮箱"
HOSPITAL = "就诊号"
ACCOUNT = "账号"
ADDRESS = "地址"
NUMBER = "号码"
BIRTH = "出生日期"

_EDGE = r"(?<![\dA-Za-z])"
_END = r"(?![\dA-Za-z])"
_IS = r"\s*(?:号码?|编号|id)?\s*(?:为|是|叫|:|=)*\s*"
# A viral load has eleven digits too.
_COUNTED = r"(?!\s?(?:IU|copies|拷贝|CFU))"
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


PATTERNS = (
    _pattern(EMAIL, r"[A-Z0-9._%+-]{1,64}\s?@\s?[A-Z0-9-]{1,63}(?:\.[A-Z0-9-]{1,63}){1,4}"),
    _pattern(ID_CARD, rf"{_EDGE}[1-9]\d{{5}}[ -]?(?:19|20)\d{{6}}[ -]?\d{{3}}[ -]?[\dX]{_END}"),
    _pattern(ID_CARD, rf"{_EDGE}\d{{17}}[\dX]{_END}"),
    _pattern(ID_CARD, rf"{_EDGE}\d{{15}}{_END}"),
    _pattern(ID_CARD, rf"(?:身份证|护照|军官证|证件){_IS}([A-Z]{{0,2}}\d[\dA-Z-]{{4,20}})"),
    _pattern(ACCOUNT, rf"{_EDGE}\d{{4}}(?:[ -]\d{{4}}){{3}}(?:[ -]\d{{1,3}})?{_END}"),
    _pattern(
        ACCOUNT,
        rf"(?:银行卡|卡号|账号|医保卡?|社保卡?|医保){_IS}([A-Z]{{0,3}}\d[\dA-Z -]{{4,25}}\d)",
    ),
    _pattern(
        PHONE,
        rf"{_EDGE}(?:\(?\+?(?:00)?86\)?[ -]?)?1[3-9]\d[ .-]?\d{{4}}[ .-]?\d{{4}}{_END}{_COUNTED}",
    ),
    _pattern(PHONE, rf"{_EDGE}1[3-9]\d[ .-]\d{{3}}[ .-]\d{{5}}{_END}"),
    _pattern(PHONE, rf"{_EDGE}1[ .-][3-9](?:[ .-]\d){{9}}{_END}"),
    _pattern(PHONE, r"[一幺][三四五六七八九][零〇一二三四五六七八九幺]{9}"),
    _pattern(
        PHONE, rf"{_EDGE}\(?0\d{{2,3}}\)?[ -]?\d{{7,8}}(?:[ -]?(?:转|ext\.?)?\d{{1,5}})?{_END}"
    ),
    _pattern(PHONE, rf"(?:电话|手机|座机|联系方式|tel|phone){_IS}(\+?\d[\d ()-]{{5,18}}\d)"),
    _pattern(
        HOSPITAL, rf"(?:住院|门诊|病案|病历|急诊|MRN|HIS)(?:号码?|编号|ID|#)?{_IS}{_NUMBERED}"
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

STRONG_NAME = re.compile(
    r"(?:姓名|名字|名叫|叫做|联系人|家属|监护人|配偶|女儿|儿子|丈夫|妻子|父亲|母亲)\s*(?:为|是|叫|:)*\s*"
    rf"({_FULL_NAME}|[\u4e00-\u9fff]·[\u4e00-\u9fff]{{1,8}})"
)
NAMED_FIELD = re.compile(
    r"姓名\s*(?:为|是|叫|:)+\s*([\u4e00-\u9fff·]{2,12}|[A-Za-z][A-Za-z .'-]{1,40})"
)
WEAK_NAME = re.compile(
    r"(?:患者|受试者|病人|病友|参与者|病患)\s*(?:姓名|名字)?\s*(?:为|是|叫|:)*\s*"
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
NAMES = (NAMED_FIELD, STRONG_NAME, WEAK_NAME, TITLED_NAME, SURNAMED, LATIN_NAME)
BIRTH_DATE = re.compile(
    r"(?:出生日期|出生年月日?|出生|生日|生于|DOB|birth(?:day| date)?)\s*(?:为|是|于|:)*\s*"
    r"((?:19|20)\d{2}\s*[-/.年]\s*\d{1,2}(?:\s*[-/.月]\s*\d{1,2}\s*日?)?|(?:19|20)\d{6})",
    re.IGNORECASE,
)
GENE = re.compile(
    r"基因|突变|测序|外显子|单核苷酸|snp|genotyp|genom|mutation|(?:^|_)genes?(?:_|$)", re.IGNORECASE
)
BIRTH_FIELD = re.compile(r"出生|生日|(?:^|_)(?:dob|birth)", re.IGNORECASE)


IDENTIFYING_FIELD = re.compile(
    r"姓名|患者名|受试者名|名字|身份证|证件号|护照|军官证|电话|手机|联系方式|座机|传真|住院号|门诊号|病案号|病历号|就诊号|就诊卡|"
    r"诊疗卡|地址|住址|户籍|邮箱|邮编|微信|银行卡|账号|卡号|医保|社保|联系人|监护人|家属|照片|人脸|指纹|(?:姓名|患者|受试者|名)缩写|^缩写$|"
    r"(?:^|_)(?:patient|subject|full|first|last|family|given|sur|pt)_?name(?:$|_)|^name$|(?:^|_)(?:xm|xingming)(?:$|_)|"
    r"(?:^|_)(?:id_?card|id_?(?:no|number)|identity|passport|ssn|mrn|phone|mobile|tel|telephone|fax|cell|"
    r"e?mail|address|addr|zip|postcode|wechat|weixin|bank|insurance|initials?|contact|guardian|"
    r"hospital_?no|inpatient_?no|outpatient_?no|medical_?record(?:_?no)?|photo)(?:$|_|\d)",
    re.IGNORECASE,
)
NOT_IDENTIFYING = re.compile(
    r"最后.{0,4}联系|(?:失去|能否|是否|有无|愿意).{0,4}联系|电话(?:随访|访视).{0,4}(?:日期|时间|次数|结果|完成)|"
    r"contact_(?:date|yn)|insurance_type|医保类型",
    re.IGNORECASE,
)


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


def normalise(text: str) -> str:
    """NFKC, digits of every script as ASCII, invisible characters dropped."""
    folded = unicodedata.normalize("NFKC", text)
    if folded.isascii():
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
    (NAME, r"[\u4e00-\u9fff·]{2,5}|[A-Z][A-Z .'-]{1,40}"),
    (ADDRESS, r"[\u4e00-\u9fff].{5,}"),
)
_KINDS = {
    "受试者": r"受试者",
    NAME: r"姓名|名字|name|initial|缩写",
    ID_CARD: r"身份|证件|id_?(?:card|no)|passport|护照",
    PHONE: r"电话|手机|phone|mobile|tel",
    EMAIL: r"邮箱|e?mail",
    HOSPITAL: r"住院|门诊|病案|病历|mrn|hospital|就诊",
    ADDRESS: r"地址|住址|addr",
    ACCOUNT: r"微信|wechat|银行|医保|account|card",
    BIRTH: r"出生|生日|birth|dob",
}
