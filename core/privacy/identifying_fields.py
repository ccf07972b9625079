"""Fields that identify by name or label, and those of birth and of genes (redcap_dify.md 5.2)."""

from __future__ import annotations

import re
from functools import lru_cache

from core.privacy.fold_text import normalise, simplified

GENE = re.compile(
    r"基因|突变|测序|外显子|单核苷酸|snp|genotyp|genom|mutation|(?:^|_)(?:genes?|mut)(?:_|$)",
    re.IGNORECASE,
)
# 发生于, 王医生于, 张先生于, 研究生于: no birth.
NOT_BORN = r"(?<![发产医学先新寄再派衍增滋萌花考卫野习]生)(?<!(?:研究|进修|规培|博士|硕士|本科)生)"
BIRTHDAY = rf"生{NOT_BORN}日"
"""A birthday in Han characters, not a date of onset, of which the first character ends another word."""
_BIRTH_IN_HAN = re.compile(
    rf"出生(?=日|年|月|时间|的?日期|于|[^\u4e00-\u9fff]|$)|{BIRTHDAY}|生年月"
)
# One word of a name, letters alone: dob, ptdob, brthdtc, birthdate, csrq.
_BIRTH_WORD = re.compile(
    r"[a-z]{0,8}dob(?:[cdmy]|dt|dtc|dat|date|yr|year|str|te?xt|raw)?|[a-z]{0,8}dateofbirth[a-z]{0,4}|"
    r"[a-z]{0,4}(?:birth|brth|bth)(?:date?|dtc?|day|ye?a?r|mon(?:th)?|ymd)[a-z]{0,3}|yob|bdate|bday|"
    r"[a-z]{0,3}(?:csrq|csny|csnyr)|chusheng(?:riqi|nianyue)?|shengri"
)
_BORN = frozenset({"birth", "brth", "born"})
_DAY_WORDS = frozenset(
    {
        "date",
        "dt",
        "dat",
        "dtc",
        "day",
        "month",
        "mon",
        "year",
        "yr",
        "time",
        "when",
        "ymd",
        "dmy",
        "mdy",
    }
)
# What standards call a date of birth: SNOMED CT, LOINC, NCI Thesaurus, UMLS.
_BIRTH_CODE = re.compile(r"(?<!\d)184099003(?!\d)|\b21112-8\b|c68615\b|c0421451\b", re.IGNORECASE)
_MENTIONS_BIRTH = re.compile(
    rf"出生|{BIRTHDAY}|birth|brth|(?<![a-z])born|dob(?![a-z])", re.IGNORECASE
)

IDENTIFYING_FIELD = re.compile(
    r"姓名|患者名|受试者名|名字|身份证|证件号|护照|军官证|电话|手机|联系方式|座机|传真|住院号|门诊号|病案号|病历号|就诊号|就诊卡|"
    r"诊疗卡|登记号|病理号|影像号|条码|地址|住址|户籍|户口|工作单位|邮箱|邮编|邮政编码|微信|QQ|银行卡|账号|卡号|医保|社保|社会保障号|"
    r"联系人|监护人|家属|照片|人脸|指纹|车牌|设备序列号|拼音(?:首字母|缩写)|(?:姓名|患者|受试者|名)缩写|^缩写$|"
    r"(?:^|_)(?:patient|subject|subj|full|first|last|family|given|sur|pt|pat)_?name(?:$|_)|^(?:name\d?|bank|cell|initial)$|"
    r"^(?:cn|zh|en|py)_?name$|^name_?(?:cn|zh|en|py)$|"
    r"(?:^|_)(?:(?:br|hz|ssz)?xm|xingming|sfzh?|shenfenzheng|zyh|mzh|bah|sjh|shouji|lxdh|dianhua|dizhi|zhuzhi|youxiang)(?:$|_)|"
    r"(?:^|_)(?:id_?card|id_?(?:no|number)|identity|national_?id|passport|ssn|mrn|empi|phone|mobile|tel|telephone|fax|"
    r"(?:cell|mobile|tele|home|work)_?phone|(?:phone|mobile|tele?|telephone)_?(?:no|num|number)|e?mail|address|addr|zip|zip_?code|postcode|wechat|weixin|qq|bank_?(?:no|card|account|acct)|"
    r"insurance|(?:pt|patient|subject)_?initial|initials|contact|guardian|device_?id|imei|"
    r"(?:hosp|hospital|inpatient|outpatient|admission|accession|emr|ehr)_?(?:no|num|number|id)|medical_?record(?:_?no)?|photo)(?:$|_|\d)|"
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

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})")


def words(name: str) -> str:
    """A field's name as its words: phoneNumber as phone_Number, 住院號 as 住院号."""
    return _CAMEL.sub("_", simplified(normalise(name)))


@lru_cache(maxsize=16384)  # a whole dictionary is asked about at each message
def is_birth(name: str, label: str = "") -> bool:
    """Whether a field's name or label says that it holds a date of birth, or its year, month or day.

    A weight, place or mode of birth is none. Source: redcap_dify.md 5.2.
    """
    texts = (words(name), simplified(normalise(label)))
    return any(
        _BIRTH_IN_HAN.search(text) or _BIRTH_CODE.search(text) or _says_birth(text)
        for text in texts
    )


def mentions_birth(name: str, label: str = "") -> bool:
    """Whether a field's name or label speaks of a birth at all, be it of its weight."""
    return _tells(_MENTIONS_BIRTH, name, label)


def _says_birth(text: str) -> bool:
    found = re.findall(r"[a-z]+", text.lower())
    if any(_BIRTH_WORD.fullmatch(word) for word in found):
        return True
    return bool(_BORN & {*found}) and (bool(_DAY_WORDS & {*found}) or len(found) == 1)


def is_gene(name: str, label: str = "") -> bool:
    """Whether a field's name or label speaks of genes."""
    return _tells(GENE, name, label)


def identifies(name: str, label: str = "") -> bool:
    """Whether a field's name or label says that it holds an identifier, flagged or not."""
    told = _tells(IDENTIFYING_FIELD, name, label)
    return told and not NOT_IDENTIFYING.search(f"{words(name)} {simplified(normalise(label))}")


def _tells(regex: re.Pattern[str], name: str, label: str) -> bool:
    spellings = (name, words(name), simplified(normalise(label)))
    return any(regex.search(text) for text in spellings)
