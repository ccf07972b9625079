"""Writing the history book: a machine composes, people edit, and neither overwrites the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Max, QuerySet
from django.utils.translation import gettext as _

from core.house.db import atomic
from core.house.line_diff import changed_lines
from core.house.markdown import LONGEST
from memory.models import WeeklyReport, WeeklyReportVersion
from memory.reports import text
from memory.reports.metrics import Figures
from memory.reports.narrative import Narrative
from memory.reports.weeks import Period, bounds, report_of
from projects import audit
from projects.models import Project
from study.blinding import mask

Kind = WeeklyReportVersion.Kind
_TICK = datetime.resolution


class ReportConflict(Exception):
    """Somebody saved another version in between."""

    def __init__(self) -> None:
        super().__init__(_("The report was changed in the meantime."))


class ReportTooLong(ValueError):
    """Nobody writes that much by hand, and no prompt could carry it."""

    def __init__(self) -> None:
        super().__init__(_("A report has at most %(most)d characters.") % {"most": LONGEST})


@dataclass(frozen=True)
class Draft:
    """What a machine has to say about a week; `narrative` None: the conversations are not distilled yet."""

    period: Period
    figures: Figures
    narrative: Narrative | None
    counted_at: datetime


def store(*, project: Project, draft: Draft, author: str) -> tuple[WeeklyReport, bool]:
    """Write a week's report, or bring it up to date; returns it and whether it is new.

    What a person changed stays: the machine's text is then kept as a proposal beside it. A report that has
    its narrative is not replaced by one without. Raises ReportConflict when somebody saved in between.
    """
    metrics = draft.figures.stored
    composed = text.compose(project, draft.period, metrics, draft.narrative)
    composed = mask.mask_for_all(project).text(composed)
    with atomic():
        report = report_of(project, draft.period.week.number)
        if report is None:
            return _create(project, draft, metrics, composed, author), True
        if is_machine_made(report) and (draft.narrative or not report.narrated_at):
            _refresh(report, draft, metrics, composed, author)
    return report, False


def is_machine_made(report: WeeklyReport) -> bool:
    """Whether a machine composed it once; what people wrote from the start is theirs alone."""
    return _base(report) is not None


def machine_versions(report: Any) -> QuerySet[WeeklyReportVersion]:
    """What a machine wrote of a report; `report`: its key, or an expression of it."""
    return WeeklyReportVersion.objects.filter(
        report=report, kind__in=(Kind.COMPOSED, Kind.PROPOSED)
    )


def _base(report: WeeklyReport) -> str | None:
    """The machine's own last text as a whole."""
    rows = machine_versions(report.pk).order_by("-version")
    return rows.values_list("content", flat=True).first()


def _create(
    project: Project, draft: Draft, metrics: dict[str, Any], composed: str, author: str
) -> WeeklyReport:
    since, until = bounds(project, draft.period.week)
    report, created = WeeklyReport.objects.get_or_create(
        project=project,
        week_number=draft.period.week.number,
        defaults={
            "week_start": since,
            "week_end": until - _TICK,
            "summary": composed,
            "metrics": metrics,
            "created_by": author,
            **_marks(draft),
        },
    )
    if not created:
        raise ReportConflict
    _keep(report, 1, Kind.COMPOSED, composed, author)
    audit.record("report.save", actor=author, project=project, subject=report, new=metrics)
    return report


def _marks(draft: Draft, report: WeeklyReport | None = None) -> dict[str, Any]:
    """Retention counts from the first narrative, so its time stays."""
    first = report.narrated_at if report else None
    return {
        "counted_at": None if draft.figures.unread else draft.counted_at,
        "narrated_at": (first or draft.counted_at) if draft.narrative else None,
        "tried_at": draft.counted_at,
    }


def _refresh(
    report: WeeklyReport, draft: Draft, metrics: dict[str, Any], composed: str, author: str
) -> None:
    base = _base(report) or ""
    news = composed != base
    summary = text.merged(report.summary, base, composed) if news else report.summary
    changed = summary != report.summary or metrics != report.metrics
    top = _newest(report)
    number = top + 1 + (summary != composed) if news else report.version
    if not report.replaced(number, summary=summary, metrics=metrics, **_marks(draft, report)):
        raise ReportConflict
    if news and summary == composed:
        _keep(report, number, Kind.COMPOSED, composed, author)
    elif news:
        _keep(report, top + 1, Kind.PROPOSED, composed, author)
        _keep(report, number, Kind.MERGED, summary, author)
    if changed:
        audit.record(
            "report.save",
            actor=author,
            project=report.project,
            subject=report,
            new={**metrics, "version": number},
        )


def edit(
    *, report: WeeklyReport, content: str, actor: object, base_version: int, reason: str = ""
) -> WeeklyReport:
    """A person's text on top of `base_version`. Raises ReportConflict, ReportTooLong."""
    summary = content.replace("\r\n", "\n").replace("\r", "\n").rstrip()
    summary = mask.mask_for_all(report.project).text(summary)
    if len(summary) > LONGEST:
        raise ReportTooLong
    with atomic():
        current = WeeklyReport.objects.get(pk=report.pk)
        if current.version != base_version:
            raise ReportConflict
        old = current.summary
        if not current.versions.exists():
            # What stood there before versions were kept is worth keeping, too.
            _keep(current, current.version, Kind.EDITED, old, current.created_by)
        number = _newest(current) + 1
        if not current.replaced(number, summary=summary):
            raise ReportConflict
        _keep(current, number, Kind.EDITED, summary, audit.actor_name(actor))
        audit.record(
            "report.edit",
            actor=actor,
            project=current.project,
            subject=current,
            old={"version": base_version},
            new={"version": number, "diff": changed_lines(old, summary)},
            reason=reason,
        )
    return current


def restore(*, version: WeeklyReportVersion, actor: object, base_version: int) -> WeeklyReport:
    """An older or proposed version as the current one. Raises ReportConflict."""
    return edit(
        report=version.report,
        content=version.content,
        actor=actor,
        base_version=base_version,
        reason=_("Version %(number)d restored") % {"number": version.version},
    )


def _newest(report: WeeklyReport) -> int:
    found = report.versions.aggregate(top=Max("version"))["top"]
    return max(found or 0, report.version if found else 0)


def _keep(report: WeeklyReport, number: int, kind: str, content: str, author: str) -> None:
    report.versions.create(version=number, kind=kind, content=content, author=author)


def figures_of(report: WeeklyReport) -> Mapping[str, Any]:
    """The stored figures."""
    return report.metrics if isinstance(report.metrics, dict) else {}


def is_told(report: WeeklyReport, until: datetime) -> bool:
    """Whether the conversations of the whole week were distilled."""
    return report.narrated_at is not None and report.narrated_at >= until


def is_counted(report: WeeklyReport, until: datetime) -> bool:
    """Whether all figures were read once after the week had ended."""
    return report.counted_at is not None and report.counted_at >= until
