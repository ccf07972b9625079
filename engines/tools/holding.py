"""Who has something: an instance of a repeating form, an answer to a field; of all whom the reader may see."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial

from django.utils.translation import gettext as _

from engines.tools import notes
from engines.tools.asking import is_unknown
from engines.tools.context import ToolContext
from engines.tools.fields import FieldNames
from engines.tools.reading import named_by
from engines.tools.results import Fact, Status, ToolResult
from engines.tools.stats import listed
from integrations.identifiers import normalise
from integrations.redcap import Row
from projects.metadata import StudyMetadata
from projects.records import RecordData, read_records

NAME = "subjects_with"
IDS = "名单"
_PEOPLE = r"受试者|患者|病人|病例|人|谁|哪几[个位例名]|哪[个位]|who|subjects?|patients?"
_LISTS = (
    r"名单|清单|列表|列出|列一?下|哪些|多少[个位例名]?|几[个位例名]|有没有|有无|which|list|how many"
)
_LACKS = r"从未|[尚还]?[没未]有?|无|without"
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
# Statuses and enrolment are counted by get_project_stats.
_OF_STATS = re.compile(r"已?入组|在组|筛选(?:中|失败)?|筛败|脱落|退出|失访|完成|随机")
# What a free text or a choice says where there is nothing to have.
_DENIED = re.compile(
    r"[否不]认?|无|没有|未见|未发现|阴性|正常|未突变|野生型?|未[检测做查]+|不详|未知|不适用"
    r"|none|no|nil|n/?a|negative|normal|unknown|not done|[-/]",
    re.IGNORECASE,
)
_YES_NO = ("yesno", "truefalse")
_TICKED = (*_YES_NO, "checkbox")
_MOST_LETTERS = 20


def subjects_with(context: ToolContext, names: FieldNames, question: str) -> ToolResult | None:
    """The subjects with (or without) what a question asks for; None for every question of another kind.

    A name that nothing in the study has comes back with the close ones. Raises RedcapError, NotConfiguredError.
    """
    thing, lacking = _asked(question)
    if not thing:
        return None
    metadata, found = context.metadata, names.resolve(thing)
    fields = [name for name in found.fields if not _hidden(context, name)]
    if _OF_STATS.fullmatch(thing) or (_OF_STATS.search(thing) and not fields):
        return None
    if found.fields and not fields:
        return ToolResult(NAME, Status.BAD_ARGUMENTS, notes.withheld(thing))
    has, wanted = _holds(metadata, fields) if fields else _is_called(metadata, thing)
    records = read_records(project=context.project, member=context.member, fields=wanted)
    holders = [record for record in records if any(map(has, record.rows))]
    if not (fields or holders):
        unknown = is_unknown(names, thing)
        return ToolResult(NAME, Status.BAD_ARGUMENTS, found.advice) if unknown else None
    chosen = [record for record in records if record not in holders] if lacking else holders
    return _result(context, thing, lacking, chosen, records)


def theme(question: str) -> str:
    """A question without the words that only ask for subjects: "" for 全部受试者名单."""
    return _AFTER.sub("", _BEFORE.sub("", normalise(question)))


def _asked(question: str) -> tuple[str, bool]:
    """What the subjects of a question have, and whether those without it are meant; "" for other questions."""
    thing = theme(question)
    frame = normalise(question).replace(thing, " ", 1) if thing else ""
    if not all(regex.search(frame) for regex in (_WHOM, _WHICH, _HOLDS)):
        return "", False
    told = thing if len(thing) <= _MOST_LETTERS else ""
    return told, bool(_NONE.search(_YES_OR_NO.sub("", frame)))


def _hidden(context: ToolContext, name: str) -> bool:
    metadata = context.metadata
    return name in metadata.identifier_fields or context.gate.drops(name, metadata.label(name))


_Search = tuple[Callable[[Row], bool], Sequence[str]]


def _holds(metadata: StudyMetadata, fields: Sequence[str]) -> _Search:
    """Whether a row has one of the fields (an instance of a repeating form, a yes, a tick, an answer).

    A missing data code is no answer, and "无", in a free text or as a choice, is none of what it asks for.
    """
    forms = {form for form, naming in named_by(metadata).items() if naming in fields}
    if forms:
        return lambda row: row.get("redcap_repeat_instrument") in forms, fields
    fields = [n for n in fields if metadata.fields[n]["field_type"] in _YES_NO] or fields
    columns = [column for column, (own, _code) in metadata.columns.items() if own in fields]
    ticks = {c for c in columns if metadata.fields[metadata.columns[c][0]]["field_type"] in _TICKED}

    free = {*filter(partial(_is_free, metadata), columns)}

    def told(name: str, value: str) -> bool:
        if name in ticks:
            return value == "1"
        meant = metadata.choices(name).get(value, value if name in free else "")
        return value not in metadata.missing_codes and not _is_none(meant)

    def has(row: Row) -> bool:
        values = ((column, str(row.get(column, "")).strip()) for column in columns)
        return any(value and told(column, value) for column, value in values)

    return has, fields


def _is_free(metadata: StudyMetadata, name: str) -> bool:
    """Whether a field takes any text: that something is written there does not say what."""
    row = metadata.fields.get(name, {})
    kind, validation = row.get("field_type"), row.get("text_validation_type_or_show_slider_number")
    return kind == "notes" or (kind == "text" and not validation)


def _is_none(text: str) -> bool:
    return _DENIED.fullmatch(text.rstrip(".。")) is not None


def _is_called(metadata: StudyMetadata, thing: str) -> _Search:
    """Whether a row has a choice of that name, or is an instance of a repeating form that is called so."""
    chosen = {
        (name, code)
        for name in metadata.fields
        for code, label in metadata.choices(name).items()
        if label == thing
    }
    naming = [*named_by(metadata).values()] if len(thing) > 1 else []

    def has(row: Row) -> bool:
        coded = (str(row.get(name, "")) == code for name, code in chosen)
        ticked = (str(row.get(f"{name}___{code}", "")) == "1" for name, code in chosen)
        called = (thing in str(row.get(name, "")) for name in naming)
        return any((*coded, *ticked, *called))

    return has, [*naming, *dict.fromkeys(name for name, _code in chosen)]


def _result(
    context: ToolContext,
    thing: str,
    lacking: bool,
    chosen: Sequence[RecordData],
    records: Sequence[RecordData],
) -> ToolResult:
    ids = [record.record_id for record in chosen]
    read_at = context.clock(max(record.read_at for record in records)) if records else ""
    head = (
        _("Without a record of %(what)s: %(number)d of %(total)d subjects")
        if lacking
        else _("With a record of %(what)s: %(number)d of %(total)d subjects")
    )
    tail = _(" (%(scope)s, read %(time)s)")
    scope = (context.member.site if context.member else "") or _("whole study")
    told = {
        "what": thing,
        "number": len(ids),
        "total": len(records),
        "scope": scope,
        "time": read_at,
    }
    complete = all(record.complete for record in records)
    return ToolResult(
        NAME,
        Status.OK if complete else Status.INCOMPLETE,
        {IDS: listed(ids)},
        facts=(Fact("", "number", (thing,), str(len(ids))),),
        lines=(head % told, tail % told),
        sources=({"kind": "redcap", "what": NAME, "read_at": read_at},),
        record_ids=tuple(ids),
    )
