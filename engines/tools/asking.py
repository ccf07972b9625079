"""What a question about a subject asks for beside known fields: identifiers, and names nobody knows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from engines.tools.fields import FieldNames
from integrations.fields import GENE, identifies
from integrations.identifiers import (
    ADDRESS,
    BIRTH,
    EMAIL,
    HOSPITAL,
    ID_CARD,
    NAME,
    PHONE,
    kind_of,
)
from integrations.scripts import normalise

GENES = "基因"
_SAYS: Mapping[str, re.Pattern[str]] = {
    kind: re.compile(words, re.IGNORECASE)
    for kind, words in {
        PHONE: r"电话(?!随访|访视)|手机|联系方式|联系号码|怎么联系|\b(?:tele)?phone\b|\bmobile\b",
        ID_CARD: r"身份证|证件号|护照|\bid card\b|\bpassport\b",
        HOSPITAL: r"住院号|门诊号|病案号|病历号|就诊号|\bmrn\b|\bhospital (?:no|number|id)\b",
        EMAIL: r"邮箱|邮件地址|\be-?mail\b",
        ADDRESS: r"地址|住址|住在?哪|家在哪|哪里人|住什么地方|\baddress\b|\blives?\b",
        BIRTH: r"出生|生日|哪年生|几几年生|\bbirth|\bdob\b|\bborn\b",
        GENES: GENE.pattern,
        NAME: r"姓名|真名|全名|本名|姓什么|贵姓|叫啥|怎么称呼|\bwho is\b",
    }.items()
}
# 叫什么 and 名字 ask for a person only right behind one: a medicine has a name, too.
_PERSON = re.compile(
    r"(?:[A-Za-z]{1,4}-?\d+|\d+号?|他|她|患者|受试者|病人|这位)\s*(?:的|是)?\s*(?:名字|名叫|叫什么|是谁)|"
    r"\bname of\b|\bsubject'?s? name\b|[a-z]?\d+(?:'s)? name\b",
    re.IGNORECASE,
)
_WHOLE = re.compile(
    r"情况|状况|怎么样|怎样|如何|资料|信息|数据|概况|进展|近况|总体|整体|现状|详情|档案|病历|记录|基本|全部|所有|"
    r"表现|进度|状态|访视|超窗|逾期|问题|质疑|风险|安全|总结|病史|治疗|疗效|意见|建议|原因|方案"
)
_TAIL = re.compile(
    r"(?:请|谢谢|分别|各|都|目前|现在|最近|的)?(?:是|为|有|做了)?"
    r"(?:多少|几分|几级|什么样|是?什么|哪些|哪个|怎么样|如何|高不高|高吗|低吗|正常吗|查一下|的?结果|的?数值|的?水平|的?值)?"
    r"(?:呢|吗|啊|吧)?[\s?\uff1f。!\uff01]*$"
)
_SPLIT = re.compile(r"\s*(?:[、,\uff0c和与及跟]|以及|还有|\band\b)\s*")
# A clause with a verb asks something else than for a field of that name.
_VERB = re.compile(
    r"[了过在能要会可该还没不是为被把让做给吃用去来到应何谁吗呢啥哪怎]|什么|一下|帮[我忙]|告诉|麻烦"
)
_OF = re.compile(r"(?:[A-Za-z]{1,4}-?\d+|\d+号?|他|她|患者|受试者|病人)\s*的\s*([^的]{1,40})$")
_BEHIND = re.compile(r"^[\s请查询看一下帮我]*[A-Za-z]{1,4}-?\d{2,6}\s*([^的\d][^的]{0,39})$")
_LONGEST = 10


def withheld(names: FieldNames, question: str) -> list[str]:
    """What a question asks for that is never shown: fields of that kind, else the word itself."""
    text = normalise(question)
    found: list[str] = []
    for kind, regex in _SAYS.items():
        hit = regex.search(text) or (_PERSON.search(text) if kind == NAME else None)
        if hit:
            found += _of_kind(names, kind) or [kind if kind == NAME else hit[0]]
    return list(dict.fromkeys(found))


def _of_kind(names: FieldNames, kind: str) -> list[str]:
    metadata = names.metadata
    hidden = [
        name
        for name in metadata.fields
        if name != metadata.record_id_field
        and (name in metadata.identifier_fields or identifies(name, metadata.label(name)))
    ]
    if kind == GENES:
        return [n for n in metadata.fields if GENE.search(n) or GENE.search(metadata.label(n))]
    return [name for name in hidden if kind_of(f"{metadata.label(name)} {name}") == kind]


def unknown(names: FieldNames, question: str) -> list[str]:
    """Names behind `P001 的` that no field of the study has; [] for a question in other words."""
    text = normalise(question).strip()
    asked = _OF.search(text) or _BEHIND.match(text)
    return list(dict.fromkeys(_unknown_of(names, asked[1]))) if asked else []


def _unknown_of(names: FieldNames, phrase: str) -> Iterator[str]:
    for said in _SPLIT.split(phrase):
        item = _TAIL.sub("", said).strip()
        if is_unknown(names, item) and not (names.spoken(said) or withheld(names, said)):
            yield item


def is_unknown(names: FieldNames, item: str) -> bool:
    """Whether this can only be the name of a field, and is none of this study."""
    return is_name(item) and not names.spoken(item)


def is_name(item: str) -> bool:
    """Whether this can be the name of something: short, no clause, not the subject as a whole."""
    longest = _LONGEST if not item.isascii() else 3 * _LONGEST
    return 1 < len(item) <= longest and not (_WHOLE.search(item) or _VERB.search(item))
