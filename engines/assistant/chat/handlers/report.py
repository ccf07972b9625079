"""The weekly report on demand: the figures of a week so far, by the same service as the weekly job."""

from __future__ import annotations

import re
from datetime import timedelta

from django.utils.translation import gettext as _

from engines.assistant.chat.reply import Outcome
from engines.assistant.chat.turn import Turn
from engines.assistant.intents import Part
from house.db import after_commit
from memory import tasks
from memory.models import WeeklyReport
from memory.reports import job, report_store, weeks
from memory.reports.report_store import Draft, ReportConflict

_LAST_WEEK = re.compile(r"上周|上一周|上个?星期|漏")


def make_report(turn: Turn, part: Part, limit: int) -> Outcome:
    """Make the week's report from data; what a person changed in it stays."""
    day = turn.context.today - timedelta(days=7 if _LAST_WEEK.search(part.text) else 0)
    week = weeks.week_of(turn.project, day)
    if week is None:
        return Outcome(_("The study has not begun yet."))
    draft = job.so_far(turn.project, week)
    if "enrolled" in draft.figures.unread:
        turn.outside_down = True
        return Outcome(_("REDCap cannot be read at the moment. The report was not made."))
    return Outcome(finish=lambda: _save(turn, draft, "月" in part.text))


def _save(turn: Turn, draft: Draft, monthly: bool) -> str:
    week = draft.period.week
    try:
        report, created = report_store.store(
            project=turn.project, draft=draft, author=turn.member.identity
        )
    except ReportConflict:
        return _("The report was changed in the meantime.")
    if not draft.period.running and report.narrated_at is None:
        number, project_id = week.number, str(turn.project.pk)
        after_commit(lambda: tasks.write_report.delay(project_id, number))
    made = (
        _("%(title)s: the weekly report was made.")
        if created
        else _("%(title)s: the weekly report exists already.")
    )
    lines = [made % {"title": week.title.lstrip("# ")}]
    if draft.period.running:
        lines.append(_("The week is in progress; these are the figures so far."))
    lines += _figures(turn, report)
    if monthly:
        lines.append(_("There are weekly reports only; this is the current one."))
    lines.append(_("You can read it in the console."))
    return "\n".join(lines)


def _figures(turn: Turn, report: WeeklyReport) -> list[str]:
    """The whole study's figures, for members without a site."""
    if turn.member.site:
        return []
    shown = report_store.shown(report)
    told = _("New: %(new)s, in all %(total)s / %(target)s (%(completion)s).") % {
        "new": shown["enrolled"],
        "total": shown["enrolled_total"],
        "target": shown["target"],
        "completion": shown["completion"],
    }
    unread = _("Could not be read: %(names)s.") % {"names": shown.unread} if shown.unread else ""
    return [told, unread] if unread else [told]
