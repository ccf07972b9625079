"""Subjects named in a message (intents_labels.md rule 10)."""

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from core.rules.limits import RuleError
from core.rules.pattern import Pattern, compile_pattern
from engines.assistant.read.spelling import normalise

PAD, _RECORD = "\x00", "§"


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
_MAX_ID = 20
_UNIT = (
    r"个|日(?!记)|例(?!假)|位|名|人(?!在|呢)|岁|天(?!天)|周(?![一二三四五六日末])|月(?!经)|年(?!龄|纪)|次(?!要|日)|条|份|%|℃|mg|kg|g\b|ml"
    r"|mmol|umol|u/l|cm|mm|分(?!到|在|组|配|期)|级|期(?!间)|组(?!别)|度|点(?!击)|小时|粒|片|盒|支(?!气)|针|家(?!属|里|人)|项"
    r"|多(?!大|久|重|高|少)|几(?!号|点|岁|次|期)|余|来个|以上|以下|左右|公斤|斤|毫|米|号楼|号床|床|楼|倍|元|块|万|页|臂"
    r"|/|\.\d|-[A-Za-z]"
)
_NO_UNIT = rf"(?!\d|[A-Za-z]|-\d|\s?(?:{_UNIT}))"
_NO_MEASURE = r"(?!\d|(?!V\d)[A-Za-z]|-\d|\.\d|\s?(?:%|℃|mg|kg|mmol|umol))"
_NO_SITE = r"(?!\s?(?:号)?\s?(?:分?中心|医院|site|center|centre))"
_DIGITS = r"\d{1,6}(?:-\d{1,6}){0,3}"

# Prefixes whose number is a measurement, a gene, a drug, a scale or a register, not a subject.
_NOT_SUBJECTS = frozenset(
    re.findall(
        r"\w+",
        "CA CD HER PD PDL IL NCT CHICTR ICD COVID ECOG ALT AST WBC RBC HGB HB PLT ANC BP HR BMI CR SCR K NA"
        " CRP GFR EGFR INR PT APTT CK LDH UA TC TG TP ALB TBIL DBIL GLU QT QTC SF EQ PHQ GAD HAMD HAMA MMSE"
        " MOCA NYHA LVEF CTCAE RECIST GCP KI FU TS T M N G Q H HBA CYP BRCA KRAS AE SAE CRF ICF VAS NRS SPO"
        " DAS ACR PSA AFP CEA TSH FT BUN V W D C PM CT MRI PET PS SD DSMB WEEK DAY VISIT GRADE PHASE EDC QLQ"
        " FACT PCR RNA DNA HBV HCV HIV HPV VERSION VER TOP ISO SOP WIN OFFICE EXCEL SITE CENTER ID NO RECORD",
    )
)
_LETTERED = re.compile(
    r"(?<![A-Za-z0-9.])(?<![A-Za-z][-_])((?:[A-Za-z]{2,5}-)?[A-Za-z]{1,6})(\s?[-_]\s?|\s)?"
    r"(\d{2} \d{3}|\d{1,6}(?:(?:\s?-\s?|_)\d{1,6}){0,3})"
    rf"{_NO_MEASURE}{_NO_SITE}"
)
_SPELT = re.compile(r"(?<![A-Za-z0-9])([A-Za-z])((?: \d){3,4})(?!\s?\d)")
_REGISTER = re.compile(
    r"(?:注册号?|登记号|批件号?|方案号|方案编号|项目编号|课题编号|合同号?|伦理号|文件号|单号|药物编号|药号|批号|随机号"
    r"|版本号?|电话|手机号?|备案号|中心(?:编号|号|代码)|中心(?=\s?\d)|site|center)\s?(?:是|为|填上?|改成|写)?\s?[::#]?\s?$",
    re.IGNORECASE,
)
_PREFIXED = re.compile(
    r"(?:(?<![A-Za-z])ID|编号|受试者|患者|病人|病例|筛选号|入组号|病历号|(?:subject|subj|patient|record|pt)\b)"
    r"(?:的)?\s?(?:ID|编号|号码|号)?\s?(?:[::#=是为]|no\.?)?\s?"
    rf"(0(?: \d){{2,4}}|{_DIGITS})(?!个|例)号?{_NO_UNIT}",
    re.IGNORECASE,
)
_BEFORE_PERSON = re.compile(
    rf"(?<![\dA-Za-z\-/第])(?<!\d\.)({_DIGITS})(\s?号)?\s?(?:的)?(?:那个|这个|那位|这位|那名|那)?(?:女|男|老)?"
    r"(?:患者|病人|病号|受试者|病例|老太太|老太|老头|老爷子|老奶奶|奶奶|爷爷|老先生|大爷|大妈|大娘|大姐|大哥|大叔|阿姨|小伙|姑娘"
    r"|(?<=女)的|(?<=男)的)"
)
_FACT = (
    r"S?AE|ECOG|不良事件|不良反应|血常规|血压|血糖|血|肝功|肾功|肌酐|化验|心电|体重|身高|体温|基本|质控|状态|基线|合并"
    r"|病史|年龄|性别|资料|信息|数据|情况|检查|用药|生化|尿|ICF签|吐|恶心|拉肚子|发烧|发热|头[晕疼痛]|晕|咳|皮疹|摔"
    r"|CT|转氨酶|评分|化疗|签字|肝|肾|心率|体征|疗效|病理"
)
_BARE_FACT = re.compile(
    rf"(?<![\dA-Za-z.\-/第月年日周])(\d{{1,4}})号(?:的)?(?:最近|上次|现在|目前)?的?(?:{_FACT}"
    r"|(?<=的)V\d|下次|(?:怎么|为啥|为什么)?(?:还没?)?(?:入组|随机|签\S{0,4}?|出组|脱落|筛败|退组)了?(?:没|吗|么|$))",
    re.IGNORECASE,
)
_ORDINAL = re.compile(r"(?:第\s?(\d{1,4})号(?=受试者|患者|病人|病例))")
_HASHED = re.compile(rf"(?<![\w#第])(?<!criteria )(?<!criterion )[#]\s?(\d{{1,6}}){_NO_UNIT}")
_NOT_A_DAY = (
    r"(?!之?前|以前|之?后|以后|那天|当天|到|至|上午|下午|晚|早|左右|开始|要|的?访视|的?随访|的?会|来|有|能|可以"
    r"|中心|楼|方案|床|机|管|入组|是|谁|几|哪|筛)"
)
_BARE_OBJECT = re.compile(
    rf"(?:给|把|对|查一?下|看一?下|查查|看看|核下|核一下)\s?(\d{{1,4}})号{_NOT_A_DAY}"
)
_BARE_CHECKED = re.compile(
    rf"(?:质控|核查|核对|复核)(?:一?下)?\s?(\d{{1,4}})号(?![跑做出]){_NOT_A_DAY}"
)
_ZEROS = re.compile(
    rf"(?<![\dA-Za-z.\-/:第#])(0\d{{2,5}}|0\d-\d{{3,4}})(?:\s?号)?(?![\d.:年日]){_NO_UNIT}{_NO_SITE}"
)
_ALONE = re.compile(
    r"(?<![\dA-Za-z.\-/:第])((?!\d{3,4}(?![-\d]))\d{3,10}(?:-\d{1,6}){0,3}|0\d{2,3})"
    rf"{_NO_UNIT}{_NO_SITE}"
)
# A short number is a subject only where nothing else can stand: it begins a clause, or is what is looked at.
_PLACE = (
    r"(?:(?:^|[,。;:?!、])\s?|(?:给|把|对|关于|查|查?看|[查看问核]一?下|质控)\s?|(?<=\d )|"
    r"(?<=[和与跟及的]))"
)
_SHORT = re.compile(rf"{_PLACE}(\d{{3,4}}){_NO_UNIT}{_NO_SITE}")
_SHORTEST = re.compile(rf"{_PLACE}(\d{{1,2}})(?=\s?(?:的(?!时候)|[做跑]|进行|质控|核查))")
_BARE_SHAPES = (
    _PREFIXED,
    _BEFORE_PERSON,
    _ORDINAL,
    _HASHED,
    _BARE_FACT,
    _BARE_OBJECT,
    _BARE_CHECKED,
    _ZEROS,
)
_NEXT = re.compile(
    r"\s?号?\s?(?:、|,|和|跟|与|及|以及|还有|到|至|~|/|&|and)\s?(?:受试者|患者|病人)?\s?(\d{1,6})(?!\d)号?"
    rf"{_NO_UNIT}{_NO_SITE}"
)
_PREVIOUS = re.compile(r"(?<![\dA-Za-z.\-/第月])(\d{1,4})\s?号?\s?(?:、|,|和|跟|与|及|还有)\s?$")
_TOKEN = re.compile(r"(?<![A-Za-z0-9])[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+){0,4}(?![A-Za-z0-9])")
_SPACED = re.compile(
    r"(?<![A-Za-z0-9])[A-Za-z]{1,6} ?(?:- ?)?\d{1,6}(?:(?: ?- ?| )\d{1,6}){0,3}(?![A-Za-z0-9])"
)


def ids_in(text: str, pattern: str | None = None) -> list[str]:
    """Every subject that a message as typed names, once each, in order of the words."""
    return list(dict.fromkeys(span.value for span in record_spans(normalise(text), pattern)))


def record_spans(text: str, pattern: str | None = None) -> list[Span]:
    """Return the subjects in normalised `text`, in order; `pattern` replaces the default shapes."""
    own = _compile(pattern)
    hidden = text
    for spans in (visits(text), dates(text), value_spans(text)):
        hidden = cover(hidden, spans, PAD)
    if own is None:
        spans = _default_lettered(hidden)
        accept: Callable[[str], bool] = bool
    else:
        accept = lambda value: bool(value) and own.fullmatch(value)  # noqa: E731
        spans = _own_tokens(hidden, accept)
    shapes = _BARE_SHAPES if own is None else (*_BARE_SHAPES, _ALONE, _SHORT, _SHORTEST)
    spans = _apart([*spans, *_bare(cover(hidden, spans, _RECORD), accept, shapes)])
    return _lists(hidden, spans, accept)


def _compile(pattern: str | None) -> Pattern | None:
    """None for the default shapes, also where a stored pattern is one that is no longer taken."""
    try:
        return compile_pattern(pattern, folds_case=True) if pattern else None
    except RuleError:
        return None


def _default_lettered(text: str) -> list[Span]:
    found = [
        _lettered(m)
        for m in _LETTERED.finditer(text)
        if not _REGISTER.search(text, max(0, m.start() - 16), m.start())
    ]
    spelt = [Span(m.start(), m.end(), _id(m.group())) for m in _SPELT.finditer(text)]
    return _apart([*(span for span in found if span), *spelt])


def _lettered(match: re.Match[str]) -> Span | None:
    prefix, gap, digits = match.group(1).upper(), match.group(2) or "", match.group(3)
    count = sum(c.isdigit() for c in digits)
    padded = (len(prefix) == 1 or "-" in gap) and count >= 3 and digits.startswith("0")
    if prefix in _NOT_SUBJECTS and not padded:
        return None
    enough = count >= 3 or (prefix in {"P", "S"} and count == 2) or (prefix == "P" and gap != " ")
    loose = gap == " " and len(prefix) > 1 and not digits.startswith("0")
    return Span(match.start(), match.end(), _id(match.group())) if enough and not loose else None


def _own_tokens(text: str, accept: Callable[[str], bool]) -> list[Span]:
    spans: list[Span] = []
    for finder in (_SPACED, _TOKEN):
        found = [s for s in find(finder, text) if any(c.isdigit() for c in s.value)]
        named = [Span(s.start, s.end, _id(s.value)) for s in found if not s.value.isdigit()]
        spans += [s for s in named if len(s.value) <= _MAX_ID and accept(s.value)]
    return _apart(spans)


def _bare(
    text: str, accept: Callable[[str], bool], shapes: tuple[re.Pattern[str], ...]
) -> list[Span]:
    found: list[Span] = []
    for pattern in shapes:
        for m in pattern.finditer(text):
            weak = pattern is _BEFORE_PERSON and not m.group(2) and len(m.group(1)) < 3
            register = pattern in (_ZEROS, _ALONE) and _REGISTER.search(
                text, max(0, m.start() - 16), m.start()
            )
            value = _id(m.group(1))
            if not weak and not register and accept(value):
                found.append(Span(m.start(1), m.end(1), value))
    return _apart(found)


def _lists(text: str, spans: list[Span], accept: Callable[[str], bool]) -> list[Span]:
    """Add the further numbers of a list: P001和002, 3、5、7号患者."""
    free, queue, spans = Free(), list(spans), list(spans)
    for span in queue:
        free.take(span.start, span.end)
    while queue:
        span = queue.pop()
        for match in (
            _NEXT.match(text, span.end),
            _PREVIOUS.search(text, max(0, span.start - 12), span.start),
        ):
            if match and _alike(span.value, match.group(1)) and accept(match.group(1)):
                new = Span(match.start(1), match.end(1), match.group(1))
                if free.take(new.start, new.end):
                    spans.append(new)
                    queue.append(new)
    return sorted(spans)


def _alike(known: str, number: str) -> bool:
    tail = re.split(r"[^0-9]", known)[-1]
    if int(tail or -1) == int(number):
        return True
    if known.isdigit() and len(known) < 3:
        return len(number) < 3
    lettered = not known[:1].isdigit() and len(tail) > len(number)
    return len(number) >= 2 and (len(tail) == len(number) or lettered)


def _id(raw: str) -> str:
    return re.sub(r"\s", "", raw).upper()


def _apart(spans: Iterable[Span]) -> list[Span]:
    """The spans in the order of the text; of two that overlap the one named first."""
    free = Free()
    return sorted(span for span in spans if free.take(span.start, span.end))


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


def value_spans(text: str) -> list[Span]:
    """Return pairs such as 132/84 and decimals, which are never subjects."""
    return find(_VALUES, text)
