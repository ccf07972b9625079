"""Orders: QC, reports, and write requests, which are only guided (design.md 9.3)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from django.utils.translation import gettext as _

from engines import sop
from engines.assistant.chat import texts
from engines.assistant.chat.reply import Outcome
from engines.assistant.chat.subjects import subjects
from engines.assistant.chat.turn import Turn
from engines.assistant.intents import Intent, Part
from engines.assistant.tools.texts import not_found
from engines.models import TaskRun
from engines.sop.order_run import ReadsBlinded, check_blinding
from house import acting
from memory.labels import INTENTS
from memory.visibility import visible_ids
from projects.models import Role
from skills.models import Skill

_ALL = re.compile(r"全部|全员|所有|全体|每个|每位|都(?:跑|做|质控)|整个")
_DECISION = re.compile(
    r"复核|审核|审批|审阅|质控|核查|质疑|问题|发现|任务|待办|query|finding|review", re.IGNORECASE
)
LISTED = 10
FEW = 5
LONGEST_QUOTED = 60


def start_qc(turn: Turn, part: Part, limit: int) -> Outcome:
    """Start the QC skill the order means for each subject; the runs are made in the last transaction."""
    if not acting.may_order():
        return Outcome(_("This API token was not made for starting runs."), guided=True)
    if turn.member.role == Role.AUDITOR:
        return Outcome(_("Your role may not start quality control."), guided=True)
    skill = sop.pick_skill(turn.project, part.text)
    if skill is None:
        return Outcome(_("No quality control workflow is set up for this study."), guided=True)
    try:
        check_blinding(skill, turn.project, turn.member)
    except ReadsBlinded as refused:
        return Outcome(str(refused), guided=True)
    mine = visible_ids(turn.project, turn.member)
    wanted = _subjects(turn, part, mine)
    if not wanted:
        return Outcome(
            _('Which subject? Please give the number, or say "全部受试者".'), guided=True
        )
    known = [record_id for record_id in wanted if record_id in set(mine)]
    if not known:
        return Outcome(not_found())
    absent = len(known) < len(wanted)
    return Outcome(finish=lambda: _start(turn, skill, known, absent))


def _subjects(turn: Turn, part: Part, mine: list[str]) -> list[str]:
    """Whom the order means: named in it, everybody, or last spoken of.

    Where the message names anybody, with an id or a name that stands for no record, nobody is carried over
    from the messages before.
    """
    own = subjects(turn, part) if part.record_ids or not names_somebody(turn) else []
    if own or part.named:
        return own
    if _ALL.search(part.text):
        return mine
    return [] if names_somebody(turn) else list(turn.session.record_ids)


def names_somebody(turn: Turn) -> bool:
    """Whether any part of the message names a subject."""
    found = turn.detection
    return bool(found.record_ids or turn.names) or any(part.named for part in found.parts)


def _start(turn: Turn, skill: Skill, record_ids: list[str], absent: bool) -> str:
    states: dict[str, list[str]] = {}
    for run in _runs(turn, skill, record_ids):
        turn.task_runs.append(str(run.pk))
        states.setdefault(_state(run), []).append(run.record_id or "")
    lines = [f"{_listed(ids)} {state}" for state, ids in states.items()]
    return "\n".join([*lines, *([not_found()] if absent else [])])


def _runs(turn: Turn, skill: Skill, record_ids: list[str]) -> list[TaskRun]:
    """Few subjects: each result is told. Many: one message at the end."""
    project, by = turn.project, turn.member.identity
    if len(record_ids) > FEW:
        return sop.start_together(project=project, skill=skill, record_ids=record_ids, actor=by)
    return [
        sop.start(project=project, skill=skill, record_id=each, triggered_by=by)
        for each in record_ids
    ]


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


def propose(turn: Turn, part: Part, limit: int) -> Outcome:
    """Ask whether an order was meant that only the model saw; nothing is done."""
    everybody = _("all subjects") if _ALL.search(part.text) else _("number of the subject")
    text = turn.plain(part.text)
    order = {
        Intent.QC_TASK: "质控 " + ("、".join(part.record_ids) or everybody),
        Intent.GENERATE_REPORT: "生成周报",
        Intent.REMEMBER: "记住:" + (text if len(text) <= LONGEST_QUOTED else "…"),
        Intent.FEEDBACK: "👍 / 👎",
    }[Intent(part.intent)]
    said = {"task": INTENTS[part.intent], "order": order}
    return Outcome(
        _('Do you want this: %(task)s? Nothing was done yet. If so, reply: "%(order)s"') % said,
        guided=True,
    )


def guide_entry(turn: Turn, part: Part, limit: int) -> Outcome:
    """A write request is never executed."""
    if _DECISION.search(part.text):
        return Outcome(
            _(
                "I can only read. Reviews, findings and runs are decided by the people in charge: "
                "on the review card, or in the console."
            ),
            guided=True,
        )
    return Outcome(
        _(
            "I can only read. Please enter or change data in REDCap; "
            "I can run quality control afterwards."
        ),
        guided=True,
    )
