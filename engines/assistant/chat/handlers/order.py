"""Orders: carried out where the words are clear, else listed and proposed; writing is only guided."""

from __future__ import annotations

import logging
import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from django.utils.translation import gettext as _

from core.house import current_login, task_queue
from core.house.db import after_commit
from core.integrations.redcap import RedcapError
from engines import sop, work
from engines.assistant import texts
from engines.assistant.chat.handlers import memory
from engines.assistant.chat.reply import Outcome
from engines.assistant.chat.turn import Turn
from engines.assistant.read.grammar import fast
from engines.assistant.read.queries import queries
from engines.assistant.read.spelling import normalise
from engines.assistant.read.task import Order, OrderKind, Reading, State, Task, TaskKind
from engines.assistant.tools.results import not_found
from engines.models import TaskRun
from engines.sop.order_run import ReadsBlinded, check_blinding
from memory.reports import job, report_store, weeks
from memory.reports.report_store import Draft, ReportConflict
from memory.reports.text import Shown
from memory.visibility import visible_ids
from projects.models import Role
from skills.models import Skill
from skills.services import pick_qc_skill
from study import door
from study.client import NotConfiguredError
from study.query.errors import QueryError

logger = logging.getLogger(__name__)

FEW, LISTED = 5, 60
"""Subjects whose results are told one by one, and whose numbers are listed."""
YES = frozenset(
    {"确认", "确认开始", "开始", "是", "是的", "对", "好", "好的", "可以", "行", "ok", "yes"}
)
PLAIN_YES = frozenset({"确认", "确认开始"})
"""What starts an order that was only proposed: a passing word of consent does not."""
NO = frozenset({"取消", "不", "不用", "不用了", "不要", "算了", "先不", "no"})

_CONDITION = re.compile(
    r"如果|要是|万一|假如|若(?!干)|的话|超过|等.{1,12}(?:再|之?后)|^(?:再|就|才)|(?<![a-z])if(?![a-z])"
)
_DECISION = re.compile(
    r"复核|审核|审批|审阅|质控|核查|质疑|问题|发现|任务|待办|query|finding|review", re.IGNORECASE
)
_LAST_WEEK = re.compile(r"上周|上一周|上个?星期|漏")
_TIMES = r"一?[下遍次个轮趟]|流程"
# Around those whom an order means: its verb, and what of them is to be checked.
_KIND = (
    r"入排|安全性?|ae|不良事件|知情(?:同意)?|合并用药|用药|访视|一致性|完整性|逻辑|数据|整体|全面"
)
_FRAME = (
    r"请|麻烦|帮忙|帮我|帮|给我|替我|你|我要|能不能|可以|现在|直接|马上|立刻|立即|赶紧|快|先|就|再|重新|重|然后"
    r"|把|将|给|对于?|为|针对|[,: ]"
    rf"|(?:{_KIND})*(?:质控|质检|核查|核对|核验|校验|检查|qc|sdv)(?:{_TIMES})?"
    rf"|(?:跑|做|走|过|来|核|查|进行|执行|启动)(?:{_TIMES})?"
)
_END = rf"[这那]几[个例位]|吧|呗|啊|哈|了|掉|吗|谢谢|走起|都|也|全都|一律|(?:{_TIMES})"
_OUTER = re.compile(rf"^(?:{_FRAME})+|(?:{_FRAME}|{_END})+$", re.IGNORECASE)
_MATTER_OF = re.compile(
    rf"(?<=[者人员的例])的?(?:{_KIND}|数据|资料)+$|^(?:{_KIND})+$", re.IGNORECASE
)
_EVERYBODY = re.compile(
    r"(?:全部|所有|全体|全员|全库|每[个位名例]|整个库?|全)的?(?:受试者|患者|病人|病例|人员|人|数据)?的?"
)
_OF_SUBJECTS = re.compile(r"(?:受试者|患者|病人|病例)的?$")


@dataclass(frozen=True)
class Meant:
    """Whom an order means, and of whom the data do not say; `words`: the condition that said it."""

    subjects: Sequence[str]
    undecided: Sequence[str] = ()
    words: str = ""


def answer_order(turn: Turn, task: Task, limit: int) -> Outcome:
    """Carry out the one order that a task is."""
    order = task.order or Order(OrderKind.QC, is_sure=False)
    if order.kind is OrderKind.REPORT:
        return _make_report(turn, task) if order.is_sure else _propose_report(task)
    if order.kind is OrderKind.DECIDE:
        return guide_entry(turn, task, limit)
    if order.kind is OrderKind.QC:
        return _start_qc(turn, task, order)
    return memory.obey(turn, task)


def guide_entry(_turn: Turn, task: Task, _limit: int) -> Outcome:
    """A write request is never executed."""
    decision = _(
        "I can only read. Reviews, findings and runs are decided by the people in charge: "
        "on the review card, or in the console."
    )
    entry = _(
        "I can only read. Please enter or change data in REDCap; I can run quality control afterwards."
    )
    return Outcome(decision if _DECISION.search(task.said) else entry, guided=True)


# --- quality control ------------------------------------------------------------------------------


def _start_qc(turn: Turn, task: Task, order: Order) -> Outcome:
    """Start the QC skill the order means for each subject; the runs are made in the last transaction.

    At once only what says nothing but that named subjects are to be checked now. Whom else an order may mean
    is listed and waits for a yes.
    """
    if not current_login.may_order():
        return Outcome(_("This API token was not made for starting runs."), guided=True)
    if turn.member.role == Role.AUDITOR:
        return Outcome(_("Your role may not start quality control."), guided=True)
    if turn.said_yes is not None:
        return _settle(turn)
    skill = pick_qc_skill(turn.project, task.said)
    if skill is None:
        return Outcome(_("No quality control workflow is set up for this study."), guided=True)
    if refused := _blinded(turn, skill):
        return refused
    mine = set(visible_ids(turn.project, turn.member))
    # Nothing in the message may be a condition of the order, or be left unread.
    unclear = turn.reading.unread or _CONDITION.search(turn.asked) or _CONDITION.match(task.said)
    is_now = order.is_sure and not unclear
    named = order.record_ids
    if not named:
        if words := _whom(task.said):
            return _offer_condition(turn, words, skill)
        # Where the message names anybody, nobody is carried over from the messages before.
        named = tuple([*turn.reading.record_ids] or [*turn.session.record_ids])
        is_now = is_now and len(named) == 1
    known = [one for one in named if one in mine]
    if not known and order.record_ids:
        return Outcome(not_found())
    if not known or (turn.names and not order.record_ids):
        turn.not_understood(())
        told = _('Which subject? Please give the number, or say "全部受试者".')
        return Outcome(told, guided=True, asks=True)
    if not is_now:
        return _offer(turn, skill, Meant(known), proposed=not order.is_sure or bool(unclear))
    return Outcome(finish=lambda: _start(turn, skill, known, absent=len(known) < len(named)))


def _settle(turn: Turn) -> Outcome:
    """What was offered, started for those of its subjects who are still the reader's; or left."""
    over = Outcome(_("This order is no longer open; nothing was started."), guided=True)
    offered = turn.session.order
    if not offered:
        return over
    if not turn.said_yes:
        return Outcome(_("Nothing was started."))
    active = Skill.objects.filter(project=turn.project, is_active=True)
    skill = active.filter(pk=offered["skill"]).first()
    mine = set(visible_ids(turn.project, turn.member))
    known = [one for one in offered["subjects"] if one in mine]
    if skill is None or not known:
        return over
    key = uuid.UUID(offered["id"])
    refused = _blinded(turn, skill)
    return refused or Outcome(finish=lambda: _together(turn, skill, known, key))


def _blinded(turn: Turn, skill: Skill) -> Outcome | None:
    """The refusal to start what reads more than the reader may see."""
    try:
        check_blinding(skill, turn.project, turn.member)
    except ReadsBlinded as refused:
        return Outcome(str(refused), guided=True)
    return None


def _start(turn: Turn, skill: Skill, record_ids: list[str], absent: bool) -> str:
    """Few subjects: each result is told. Many that are named: one message at the end."""
    project, by = turn.project, turn.member.identity
    if len(record_ids) > FEW:
        runs = sop.start_together(project=project, skill=skill, record_ids=record_ids, actor=by)
    else:
        runs = [
            sop.start(project=project, skill=skill, record_id=each, triggered_by=by)
            for each in record_ids
        ]
    states: dict[str, list[str]] = {}
    for run in runs:
        turn.task_runs.append(str(run.pk))
        state = str(run.get_status_display())
        if run.status == TaskRun.Status.SUSPENDED:
            state = texts.SUSPENDED
        elif run.status == TaskRun.Status.RUNNING:
            told = _("quality control started (%(skill)s); you will get the result")
            state = told % {"skill": run.skill.name}
        states.setdefault(state, []).append(run.record_id or "")
    lines = [f"{listed(ids)} {state}" for state, ids in states.items()]
    return "\n".join([*lines, *([not_found()] if absent else [])])


def _together(turn: Turn, skill: Skill, record_ids: Sequence[str], key: uuid.UUID) -> str:
    runs: list[TaskRun] = sop.start_together(
        project=turn.project,
        skill=skill,
        record_ids=record_ids,
        actor=turn.member.identity,
        key=key,
    )
    turn.task_runs += [str(run.pk) for run in runs]
    told = _("%(subjects)s: quality control started (%(skill)s); you will get the result")
    return told % {"subjects": listed(record_ids), "skill": skill.name}


def settle_offer(turn: Turn) -> Reading | None:
    """The order that the last answer offered, where the message is a yes or a no to it; None for all else.

    A card's button names the order that it stands under.
    """
    offered = turn.session.order
    words, _space, key = turn.text.strip().partition(" #")
    said = normalise(words).strip(" ,。.!~").lower()
    if said not in YES | NO or not (offered or key):
        return None
    if said in YES and not key and offered and offered.get("proposed") and said not in PLAIN_YES:
        return None
    if key and key != (offered or {}).get("id"):
        turn.session = replace(turn.session, order=None)
    turn.said_yes = said in YES
    order = Task(TaskKind.ORDER, turn.text, order=Order(OrderKind.QC))
    return Reading((order,), turn.state)


def _whom(said: str) -> str:
    """The words of an order that say whom it means: 还在筛选的 of 把还在筛选的都质控一遍; "" for none."""
    words = _OUTER.sub("", normalise(said).strip(" ,。;!?"))
    return _MATTER_OF.sub("", words)


def _offer_condition(turn: Turn, words: str, skill: Skill) -> Outcome:
    """List whom the words of an order mean and ask for a yes."""
    if _EVERYBODY.fullmatch(words):
        return _offer(turn, skill, Meant(visible_ids(turn.project, turn.member)))
    try:
        meant = _meant(turn, words)
    except (RedcapError, NotConfiguredError, QueryError) as error:
        logger.warning("Order for many: %s", type(error).__name__)
        meant = None
    if meant is not None:
        return _offer(turn, skill, meant)
    turn.not_understood([words])
    told = _(
        "I cannot work out whom “%(words)s” means, so nothing was started. "
        "Please give the numbers of the subjects, or say it in other words."
    )
    return Outcome(told % {"words": turn.plain(words)}, guided=True, asks=True)


def _meant(turn: Turn, words: str) -> Meant | None:
    """The subjects of a condition that was understood to its last word; None for every other one.

    Raises RedcapError, NotConfiguredError, QueryError.
    """
    of_subjects = bool(_OF_SUBJECTS.search(words))
    asked = words.removesuffix("的") + "有哪些" if of_subjects else words + "受试者有哪些"
    task = fast(asked, turn.setting, State())
    made = queries(task.question, turn.setting) if task and task.question else ()
    if len(made) != 1 or not (made[0].get("where") or made[0].get("period")):
        return None
    # How many there are, or in which groups, is asked of the same subjects.
    query = {key: value for key, value in made[0].items() if key not in ("aggregate", "by", "of")}
    turn.note("study.query", action=str(query))
    answer = door.ask_one(turn.project, turn.member, query)
    if answer.left_out:
        return None
    mine = set(visible_ids(turn.project, turn.member))
    named = dict.fromkeys(fact.subject for fact in answer.facts if fact.subject in mine)
    unsure = dict.fromkeys(one.subject for one in answer.undecided if one.subject in mine)
    return Meant([*named], [one for one in unsure if one not in named], turn.plain(words))


def _offer(turn: Turn, skill: Skill, meant: Meant, *, proposed: bool = False) -> Outcome:
    """Tell whom the order would start, and wait for a yes. `proposed`: nobody ordered it in clear words."""
    unsure = ""
    if meant.undecided:
        told = _("The data do not say it of: %(subjects)s; they are not included.")
        unsure = "\n" + told % {"subjects": listed(meant.undecided)}
    if not meant.subjects:
        told = _(
            "Nobody of the subjects that you see is meant by “%(words)s”; nothing was started."
        )
        return Outcome(told % {"words": meant.words} + unsure, guided=True)
    turn.order = {
        "id": str(uuid.uuid4()),
        "skill": str(skill.pk),
        "subjects": [*meant.subjects],
        "title": skill.name,
        "proposed": proposed,
    }
    head = _("%(skill)s would be started for %(count)d subjects: %(subjects)s") % {
        "skill": skill.name,
        "count": len(meant.subjects),
        "subjects": listed(meant.subjects),
    }
    of = _("Condition: %(words)s") % {"words": meant.words} + "\n" if meant.words else ""
    ask = _('Nothing was started yet. Reply "确认" to start; anything else leaves it.')
    return Outcome(f"{head}\n{of}{ask}{unsure}", guided=True, asks=True)


def listed(ids: Sequence[str]) -> str:
    """Numbers of subjects, of very many the first."""
    shown = "、".join(ids[:LISTED])
    return f"{shown} 等 {len(ids)} 例" if len(ids) > LISTED else shown


# --- the weekly report ----------------------------------------------------------------------------


def _propose_report(task: Task) -> Outcome:
    """Ask whether a report was meant; nothing is done."""
    order = "生成月报" if "月" in task.said else "生成周报"
    told = _('Do you want this: %(task)s? Nothing was done yet. If so, reply: "%(order)s"')
    return Outcome(told % {"task": _("report"), "order": order}, guided=True, asks=True)


def _make_report(turn: Turn, task: Task) -> Outcome:
    """Make the week's report from data, by the service of the weekly job; what a person changed in it stays."""
    if not current_login.may_order():
        return Outcome(_("This API token was not made for writing reports."), guided=True)
    if turn.member.role == Role.AUDITOR:
        return Outcome(_("Your role may not have the weekly report made."), guided=True)
    day = turn.context.today - timedelta(days=7 if _LAST_WEEK.search(task.said) else 0)
    week = weeks.week_of(turn.project, day)
    if week is None:
        return Outcome(_("The study has not begun yet."))
    draft = job.so_far(turn.project, week, work.week_figures)
    if "enrolled" in draft.figures.unread:
        turn.outside_down = True
        return Outcome(_("REDCap cannot be read at the moment. The report was not made."))
    return Outcome(finish=lambda: _save_report(turn, draft, "月" in task.said))


def _save_report(turn: Turn, draft: Draft, monthly: bool) -> str:
    week = draft.period.week
    try:
        report, created = report_store.store(
            project=turn.project, draft=draft, author=turn.member.identity
        )
    except ReportConflict:
        return _("The report was changed in the meantime.")
    if not draft.period.running and report.narrated_at is None:
        number, project_id = week.number, str(turn.project.pk)
        after_commit(lambda: task_queue.wake("engines.tasks.write_report", project_id, number))
    made, known = (
        _("%(title)s: the weekly report was made."),
        _("%(title)s: the weekly report exists already."),
    )
    lines = [(made if created else known) % {"title": week.title.lstrip("# ")}]
    if draft.period.running:
        lines.append(_("The week is in progress; these are the figures so far."))
    if not turn.member.site:
        # The figures are the whole study's.
        shown = Shown(report_store.figures_of(report))
        told = _("New: %(new)s, in all %(total)s / %(target)s (%(completion)s).") % {
            "new": shown["enrolled"],
            "total": shown["enrolled_total"],
            "target": shown["target"],
            "completion": shown["completion"],
        }
        unread = _("Could not be read: %(names)s.") % {"names": shown.unread}
        lines += [told, *([unread] if shown.unread else [])]
    if monthly:
        lines.append(_("There are weekly reports only; this is the current one."))
    lines.append(_("You can read it in the console."))
    return "\n".join(lines)
