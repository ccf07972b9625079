"""Names of people in Chinese and English text: what says that the words beside it are one."""

from __future__ import annotations

import re
from collections.abc import Collection

from integrations.identifiers import DOTS, IS, NAME

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
    "安全|安排|高[血龄危热钾钠钙脂尿胆凝烧敏甘糖磷镁氨颅蛋渗度]|应在|应当|应签|应该|应于|应按|应为|应有|应满|应先|全部|全程|全身|全血|常[规见诉有伴]|"
    "成[功人年]|严[重格]|关于|关注|单[独次]|项目|方案|方可|方能|平[均时素卧稳]|包括|包含|任何|任意|何时|何种|左侧|左肺|石蜡|文件|温[度和]|黄[疸斑染]|"
    "解[除释热痛大小黑尿]|封存|居住|居家|从未|从首|都需|都应|都有|那么|那个|连续|向研|终止|终点|满[足意]|简称|利用|利益|国家|国内|广泛|东部|师签|易发|"
    "古代|容易|步行|明确|经过|计划|计算|和家|沙星|柏油|利弊|安慰|安静|曾[用接有经行患服因做住于在被出]|班次|白[细蛋血内癜带色塞]|水平|时间|时应|越来|随访|"
    "钟内|简要|向其|印证|秋季|夏季|冬季|季度|农[村民]|申请|申办|国际|融合|冷藏|关[系键节]|全组|余下|余量|万一|金[额属葡]|石[料棉]|宫[颈腔外内缩]|"
    "房[颤室间]|毛[细囊]|舒[张适]|程度|怀[孕疑]|牛皮|单[侧眼]|颜面|梅毒|符合|范围|习惯|费用|步态|谢谢|马上|叶酸|游离|苏醒|明[显日]|康复|宁可|毕业|"
    "许可"
)
_AFTER_NAME = (
    r"(?=$|[^\u4e00-\u9fff]|的|今|昨|明[天日早晚]|也|都|曾|会|能|又|再|还|这|那|跟|或|需|要|于|在|电话|手机|家属|诉|因|说|为|是|已|住|男|女|血|做|有|来|去|到|入|出|"
    r"签|用|服|发|出现|同意|拒绝|自述|反映|联系|身份|和|与|及|告|年|陪)"
)

STRONG_NAME = re.compile(
    rf"(?:姓\s?名|名字|名叫|叫做|[他她]叫|[本原]名|曾用名){IS}"
    rf"({_FULL_NAME}|[\u4e00-\u9fff]·[\u4e00-\u9fff]{{1,8}})"
    rf"|(?:家属|监护人|联系人|代理人|见证人|签字人|签名|配偶|女儿|儿子|丈夫|妻子|父亲|母亲){IS}((?!{_NOT_NAMES}){_FULL_NAME})"
)
KIN = re.compile(
    r"(?:其[妻夫子女父母兄弟姐妹]|老伴|老公|老婆|爱人|哥哥|弟弟|姐姐|妹妹|儿媳|女婿|陪护|陪同人|紧急联系)"
    rf"{IS}((?!{_NOT_NAMES}){_FULL_NAME}){_AFTER_NAME}"
)
NAMED_FIELD = re.compile(
    r"姓\s?名\s{0,9}(?:为|是|叫|[:=|]){1,4}\s{0,9}([\u4e00-\u9fff·]{2,12}|[A-Za-z][A-Za-z .'-]{1,40})"
)
WEAK_NAME = re.compile(
    r"(?:患者|受试者|病人|病友|参与者|病患)\s{0,9}(?:姓名|名字)?"
    rf"{IS}((?!{_NOT_NAMES}){_FULL_NAME}){_AFTER_NAME}"
)
_TITLES = (
    "先生|女士|同志|小朋友|阿姨|大爷|大妈|大叔|大姐|大哥|叔叔|伯伯|奶奶|爷爷|小姐|师傅|老伯|太太"
)
# The glance ahead spares every other place the long lists.
TITLED_NAME = re.compile(
    rf"(?=[\u4e00-\u9fff]{{2,4}}(?:{_TITLES}|[\s,、(|/]{{1,3}}[男女]))"
    rf"(?:({_FULL_NAME})(?={_TITLES})"
    rf"|(?<![\u4e00-\u9fff])((?!{_NOT_NAMES}){_FULL_NAME})(?=[\s,、(|/]{{1,3}}[男女]性?(?![\u4e00-\u9fff])))"
)
SURNAMED = re.compile(
    rf"(?<![\u4e00-\u9fff])((?:{_COMPOUND}|[{_SURNAMES}])(?:(?={_TITLES})|某+|[×*]{{1,2}}|XX?))"
    rf"|(?<=患者|病人|问下|请问|查下|看看|受试)((?:{_COMPOUND}|[{_SURNAMES}])(?:(?={_TITLES})|某+))"
)
LATIN_NAME = re.compile(
    r"(?i:\b(?:patient|subject|name))(?i:\s+name)?\s*(?:is|[:=])?\s*([A-Z][a-z]{1,20}(?:\s+[A-Z][a-z]{1,20}){1,2})\b"
    r"|(?i:\bname)\s*(?:is|[:=])\s*([A-Z]{2,20}(?:\s+[A-Z]{2,20}){1,2})\b"
    r"|\b(?:Mr|Mrs|Ms|Miss)\.?\s+([A-Z][a-z]{1,20}(?:\s+[A-Z][a-z]{1,20})?)\b"
)
REST_OF_NAME = re.compile(rf"\[{NAME}#\d+\]((?:[{DOTS}][\u4e00-\u9fff]{{2,8}})+)")
NAMES = (REST_OF_NAME, NAMED_FIELD, STRONG_NAME, KIN, WEAK_NAME, TITLED_NAME, SURNAMED, LATIN_NAME)


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
