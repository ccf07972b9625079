"""Who has something: an instance of a repeating form, an answer to a field; of all whom the reader may see."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial

from django.utils.translation import gettext as _

from engines.tools import notes
from engines.tools.asking import is_name, withheld
from engines.tools.context import ToolContext
from engines.tools.fields import FieldNames
from engines.tools.reading import named_by
from engines.tools.records import not_found
from engines.tools.results import Fact, Status, ToolResult
from engines.tools.stats import ROSTER, listed
from integrations.redcap import Row
from integrations.scripts import normalise
from projects.metadata import StudyMetadata
from projects.records import RecordData
from study import door

NAME = "subjects_with"
IDS = "名单"
_PEOPLE = r"受试者|患者|病人|病例|人|谁|哪几[个位例名]|哪[个位]|who|subjects?|patients?"
_LISTS = (
    r"名单|清单|列表|列出|列一?下|哪些|多少[个位例名]?|几[个位例名]|有没有|有无|which|list|how many"
)
_LACKS = r"从未|[尚还]?[没未]有?做?|无|without"
_HAS = (
    r"发生|出现|上?报告?(?=[过了])|记录(?=[过了有])|填写?|录入?|签署?|[得患用做](?=[过了有])|存在|有|过(?!敏)|了"
    r"|have|has|had|with"
)
_FILLER = (
    r"[\s,?。!]|请|麻烦|帮我|帮忙|[给发]我|我要|一下|[出来]?一?份|导出|整理|汇总|查询?|看看?|统计|告诉我|目前|现在"
    r"|(?:我们?|咱们?|本|这个?|该)(?:中心|项目|研究|试验|课题)里?|[一总]共|[总合]计|全部|所有|全体|都|曾经?|已经?|是|的|和|吗|呢|啊|谢谢"
    r"|show|me|all|any|an? |the "
)
_BEFORE = re.compile(rf"^(?:{_PEOPLE}|{_LISTS}|{_LACKS}|{_HAS}|{_FILLER})+", re.IGNORECASE)
_AFTER = re.compile(rf"(?:{_PEOPLE}|{_LISTS}|{_FILLER}|记录|情况|过|了|有)+$", re.IGNORECASE)
_WHOM, _WHICH = re.compile(_PEOPLE, re.IGNORECASE), re.compile(f"谁|哪|who|{_LISTS}", re.IGNORECASE)
_HOLDS = re.compile(f"名单|名册|清单|列表|编号|{_LACKS}|{_HAS}", re.IGNORECASE)
_NONE = re.compile(_LACKS, re.IGNORECASE)
_YES_OR_NO = re.compile(r"有没有|有无")
_OF_ALL = re.compile(r"[名清]单|名册|列[表出]|全部|所有|\b(?:list|all)\b", re.IGNORECASE)
# Statuses and enrolment are counted by get_project_stats.
_OF_STATS = re.compile(r"已?入组|在组|筛选(?:中|失败)?|在筛|筛败|脱落|退出|失访|完成|随机")
# What a free text or a choice says where there is nothing to have.
_DENIED = re.compile(
    r"[否不]认?|无|没有|未见|未发现|阴性|正常|未突变|野生型?|未[检测做查]+|不详|未知|不适用"
    r"|none|no|nil|n/?a|negative|normal|unknown|not done|[-/]",
    re.IGNORECASE,
)
# More than a name: a comparison, or two conditions.
_SEVERAL = re.compile(r"[\d<>\u2264\u2265]|[且或和及与]|同时|大于|小于|超过|[高低]于|以[上下]")
# Between a field and its choice.
_IS = re.compile(r"[\s:]*(?:是|为|等于|=|的)*[\s:]*$")
_YES_NO = ("yesno", "truefalse")
_TICKED = (*_YES_NO, "checkbox")
_MOST_LETTERS = 20


def subjects_with(context: ToolContext, names: FieldNames, question: str) -> ToolResult | None:
    """The subjects with (or without) what a question asks for; None for every question of another kind.

    A name that nothing in the study has comes back with the close ones. Raises RedcapError, NotConfiguredError.
    """
    site, rest = _of_site(context, question)
    asked = _asked(rest)
    if not asked.thing:
        return None
    metadata, found = context.metadata, names.resolve(asked.thing)
    fields = [name for name in found.fields if not _hidden(context, name)]
    if _OF_STATS.fullmatch(asked.thing) or (_OF_STATS.search(asked.thing) and not fields):
        return None
    meant = frozenset[_Choice]() if fields else _choices(names, asked.thing)
    chosen = {(name, code) for name, code in meant if not _hidden(context, name)}
    hidden = [] if fields or chosen else _withheld(names, asked.thing, found.fields, meant)
    if hidden and asked.whom:
        return ToolResult(NAME, Status.BAD_ARGUMENTS, notes.withheld("、".join(hidden)))
    counted = fields and metadata.fields[fields[0]]["field_type"] in _YES_NO
    if not (chosen or (asked.holds and (asked.whom or counted))):
        return None
    has = _holds(context, fields) if fields else _is_called(metadata, asked.thing, chosen)
    if context.member and context.member.site and site not in ("", context.member.site):
        return ToolResult(NAME, Status.BAD_ARGUMENTS, not_found())
    read = door.records_for(context.project, context.member, metadata, None)
    records = [record for record in read if site in ("", record.site)]
    holders = [record for record in records if any(map(has, record.rows))]
    if not (fields or chosen or holders):
        if not is_name(asked.thing) or (_SEVERAL.search(asked.thing) and names.spoken(asked.thing)):
            return None
        text = f"{found.advice.rstrip('。')}{_free_texts(metadata)}"
        return ToolResult(NAME, Status.BAD_ARGUMENTS, text)
    told = [record for record in records if record not in holders] if asked.lacking else holders
    scope = site or (context.member.site if context.member else "") or _("whole study")
    more = "" if fields or holders else _free_texts(metadata)
    return _result(context, asked, _Found(told, records, scope, more))


def theme(question: str) -> str:
    """A question without the words that only ask for subjects: "" for 全部受试者名单."""
    return _AFTER.sub("", _BEFORE.sub("", normalise(question)))


@dataclass(frozen=True)
class _Asked:
    """What a question asks for, whether it asks it of subjects, of having it, of those without it."""

    thing: str = ""
    whom: bool = False
    holds: bool = False
    lacking: bool = False


def asks_list(question: str) -> bool:
    """Whether a question asks for subjects by a status, or for all of them."""
    thing = theme(question)
    if not thing:
        return bool(_OF_ALL.search(question))
    return bool(ROSTER.search(question) and _OF_STATS.search(thing))


def asks_whom(question: str) -> bool:
    """Whether a question asks for subjects."""
    text = normalise(question)
    return bool(_WHOM.search(text) and _WHICH.search(text))


def _asked(question: str) -> _Asked:
    """`thing` is "" for a question that does not ask which or how many."""
    thing = theme(question)
    frame = normalise(question).replace(thing, " ", 1) if thing else ""
    if not _WHICH.search(frame) or len(thing) > _MOST_LETTERS:
        return _Asked()
    lacking = bool(_NONE.search(_YES_OR_NO.sub("", frame)))
    return _Asked(thing, bool(_WHOM.search(frame)), bool(_HOLDS.search(frame)), lacking)


def _of_site(context: ToolContext, question: str) -> tuple[str, str]:
    """The site that a question names, and the question without it."""
    text = normalise(question)
    for site, label in context.metadata.sites.items():
        for name in (site, label):
            if re.search(
                rf"(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_])", text, re.IGNORECASE
            ):
                return site, re.sub(re.escape(name), " ", text, flags=re.IGNORECASE)
    return "", question


def _withheld(
    names: FieldNames, thing: str, found: Sequence[str], meant: Collection[_Choice]
) -> list[str]:
    """What of it is never shown, as people call it."""
    labels, chosen = names.metadata.labels, dict.fromkeys(name for name, _code in meant)
    return [labels.get(name, name) for name in found or chosen or withheld(names, thing)]


def _hidden(context: ToolContext, name: str) -> bool:
    metadata = context.metadata
    return name in metadata.identifier_fields or context.gate.drops(name, metadata.label(name))


_Choice = tuple[str, str]
_Search = Callable[[Row], bool]


def _holds(context: ToolContext, fields: Sequence[str]) -> _Search:
    """Whether a row has one of the fields (an instance of a repeating form, a yes, a tick, an answer).

    A missing data code is no answer, and "无", in a free text or as a choice, is none of what it asks for,
    nor is the date of a visit to come.
    """
    metadata = context.metadata
    forms = {form for form, naming in named_by(metadata).items() if naming in fields}
    if forms:
        return lambda row: row.get("redcap_repeat_instrument") in forms
    fields = [n for n in fields if metadata.fields[n]["field_type"] in _YES_NO] or fields
    columns = [column for column, (own, _code) in metadata.columns.items() if own in fields]
    ticks = {c for c in columns if metadata.fields[metadata.columns[c][0]]["field_type"] in _TICKED}

    free = {*filter(partial(_is_free, metadata), columns)}

    def told(name: str, value: str) -> bool:
        if name in ticks:
            return value == "1"
        meant = metadata.choices(name).get(value, value if name in free else "")
        is_answer = value not in metadata.missing_codes and not _is_none(meant)
        return is_answer and not context.is_to_come(name, value)

    def has(row: Row) -> bool:
        values = ((column, str(row.get(column, "")).strip()) for column in columns)
        return any(value and told(column, value) for column, value in values)

    return has


def _is_free(metadata: StudyMetadata, name: str) -> bool:
    """Whether a field takes any text: that something is written there does not say what."""
    row = metadata.fields.get(name, {})
    kind, validation = row.get("field_type"), row.get("text_validation_type_or_show_slider_number")
    return kind == "notes" or (kind == "text" and not validation)


def _is_none(text: str) -> bool:
    return _DENIED.fullmatch(text.rstrip(".。")) is not None


def _choices(names: FieldNames, thing: str) -> frozenset[_Choice]:
    """The choices that something is called by: 鳞癌, 女性, 妊娠试验阳性, ECOG是2分."""
    metadata, found = names.metadata, set[_Choice]()
    for name in metadata.fields:
        for code, label in metadata.choices(name).items():
            said = thing.removesuffix("性") if len(label) == 1 else thing
            if not said.endswith(label):
                continue
            field = _IS.sub("", said.removesuffix(label))
            if not field or name in names.resolve(field).fields:
                found.add((name, code))
    return frozenset(found)


def _free_texts(metadata: StudyMetadata) -> str:
    """What was not searched, because a denial there reads like the thing itself."""
    free = [metadata.label(n) for n, row in metadata.fields.items() if row["field_type"] == "notes"]
    return (
        _("; free texts are not searched: %(fields)s") % {"fields": "、".join(free)} if free else ""
    )


def _is_called(metadata: StudyMetadata, thing: str, chosen: Collection[_Choice]) -> _Search:
    """Whether a row has one of the choices, or is an instance of a repeating form that is called so."""
    naming = [*named_by(metadata).values()] if len(thing) > 1 else []

    def has(row: Row) -> bool:
        coded = (str(row.get(name, "")) == code for name, code in chosen)
        ticked = (str(row.get(f"{name}___{code}", "")) == "1" for name, code in chosen)
        called = (thing in str(row.get(name, "")) for name in naming)
        return any((*coded, *ticked, *called))

    return has


@dataclass(frozen=True)
class _Found:
    """The subjects that are told, those who were read, where, and what more is to be said of it."""

    told: Sequence[RecordData]
    records: Sequence[RecordData]
    scope: str
    more: str


def _result(context: ToolContext, asked: _Asked, found: _Found) -> ToolResult:
    ids, records = [record.record_id for record in found.told], found.records
    read_at = context.clock(max(record.read_at for record in records)) if records else ""
    head = (
        _("Without a record of %(what)s: %(number)d of %(total)d subjects")
        if asked.lacking
        else _("With a record of %(what)s: %(number)d of %(total)d subjects")
    )
    tail = _(" (%(scope)s, read %(time)s)")
    told = {
        "what": asked.thing,
        "number": len(ids),
        "total": len(records),
        "scope": found.scope,
        "time": read_at,
    }
    complete = all(record.complete for record in records)
    return ToolResult(
        NAME,
        Status.OK if complete else Status.INCOMPLETE,
        {IDS: listed(ids)},
        facts=(Fact("", "number", (asked.thing,), str(len(ids))),),
        lines=(head % told, tail % told + found.more),
        sources=({"kind": "redcap", "what": NAME, "read_at": read_at},),
        record_ids=tuple(ids),
    )
