"""One claim of a run: its local nodes share a transaction, each with its own journal row (design.md 4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any
from zoneinfo import ZoneInfo

from django.utils.timezone import localtime, now
from django.utils.translation import gettext as _

from core.house.db import later
from engines.models import PendingAction, Review, SopStep, TaskRun
from engines.sop import findings, run_events
from engines.sop.asking import SUSPENDED, ask_reviewers, meet, question_key
from engines.sop.errors import Fault, Overtaken, Postponed
from engines.sop.journal import audited
from engines.sop.lease import still_ours
from engines.sop.nodes import NODES, execute
from engines.sop.nodes.base import Done, Outcome, Question
from engines.sop.study import Study
from skills.graph import Graph, Node, Retry, is_end

Status = TaskRun.Status

SUCCESS_END = "end_success"
REVIEW_END = "end_review_required"
ERROR_END = "end_error"
LONGEST_WAIT = timedelta(days=1)
SAVED = (
    "status",
    "current_node",
    "trace",
    "resume_callback",
    "reject_callback",
    "suspended_at",
    "resumed_at",
    "completed_at",
    "final_state",
    "message",
    "sub_status",
    "seq",
    "lease_until",
    "available_at",
    "attempts",
    "question_key",
)
READ = ("data", "read_at", "is_complete")
PASSED = "on_pass"
CHANGE_ACTOR, DAY_ACTOR = "system_change", "system_day"
PARTIAL = (CHANGE_ACTOR, DAY_ACTOR)
"""Who starts runs of single rules of a workflow, because data changed or a day passed: they are no check."""


class Chain:
    """Moves a run along; nothing is stored before `save`, which the caller's transaction ends with.

    Until then the journal, what the rules said and the question to a person are kept here: a chain can be
    walked before its transaction begins, and what it needs of the database is read once.
    """

    def __init__(self, run: TaskRun, study: Study | None = None) -> None:
        """`study` is what hard rules need; None where it could not be read."""
        self.run = run
        self.study = study
        self.steps: list[SopStep] = []
        self.noted: list[findings.Noted] = []
        self.question: Question | None = None
        self.followed: list[Review] = []
        self._entered = (run.status, run.fence, run.seq)
        self._read_at = run.read_at

    @cached_property
    def graph(self) -> Graph:
        """The configuration the run started with."""
        return Graph.model_validate(self.run.config)

    @property
    def key(self) -> str:
        """The name of the node the run stands at."""
        return self.run.current_node or ""

    @property
    def node(self) -> Node:
        """The node the run stands at."""
        return self.graph.nodes[self.key]

    @property
    def needs_data(self) -> bool:
        """Whether the subject's data are still to be read."""
        return bool(self.run.record_id) and self.run.read_at is None

    @property
    def is_slow(self) -> bool:
        """Whether the next thing to do needs the network."""
        if self.run.status != Status.RUNNING or self._is_capped:
            return False
        return self.needs_data or NODES[self.node.type].is_slow

    @property
    def goes_on(self) -> bool:
        """Whether slow work follows at once, under the same lease."""
        return self.is_slow and not self._waits

    @property
    def _waits(self) -> bool:
        return self.run.available_at is not None and self.run.available_at > now()

    @property
    def _is_capped(self) -> bool:
        return self.run.seq >= self.graph.max_steps

    def run_local(self) -> None:
        """Go on until the run needs the network, a person, time, or nothing more."""
        while self.run.status == Status.RUNNING and not self.is_slow and not self._waits:
            if self._is_capped:
                self.fail(_("The run was stopped after %d steps.") % self.graph.max_steps)
            else:
                self.take(execute(self.node, self.run, self.study))

    def take(self, came: Outcome, started: datetime | None = None) -> None:
        """Go on by what came of the node that the run stands at."""
        node = self.node
        if isinstance(came, Fault):
            self.fault(came, node.retry, node.target("on_error"))
        elif isinstance(came, Postponed):
            # To wait for a known time is no failed trial.
            self.run.attempts, self.run.available_at = 0, came.until
            self.run.sub_status, self.run.message = came.sub_status, str(came)
        elif isinstance(came, Question):
            self._suspend(came, started)
        else:
            self._step(came, started)

    def _suspend(self, question: Question, started: datetime | None) -> None:
        """Stop the run at its node and ask; no worker is held meanwhile."""
        run, node = self.run, self.node
        self._observe(self.key, question.observations)
        self.add_step(self.key, node.type, "waiting", question.result, started)
        run.status = Status.SUSPENDED
        run.suspended_at = now()
        run.message = SUSPENDED
        run.attempts, run.available_at, run.sub_status = 0, None, ""
        run.resume_callback, run.reject_callback = map(node.target, question.edges)
        self.question = question

    def _step(self, done: Done, started: datetime | None) -> None:
        """Journal the current node and follow its edge."""
        node, outcome = self.node, done.edge.removeprefix("on_")
        for notice in done.notices:
            run_events.keep_event(run_events.Kind.NOTICE_READY, self.run, payload=notice)
        self._observe(self.key, done.observations)
        self.add_step(self.key, node.type, outcome, done.result, started)
        self.run.message = ""
        self.go(never_clean(self.run, node.target(done.edge), done.edge))

    def add_step(
        self,
        node: str,
        kind: str,
        outcome: str,
        result: Any = None,
        started: datetime | None = None,
    ) -> None:
        """Note one node visit in journal and trace (decisions.md, "trace")."""
        run, ended = self.run, now()
        step = SopStep(
            task_run_id=run.pk,
            seq=run.seq,
            node=node,
            kind=kind,
            outcome=outcome,
            result=result,
            fence=run.fence,
            started_at=started or ended,
            ended_at=ended,
        )
        self.steps.append(step)
        run.seq += 1
        said = {"outcome": outcome} if result is None else {"outcome": outcome, "detail": result}
        item = {"node": node, "timestamp": ended.isoformat(), "result": said}
        run.trace = [*(run.trace or []), item]

    def _observe(self, node: str, observations: Sequence[findings.Observation]) -> None:
        if observations:
            self.noted.append(findings.Noted(node, self.run.seq, observations))

    def go(self, target: str) -> None:
        """Move to a node or to an end; whatever the last node waited for is over."""
        run = self.run
        run.attempts, run.available_at, run.sub_status = 0, None, ""
        run.question_key, run.current_node = "", target
        if is_end(target):
            self._finish(target)

    def _finish(self, end: str) -> None:
        run = self.run
        if end in {REVIEW_END, SUCCESS_END}:
            # A later success on complete data answers the finding of an earlier end.
            seen = findings.Observation(
                rule_key=REVIEW_END,
                outcome="PASS" if end == SUCCESS_END else "UNKNOWN",
                message=run.message
                or _("The check ended without a pass: a person has to look at it."),
                severity="warning",
                kind=findings.Kind.REVIEW_REQUIRED,
            )
            self._observe(REVIEW_END, [seen])
        run.status = Status.FAILED if end == ERROR_END else Status.COMPLETED
        run.final_state = end
        run.completed_at = now()

    def answer(self, status: str, said: dict[str, Any]) -> None:
        """Go on from the node that asked, by what was decided; the journal keeps what is `said` of it."""
        run = self.run
        target = run.resume_callback if status == Review.Status.APPROVED else run.reject_callback
        run.status, run.resumed_at, run.message = Status.RUNNING, now(), ""
        self.add_step(self.key, "decision", status, said)
        self.go(target or "end")

    def meet(self) -> bool:
        """Wait for a review that asks the same, or follow what was decided on the same values; whether it did.

        In the transaction that stores the run, before that: who decides or cancels a review holds it first.
        """
        if self.question is None:
            return False
        self.question = replace(self.question, open_keys=self._asked_about())
        self.run.question_key = question_key(self.run, self.node, self.question)
        met = meet(self.run)
        if met is None:
            return False
        self.question = None
        if met.status == Review.Status.OPEN:
            return False
        self.followed.append(met)
        at = met.decided_at.isoformat() if met.decided_at else None
        said = {"review": met.pk, "by": met.decided_by, "at": at, "standing": True}
        self.answer(met.status, said)
        self.run.message = _words_of(met)
        return True

    def _asked_about(self) -> list[str]:
        """The findings this run has seen on its way, by their keys; whoever closed some of them."""
        keys = {
            self._key(noted.node, seen)
            for noted in self.noted
            for seen in noted.observations
            if seen.outcome not in findings.GOOD
        }
        self.__dict__.pop("open", None)  # read before the review is held
        _status, _fence, stored = self._entered
        if stored and self.run.record_id:
            keys |= {findings.key_of(row) for row in findings.seen_in(self.run)}
        return sorted(keys)

    def _key(self, node: str, seen: findings.Observation) -> str:
        row = findings.find_open(self.run, node, seen, self.open.values())
        return (row.open_key if row else None) or findings.open_key(self.run, node, seen)

    def fault(self, fault: Fault, retry: Retry, target: str) -> None:
        """The node could not work: try later while that may help, then go to `target`."""
        run = self.run
        run.message = str(fault)
        if fault.transient and run.attempts <= retry.times:
            wait = timedelta(seconds=retry.wait_s * 2 ** max(run.attempts - 1, 0))
            run.available_at = now() + min(wait, LONGEST_WAIT)
            return
        self.add_step(self.key, "fault", "error", {"message": str(fault)})
        self.go(target)

    def fail(self, message: str) -> None:
        """End the run as failed."""
        self.run.message = message
        self.add_step(self.key, "fault", "error", {"message": message})
        self.go(ERROR_END)

    @cached_property
    def open(self) -> dict[str, PendingAction]:
        """Open findings of the run's subject by their places, as they stand in this transaction."""
        return {row.open_key or "": row for row in findings.open_about(self.run)}

    def save(self) -> None:
        """Write everything. Raises Overtaken."""
        while self.meet():
            self.run_local()
        self.store()
        self.tell()

    def store(self, also: Callable[[], bool] | None = None) -> None:
        """Write run and journal, keeping the lease only for slow work. Raises Overtaken.

        The run comes before all but a review: a run that others moved on stops here; so does one where `also`
        (the review that is decided, changed first) finds nothing to change.
        """
        run = self.run
        if not self.goes_on:
            run.lease_until = None
        elif run.lease_until:
            run.attempts = max(run.attempts, 1)
        if run._state.adding:
            later(run)
        elif (also and not also()) or not self._moved():
            raise Overtaken
        later(*self.steps)  # a second writer of the same `seq` fails there
        self.steps = []
        self._entered = (run.status, run.fence, run.seq)
        self._read_at = run.read_at

    def _moved(self) -> bool:
        """Store the run if it still is what this chain began with."""
        run = self.run
        names = SAVED if run.read_at == self._read_at else SAVED + READ
        values = {name: getattr(run, name) for name in names} | {"updated_at": now()}
        status, fence, seq = self._entered
        same = TaskRun.objects.filter(pk=run.pk, status=status, fence=fence, seq=seq)
        return same.update(**values) == 1

    def tell(self, decided: Review | None = None) -> None:
        """Write the question to a person and findings, and tell others how far the run is.

        `decided` is the review that was answered in this transaction.
        """
        run = self.run
        if self.question:
            ask_reviewers(run, self.node, self.question)
            self.question = None
        for noted in self.noted:
            findings.record(run, noted, self.open)
        self.noted = []
        for review in self.followed:
            self.settle(review, "system", _words_of(review))
        self.followed = []
        if run.status in {Status.COMPLETED, Status.FAILED}:
            announce(run, decided)

    def settle(self, review: Review, actor: object, why: str) -> None:
        """Close what a review was about that was approved; what was rejected stays open, as confirmed."""
        rows = [self.open[key] for key in review.open_keys if key in self.open]
        if review.status == Review.Status.APPROVED:
            for row in rows:
                findings.close_finding(row, actor=actor, resolution=why, review=review)
        elif review not in self.followed:
            findings.confirm(self.run, rows, actor=actor, note=why)

    def hold(self) -> None:
        """Lock the run's row for this transaction. Raises Overtaken when it is no longer ours."""
        if still_ours(self.run).update(updated_at=now()) != 1:
            raise Overtaken
        # While the network was asked a person may have closed some.
        self.__dict__.pop("open", None)


def never_clean(run: TaskRun, target: str, edge: str) -> str:
    """What was read in part only does not end as a success by itself, under no name (design.md 9.8).

    A recheck of changed data or of a day tells nobody of its end; what it saw stands in its findings.
    """
    is_clean = target == SUCCESS_END or (edge == PASSED and is_end(target))
    is_recheck = run.triggered_by in PARTIAL
    if not is_clean or not run.record_id or run.is_complete or is_recheck:
        return target
    run.message = _("REDCap did not show all data: the result is incomplete.")
    return REVIEW_END


def announce(run: TaskRun, decided: Review | None = None) -> None:
    """Tell the audit trail and who reads run events that a run ended.

    Where a review was `decided` with it, that event tells it too.
    """
    audited("run.end", run, new={"status": run.status, "final_state": run.final_state})
    if decided is None:
        run_events.keep_event(run_events.Kind.RUN_FINISHED, run)


def _words_of(review: Review) -> str:
    """The decision that a run follows, in words, in the project's zone."""
    at = localtime(review.decided_at, ZoneInfo(review.project.timezone))
    return _("As decided before on the same values: #%(number)s %(status)s, %(who)s, %(time)s.") % {
        "number": review.pk,
        "status": Review.Status(review.status).label,
        "who": review.decided_by,
        "time": f"{at:%Y-%m-%d %H:%M}",
    }
