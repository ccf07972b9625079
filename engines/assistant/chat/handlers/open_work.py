"""What is open: reviews that wait for the reader, what quality control found of a subject."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from django.db.models import OuterRef, Subquery
from django.utils.translation import gettext as _

from engines import render
from engines.assistant.chat.reply import Outcome
from engines.assistant.chat.subjects import subjects
from engines.assistant.chat.turn import Turn
from engines.assistant.intents import Part
from engines.assistant.tools.texts import not_found
from engines.models import PendingAction, Review, TaskRun
from memory.visibility import visible_ids

_ASKABLE = ("qc_task", "query_record", "count_records", "qa_query", "query_history", "project_info")
_REVIEWS = re.compile(
    r"待(?:我|办)?的?(?:人工)?(?:复核|审核|审批)|(?:复核|审核|审批)[^,。]{0,6}(?:等|待)|(?:等|需要?|要)(?:着|待)?(?:我|谁|人)?"
    r"(?:来|去)?(?:复核|审核|审批)的|我的(?:复核|审核|待办)"
    r"|reviews? (?:are |is )?(?:waiting|pending)|(?:waiting|pending) reviews?",
    re.IGNORECASE,
)
_QC = re.compile(r"质控|\bqc\b|quality control", re.IGNORECASE)
_FOUND = re.compile(
    r"结果(?:是|怎么?样|如何|呢|出来|有|[?。]|$)|发现了?(?:什么|哪些|几)|有(?:什么|哪些|几个|没有|无)(?:质控)?(?:问题|发现|质疑)"
    r"|\bresults?\b|\bfindings?\b",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"(?:通过|完成?|做过?|跑过?|结束|过)了?[吗没](?!有)|好了[吗没]|[做跑]过[^,。]{0,6}[吗没]",
    re.IGNORECASE,
)
# An order that also says what it is for.
_ORDER = re.compile(
    r"^[请麻烦帮我给对]*(?:质控|核查)(?!有没有|有无)|(?:跑|做|启动|执行|开始|发起|安排|重新?|再)[^,。]{0,6}(?:质控|核查)|质控[一下遍次]{2}|\brun\b|\bstart\b",
    re.IGNORECASE,
)


# What is asked of a result, in the words of an order.
_RESULT = re.compile(
    r"吗|没(?:有)?[?。\s]*$|有没有|有无|什么|啥|怎么|哪|如何|咋|谁|几|多少|进度|进展|情况|结果|状态|卡|how|what|status|\?",
    re.IGNORECASE,
)


def asks_result(text: str) -> bool:
    """Whether a sentence about quality control asks what came of it, and orders none."""
    return bool(_RESULT.search(text)) and not _ORDER.search(text)


def is_of_control(text: str) -> bool:
    """Whether a sentence names quality control."""
    return bool(_QC.search(text))


def asks_reviews(part: Part) -> bool:
    """Whether a task asks which reviews wait."""
    return part.intent in _ASKABLE and not part.record_ids and bool(_REVIEWS.search(part.text))


def asks_findings(part: Part) -> bool:
    """Whether a task asks what quality control found, or whether it is done."""
    text = part.text.strip()
    asks = _DONE.search(text) or (
        part.record_ids and _FOUND.search(text) and not _ORDER.search(text)
    )
    return part.intent in _ASKABLE and bool(_QC.search(text) and asks)


def reviews(turn: Turn, part: Part, limit: int) -> Outcome:
    """The reviews that the reader can decide."""
    rows = Review.objects.for_member(turn.member).filter(status=Review.Status.OPEN)
    waiting = [row for row in rows.order_by("created_at") if row.asks(turn.member)]
    head = _("Reviews waiting: %(number)d") % {"number": len(waiting)}
    return Outcome(
        render.fit_all([head, *(f"#{r.pk} {r.record_id or ''}" for r in waiting)], limit)
    )


def findings(turn: Turn, part: Part, limit: int) -> Outcome:
    """The last run of each subject and what is open of it; of all, how many run, wait and are open."""
    ids = subjects(turn, part)
    if not ids:
        return Outcome("\n".join(_of_all(turn)))
    known = set(visible_ids(turn.project, turn.member))
    lines = [*_of_subjects(turn, [rid for rid in ids if rid in known])]
    absent = [] if known.issuperset(ids) else [not_found()]
    return Outcome(render.fit_all([*lines, *absent], limit))


def _of_all(turn: Turn) -> Iterator[str]:
    mine = visible_ids(turn.project, turn.member)
    runs = TaskRun.objects.for_member(turn.member).filter(record_id__in=mine)
    for status in (TaskRun.Status.RUNNING, TaskRun.Status.SUSPENDED):
        yield f"{status.label}:{runs.filter(status=status).count()}"
    yield f"{_('Open findings')}:{PendingAction.objects.for_member(turn.member).unclosed().count()}"


def _of_subjects(turn: Turn, ids: Sequence[str]) -> Iterator[str]:
    runs = TaskRun.objects.for_member(turn.member).filter(record_id__in=ids)
    newest = runs.filter(record_id=OuterRef("record_id")).order_by("-created_at").values("pk")[:1]
    last = {run.record_id: run for run in runs.filter(pk=Subquery(newest)).select_related("skill")}
    rows = PendingAction.objects.for_member(turn.member).unclosed().filter(record_id__in=ids)
    told: dict[str, list[str]] = defaultdict(list)
    for record_id, message in rows.values_list("record_id", "message"):
        told[record_id or ""].append(message)
    for record_id in ids:
        yield from _of_subject(turn, record_id, last.get(record_id), told[record_id])


def _of_subject(
    turn: Turn, record_id: str, last: TaskRun | None, told: Sequence[str]
) -> Iterator[str]:
    if last is None:
        yield _("%(record)s: no quality control yet") % {"record": record_id}
        return
    when = turn.context.clock(last.created_at)
    yield f"{record_id} {last.skill.name} {last.get_status_display()} ({when})"
    yield _("%(record)s open findings: %(number)d") % {"record": record_id, "number": len(told)}
    yield from dict.fromkeys(told)
