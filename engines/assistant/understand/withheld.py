"""Which identifiers a question asks for, in whatever words: none is ever shown (design.md 9.1)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from privacy.fold_text import normalise
from privacy.identifiers import (
    ADDRESS,
    BIRTH,
    EMAIL,
    HOSPITAL,
    ID_CARD,
    NAME,
    PHONE,
    kind_of,
)
from privacy.identifying_fields import GENE, identifies
from study.designs import genes
from study.metadata import StudyMetadata

GENES = "基因"
_LATIN = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_UNTOLD = ("未检测", "未做", "未知", "不详", "待定")
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
    r"(?:[A-Za-z]{1,4}-?\d+|\d+号?|他|她|这位)\s*(?:的|是)?\s*(?:名字|名叫|叫什么)|"
    r"(?:[A-Za-z]{1,4}-?\d+|\d+号?|他|她|这位)\s*是谁|"
    r"(?:患者|受试者|病人)\s*的?\s*(?:名字|名叫|叫什么)|"
    r"\bname of\b|\bsubject'?s? name\b|[a-z]?\d+(?:'s)? name\b",
    re.IGNORECASE,
)


def withheld(metadata: StudyMetadata, question: str) -> list[str]:
    """What a question asks for that is never shown: labels of the fields of that kind, else the word itself."""
    text = normalise(question)
    found: list[str] = []
    for kind, regex in _SAYS.items():
        hit = regex.search(text) or (_PERSON.search(text) if kind == NAME else None)
        if hit:
            found += _of_kind(metadata, kind) or [kind if kind == NAME else hit[0]]
    folded = text.casefold()
    found += [label for word, label in _words_of_genes(metadata).items() if word in folded]
    return list(dict.fromkeys(found))


def _words_of_genes(metadata: StudyMetadata) -> dict[str, str]:
    """EGFR, 野生型: the short names of genes and what only they can be, with the label of the field."""
    of_genes = {name: metadata.label(name) for name in genes(metadata)}
    others = {
        label
        for n in metadata.fields.keys() - of_genes.keys()
        for label in metadata.choices(n).values()
    }
    words: dict[str, str] = {}
    for name, label in of_genes.items():
        own = {*metadata.choices(name).values()} - others
        short = {word for word in _LATIN.findall(label) if len(word) > 2}
        words |= {word.casefold(): label for word in own | short if word not in _UNTOLD}
    return words


def _of_kind(metadata: StudyMetadata, kind: str) -> list[str]:
    hidden = [
        name
        for name in metadata.fields
        if name != metadata.record_id_field
        and (name in metadata.identifier_fields or identifies(name, metadata.label(name)))
    ]
    if kind == GENES:
        own = genes(metadata)
        return [metadata.label(name) for name in metadata.fields if name in own]
    return [
        metadata.label(name) for name in hidden if kind_of(f"{metadata.label(name)} {name}") == kind
    ]
