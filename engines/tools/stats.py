"""The tool get_project_stats: counted by code, only over subjects the reader may see."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.utils.translation import gettext as _

from engines.models import PendingAction
from engines.tools import periods
from engines.tools.context import ToolContext
from engines.tools.results import Fact, Status, ToolResult
from projects.metadata import StudyMetadata
from projects.models import Member, Project
from projects.records import RecordData
from study import door

NAME = "get_project_stats"
LISTED = 20
_OF_ENROLMENT = re.compile(r"入组|招募|纳入|新增|进度|enrol|recruit", re.IGNORECASE)
ENROLLED = ("入组", "入组人数", "已入组", "累计入组", "入组例数", "enrolled")
TARGET = ("目标", "目标例数", "目标入组", "计划入组", "target")
TOTAL = (
    "总数",
    "总例数",
    "受试者总数",
    "患者",
    "受试者",
    "记录",
    "总共",
    "一共",
    "筛选",
    "登记",
    "total",
)
COMPLETION = ("完成率", "完成", "进度", "占", "入组比例", "达到", "completion")
REMAINING = ("还差", "剩余", "差", "缺口", "尚需", "remaining")
ENROLLED_LIST, WHOLE_LIST, STATUS_LISTS = "入组名单", "全部名单", "各状态名单"
ROSTER = re.compile(
    r"名单|名册|花名册|清单|列表|编号|列出|(?:有|是)(?:哪些|谁)|哪些(?:人|受试者|患者)"
    r"|list of|\blist\b|which subjects|who (?:is|are)",
    re.IGNORECASE,
)
_ALSO = {"筛选失败": ("筛败", "screen failure"), "筛选中": ("在筛", "in screening")}
OPEN = ("未关闭", "待处理", "质疑", "发现", "问题", "open findings")


@dataclass(frozen=True)
class Counts:
    """What was counted; `scope` is a site or "" for the whole study."""

    scope: str
    total: list[str]
    enrolled: dict[str, date]
    by_status: dict[str, list[str]]
    forms: dict[str, int]
    by_site: dict[str, tuple[int, int]]
    complete: bool

    def enrolled_between(self, first: date, last: date) -> int:
        """Subjects enrolled on these days, both included."""
        return sum(1 for day in self.enrolled.values() if first <= day <= last)

    def by_month(self) -> dict[str, int]:
        """Enrolments by calendar month, ascending."""
        return dict(
            sorted(Counter(day.strftime("%Y-%m") for day in self.enrolled.values()).items())
        )


def get_project_stats(context: ToolContext, arguments: Mapping[str, Any]) -> ToolResult:
    """Totals, enrolled, target, completion, per status and form, with capped lists of ids."""
    counts, read_at = count(context.project, context.member, context.metadata)
    return describe(context, counts, read_at)


def count(project: Project, member: Member | None, metadata: StudyMetadata) -> tuple[Counts, Any]:
    """What the stored readings tell. Raises RedcapError, NotConfiguredError."""
    status = status_field(metadata)
    forms = _repeating_forms(metadata)
    records = door.records_for(project, member, metadata, None)
    field = project.enrolment_field
    enrolled = {r.record_id: day for r in records if (day := r.day(field, project.timezone))}
    by_status: dict[str, list[str]] = {}
    for record in records:
        by_status.setdefault(_status(metadata, record, status), []).append(record.record_id)
    counts = Counts(
        scope=member.site if member else "",
        total=[record.record_id for record in records],
        enrolled=enrolled,
        by_status={label: ids for label, ids in by_status.items() if label},
        forms={metadata.form_label(f): _instances(records, f, n) for f, n in forms.items()},
        by_site=_by_site(records, enrolled),
        complete=all(record.complete for record in records),
    )
    return counts, max((record.read_at for record in records), default=None)


def status_field(metadata: StudyMetadata) -> str:
    """The coded field that says where a subject stands; "" when there is none."""
    coded = [n for n in metadata.fields if metadata.choices(n) and not n.endswith("_complete")]
    named = [n for n in coded if "状态" in metadata.label(n) or "status" in n]
    return named[0] if named else ""


def _repeating_forms(metadata: StudyMetadata) -> dict[str, str]:
    """Repeating form -> its first field."""
    first: dict[str, str] = {}
    for row in metadata.repeating:
        form = str(row.get("form_name") or "")
        fields = [n for n, r in metadata.fields.items() if r["form_name"] == form]
        if fields:
            first[form] = fields[0]
    return first


def _status(metadata: StudyMetadata, record: RecordData, field: str) -> str:
    codes = (str(row.get(field, "")).strip() for row in record.rows)
    code = next((code for code in codes if code), "")
    return metadata.choices(field).get(code, code) if field else ""


def _instances(records: Sequence[RecordData], form: str, field: str) -> int:
    return sum(
        1
        for record in records
        for row in record.rows
        if row.get("redcap_repeat_instrument") == form and str(row.get(field, "")).strip()
    )


def _by_site(
    records: Sequence[RecordData], enrolled: Mapping[str, date]
) -> dict[str, tuple[int, int]]:
    sites: dict[str, tuple[int, int]] = {}
    for record in records:
        total, inside = sites.get(record.site, (0, 0))
        sites[record.site] = total + 1, inside + (record.record_id in enrolled)
    return {site: pair for site, pair in sites.items() if site}


def describe(context: ToolContext, counts: Counts, read_at: Any) -> ToolResult:
    """Counts as a result."""
    facts, data = _of_periods(context, counts)
    whole, told = _main(context, counts)
    facts += whole
    data |= told
    by_status = _by_status(context, counts)
    for label, ids in by_status.items():
        called = _("Status %(label)s") % {"label": label}
        facts.append(
            Fact("", f"status:{label}", (called, f"状态{label}", *_stems(label)), str(len(ids)))
        )
    data["各状态人数"] = {f"状态{label}": len(ids) for label, ids in counts.by_status.items()}
    for form, number in counts.forms.items():
        names = (form, *(("AE", "不良事件") if "不良" in form else ()))
        facts.append(Fact("", f"form:{form}", names, str(number)))
    if ROSTER.search(context.question):
        data[STATUS_LISTS] = {label: listed(ids) for label, ids in by_status.items()}
    data["表单记录数"] = counts.forms
    if not counts.scope and len(counts.by_site) > 1:
        data["各中心"] = {
            site: {"总数": total, "入组": inside}
            for site, (total, inside) in counts.by_site.items()
        }
        facts += _of_sites(context, counts)
    data["读取时间"] = context.clock(read_at) if read_at else ""
    return ToolResult(
        NAME,
        Status.OK if counts.complete else Status.INCOMPLETE,
        data,
        facts=tuple(facts),
        lines=tuple(f"{fact.names[0]}:{fact.value}" for fact in facts),
        unsaid=(_("Only %(site)s") % {"site": counts.scope},) if counts.scope else (),
        sources=({"kind": "redcap", "what": "stats", "read_at": data["读取时间"]},),
        record_ids=tuple(counts.total),
    )


def _of_sites(context: ToolContext, counts: Counts) -> Iterator[Fact]:
    for site, (total, inside) in counts.by_site.items():
        names = tuple(dict.fromkeys((site, context.metadata.sites.get(site, site))))
        told = {"site": site}
        yield Fact("", f"site:{site}", (_("%(site)s enrolled") % told, *names), str(inside))
        yield Fact("", f"site:{site}:all", (_("%(site)s in all") % told, *names), str(total))


def _by_status(context: ToolContext, counts: Counts) -> dict[str, list[str]]:
    """Who has which status; one that the question names is told although nobody has it."""
    labels = context.metadata.choices(status_field(context.metadata)).values()
    said = context.question.replace("完成率", "")
    named = {label for label in labels if any(stem in said for stem in _stems(label))}
    return {**{label: [] for label in labels if label in named}, **counts.by_status}


def _of_periods(context: ToolContext, counts: Counts) -> tuple[list[Fact], dict[str, Any]]:
    """Enrolments in the stretches of time that the question names."""
    if not _OF_ENROLMENT.search(context.question):
        return [], {}
    facts, data = [], {}
    for period in periods.named(context.question, context.project, context.today):
        called = _("Newly enrolled %(period)s (%(days)s)") % {
            "period": period.said,
            "days": " ~ ".join(dict.fromkeys((str(period.first), str(period.last)))),
        }
        number = counts.enrolled_between(period.first, period.last)
        facts.append(Fact("", f"period:{period.first}", (called, period.said), str(number)))
        data[called] = number
    return facts, data


def _main(context: ToolContext, counts: Counts) -> tuple[list[Fact], dict[str, Any]]:
    enrolled, target = len(counts.enrolled), context.project.target_enrolment
    findings = _open_findings(context)
    facts = [
        Fact("", "enrolled", (_("Enrolled"), *ENROLLED), str(enrolled)),
        Fact("", "total", (_("Subjects in all"), *TOTAL), str(len(counts.total))),
    ]
    data: dict[str, Any] = {
        "范围": counts.scope or "全项目",
        "入组人数": enrolled,
        "总例数": len(counts.total),
        ENROLLED_LIST: listed(list(counts.enrolled)),
        WHOLE_LIST: listed(counts.total),
        "未关闭的质控发现": findings,
    }
    if not counts.scope and target:
        rate = f"{enrolled * 100 / target:.1f}%"
        facts += [
            Fact("", "target", (_("Target"), *TARGET), str(target)),
            Fact("", "completion", (_("Completion"), *COMPLETION), rate),
            Fact(
                "", "remaining", (_("Still to enrol"), *REMAINING), str(max(target - enrolled, 0))
            ),
        ]
        data |= {"目标入组": target, "完成率": rate, "还差例数": max(target - enrolled, 0)}
    facts.append(Fact("", "open_findings", (_("Open findings"), *OPEN), str(findings)))
    return facts, data


def _stems(label: str) -> tuple[str, ...]:
    """筛选失败 is also called 筛败, 脱落/退出 either word."""
    parts = tuple(p for p in (label, *label.split("/")) if len(p) > 1 and p not in ENROLLED)
    return (*dict.fromkeys(parts), *_ALSO.get(label, ()))


def _open_findings(context: ToolContext) -> int:
    rows = PendingAction.objects.filter(project=context.project).unclosed()
    if context.member is not None:
        rows = rows.for_member(context.member)
    return rows.count()


def listed(ids: Sequence[str]) -> str:
    """Ids, capped with "等 N 例" (decisions.md, countRedcapRecords)."""
    shown = "、".join(ids[:LISTED])
    return f"{shown} 等 {len(ids)} 例" if len(ids) > LISTED else shown


def shortened(told: str, total: str, room: int) -> str:
    """A `listed` text with as many of its ids as have room; it still says how many there are."""
    if len(told) <= room:
        return told
    more = f" 等 {total} 例"
    ids = told.partition(" 等 ")[0].split("、")
    while len(ids) > 1 and len("、".join(ids)) + len(more) > room:
        ids.pop()
    return "、".join(ids) + more
