"""One spelling for what people type: half-width, known typos, spoken subject numbers."""

import re
import unicodedata

from core.language.numerals import whole

MAX_CHARACTERS = 12_000

_INVISIBLE = re.compile(r"[\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff]")
_DASHES = re.compile(r"[\u2010-\u2015\u2212\uff0d]")
_SPACES = re.compile(r"[^\S\n]+")
_LINES = re.compile(r" ?\n[\s]*")
# A circled number begins an item of a list.
_ITEM = re.compile(r"[\u2460-\u2473]")

# Homophones that input methods and dictation produce for the words of this trade, where they are no
# words of their own: 失访是 and 放置空肠 stay.
TYPOS = {
    "质控": r"[治志至执知置智指]控(?!制)|(?<![体机限抑编])制控(?!制)|(?<![物介])质[孔空恐](?![间隙腔气])"
    r"|(?:(?<![\u4e00-\u9fff])|(?<=[跑做查下个次]))[治志执知智][孔空恐](?![肠腔洞腹间])",
    "周报": "周(?:抱(?!怨)|暴(?!露)|爆(?!发)|保(?![存护持证险]))",
    "月报": "月(?:抱(?!怨)|暴(?!露)|爆(?!发)|保(?![存护持证险]))",
    "随访": "随[仿房防](?![颤间治])",
    "访视": "(?<![失随回家])访是|访示|[防仿]视(?!网|野)",
    "受试者": "受[式视]者|受试着",
    "入组": "入[祖族](?![群谱])|(?<![比例譬假])如组(?![织间内])",
    "出组": "出祖",
    "筛败": "晒败|筛白(?![细蛋天血])",
    "脱落": "脱洛|托落",
    "方案": "方按(?![照时期规需])|方暗",
    "知情同意": "知青同意|知情同一",
    "录入": "(?<!记)录如(?![下此何果])|(?<![记登])录人(?!员)|(?<!线)路入",
    "不良事件": "不良时间|不良事见",
    "排除标准": "排出标准",
    "入选标准": "入选标淮",
    "基线": "基现",
    "趋势": "趋式",
    "记住": "(?<!登)记(?:注(?![册意])|往(?!来))",
    "合并用药": "合并用要",
}
_MEANT = list(TYPOS)
_TYPO = re.compile("|".join(f"({typed})" for typed in TYPOS.values()))

_DIGIT = {c: str(i) for i, c in enumerate("零一二三四五六七八九")} | {
    "〇": "0",
    "幺": "1",
    "洞": "0",
}
_N = "零〇一二三四五六七八九幺洞"
_PERSON = "受试者|患者|病人"
_LETTER_P = re.compile(rf"(?<![A-Za-z])[皮批屁](?=[零〇洞][{_N}])")
_LETTERED = re.compile(
    rf"(?<![A-Za-z0-9])([A-Za-z]{{1,6}})((?:\s?(?:杠|横杠|-)?\s?[{_N}]){{2,14}})(?![{_N}十百])"
)
_MIXED = re.compile(
    rf"(?<![A-Za-z0-9])([PpSs]-?)(?=[0-9]{{0,3}}[{_N}])([0-9{_N}]{{3}})"
    rf"(?![0-9{_N}十百直个下共起次样般些定条天周例位名岁月年度点旦])"
)
_LETTER_NUMBER = re.compile(
    rf"(?<![A-Za-z0-9])([Pp])([{_N}]?[十百][{_N}十]{{0,3}})(?=号|的|呃|嗯|那|[他她]|\s|$|,)"
)
_LEADING_ZERO = re.compile(rf"(?<![{_N}十百千万点第])([零〇洞][{_N}]{{2,5}})(?![{_N}十百千万])")
_NUMBER = rf"[{_N}十百]{{1,5}}"
_BEFORE_PERSON = re.compile(rf"({_NUMBER})(?=号(?:的)?(?:那个|这个|那位|这位)?(?:{_PERSON}))")
_AFTER_PERSON = re.compile(
    rf"((?:{_PERSON})(?:ID|id|编号)?\s?)"
    rf"({_NUMBER}(?=号)|[{_N}十百]{{2,5}}(?![个例位名岁天周月年次共直起般])|[二三四五六七八九](?=的|$))"
)


_GLUED_ID = re.compile(r"(?<![A-Za-z])ID(?=\d)", re.IGNORECASE)


def normalise(text: str) -> str:
    """Return `text` in one spelling; applying it twice changes nothing more."""
    text = _ITEM.sub("\n", _INVISIBLE.sub("", text[:MAX_CHARACTERS]))
    text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))[:MAX_CHARACTERS]
    text = _DASHES.sub("-", text)
    text = _LINES.sub("\n", _SPACES.sub(" ", text)).strip()
    return _spoken_ids(_GLUED_ID.sub("ID ", _TYPO.sub(_meant, text)))


def _meant(typed: re.Match[str]) -> str:
    return _MEANT[(typed.lastindex or 1) - 1]


def _spoken_ids(text: str) -> str:
    text = _LETTER_P.sub("P", text)
    text = _LETTERED.sub(_spelt, text)
    text = _MIXED.sub(lambda m: m.group(1) + _mixed(m.group(2)), text)
    text = _LETTER_NUMBER.sub(lambda m: m.group(1) + chinese_number(m.group(2)), text)
    text = _LEADING_ZERO.sub(lambda m: _digits(m.group(1)), text)
    text = _BEFORE_PERSON.sub(lambda m: chinese_number(m.group(1)), text)
    return _AFTER_PERSON.sub(lambda m: m.group(1) + chinese_number(m.group(2)), text)


def _spelt(heard: re.Match[str]) -> str:
    spoken = heard[2].replace("横杠", "-").replace("杠", "-")
    return heard[1] + "".join(_DIGIT.get(c, c.strip()) for c in spoken)


def _mixed(spoken: str) -> str:
    return "".join(_DIGIT.get(c, c) for c in spoken)


def _digits(spoken: str) -> str:
    return "".join(_DIGIT[c] for c in spoken)


def chinese_number(spoken: str) -> str:
    """Return the decimal digits of a numeral below 1000: 十二 -> 12, 零一八 -> 018."""
    return str(whole(spoken) or 0) if {*spoken} & {*"十百"} else _digits(spoken)
