"""Orders: QC, reports, and write requests, which are only guided (design.md 9.3)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.utils.translation import gettext as _

from engines import sop
from engines.chat import texts
from engines.chat.handlers.data import subjects
from engines.chat.reply import Outcome
from engines.chat.turn import Turn
from engines.intents import Part
from engines.models import TaskRun
from engines.tools import ToolResult
from engines.tools.records import not_found
from engines.tools.stats import Counts, count
from integrations.redcap import RedcapError
from memory import reports
from memory.visibility import visible_ids
from projects.client import NotConfiguredError
from projects.models import Role
from skills.models import Skill

_ALL = re.compile(r"全部|全员|所有|全体|每个|每位|都(?:跑|做|质控)|整个")
_LAST_WEEK = re.compile(r"上周|上一周|上个?星期|漏")
LISTED = 10


def start_qc(turn: Turn, part: Part, results: Sequence[ToolResult], limit: int) -> Outcome:
    """Start the QC skill the order means for each subject; the runs are made in the last transaction."""
    if turn.member.role == Role.AUDITOR:
        return Outcome(_("Your role may not start quality control."), guided=True)
    skill = sop.pick_skill(turn.project, part.text)
    if skill is None:
        return Outcome(_("No quality control workflow is set up for this study."), guided=True)
    mine = visible_ids(turn.project, turn.member)
    wanted = subjects(turn, part) or (mine if _ALL.search(part.text) else [])
    wanted = wanted or list(turn.session.record_ids)
    if not wanted:
        return Outcome(
            _('Which subject? Please give the number, or say "全部受试者".'), guided=True
        )
    known = [record_id for record_id in wanted if record_id in set(mine)]
    if not known:
        return Outcome(not_found())
    absent = len(known) < len(wanted)
    return Outcome(finish=lambda: _start(turn, skill, known, absent))


def _start(turn: Turn, skill: Skill, record_ids: list[str], absent: bool) -> str:
    states: dict[str, list[str]] = {}
    for record_id in record_ids:
        run = sop.start(
            project=turn.project,
            skill=skill,
            record_id=record_id,
            triggered_by=turn.member.identity,
        )
        turn.task_runs.append(str(run.pk))
        states.setdefault(_state(run), []).append(record_id)
    lines = [f"{_listed(ids)} {state}" for state, ids in states.items()]
    return "\n".join([*lines, *([not_found()] if absent else [])])


def _state(run: TaskRun) -> str:
    if run.status == TaskRun.Status.SUSPENDED:
        return texts.SUSPENDED
    if run.status == TaskRun.Status.RUNNING:
        return _("quality control started (%(skill)s); you will get the result") % {
            "skill": run.skill.name
        }
    return str(run.get_status_display())


def _listed(ids: Sequence[str]) -> str:
    shown = "、".join(ids[:LISTED])
    return f"{shown} 等 {len(ids)} 例" if len(ids) > LISTED else shown


def guide_entry(turn: Turn, part: Part, results: Sequence[ToolResult], limit: int) -> Outcome:
    """A write request is never executed."""
    return Outcome(
        _(
            "I can only read. Please enter or change data in REDCap; "
            "I can run quality control afterwards."
        ),
        guided=True,
    )


def read_report(turn: Turn, part: Part) -> list[ToolResult]:
    """Nothing to show: the figures are counted when the report is made."""
    return []


def make_report(turn: Turn, part: Part, results: Sequence[ToolResult], limit: int) -> Outcome:
    """Make the week's report from data; an existing one is not overwritten."""
    day = turn.context.today - timedelta(days=7 if _LAST_WEEK.search(part.text) else 0)
    week = reports.week_of(turn.project, day)
    if week is None:
        return Outcome(_("The study has not begun yet."))
    try:
        counts, _read_at = count(turn.project, None, turn.context.metadata)
    except (RedcapError, NotConfiguredError):
        turn.outside_down = True
        return Outcome(_("REDCap cannot be read at the moment. The report was not made."))
    metrics = metrics_of(turn, counts, week)
    return Outcome(finish=lambda: _save(turn, week, metrics, "月" in part.text))


def metrics_of(turn: Turn, counts: Counts, week: reports.Week) -> dict[str, Any]:
    """The documented figures of a week."""
    from engines.models import PendingAction

    target, total = turn.project.target_enrolment, len(counts.enrolled)
    open_findings = PendingAction.objects.filter(
        project=turn.project, state=PendingAction.State.OPEN
    )
    runs = TaskRun.objects.filter(
        project=turn.project, created_at__date__gte=week.first, created_at__date__lte=week.last
    )
    return {
        "enrolled": counts.enrolled_between(week.first, week.last),
        "enrolled_total": total,
        "target": target,
        "completion": f"{total * 100 / target:.1f}%" if target else "",
        "queries": open_findings.count(),
        "qc_runs": runs.count(),
        "complete": counts.complete,
    }


def _save(turn: Turn, week: reports.Week, metrics: dict[str, Any], monthly: bool) -> str:
    report, created = reports.save(
        project=turn.project, of=week, metrics=metrics, author=turn.member.identity
    )
    title = week.title.lstrip("# ")
    made = (
        _("%(title)s: the weekly report was made.")
        if created
        else _("%(title)s: the weekly report exists already.")
    )
    shown = report.metrics or metrics
    lines = [made % {"title": title}]
    if not turn.member.site:
        lines.append(
            _("New: %(new)s, in all %(total)s / %(target)s (%(completion)s).")
            % {
                "new": shown.get("enrolled", "-"),
                "total": shown.get("enrolled_total", "-"),
                "target": shown.get("target", "-"),
                "completion": shown.get("completion", "-"),
            }
        )
    if monthly:
        lines.append(_("There are weekly reports only; this is the current one."))
    lines.append(_("You can read it in the console."))
    return "\n".join(lines)
