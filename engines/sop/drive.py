"""Driving a run: chains of local nodes in one transaction, slow work outside of any (design.md 4).

Killing the process at any instant loses nothing: before a commit nothing happened, after it the journal
says where to go on, and a result of slow work that lost its lease is thrown away.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

from django.utils.timezone import now
from django.utils.translation import gettext as _

from engines.models import TaskRun
from engines.signals import run_finished
from engines.sop import findings, hard, snapshot, soft
from engines.sop.errors import Fault
from engines.sop.journal import Journal
from engines.sop.lease import claim, still_ours
from engines.sop.reviews import suspend
from engines.sop.study import Study
from integrations.redcap import RedcapError
from projects import audit
from projects.client import NotConfiguredError
from projects.db import atomic
from skills.graph import Graph, Node, Retry, is_end

log = logging.getLogger(__name__)
Status = TaskRun.Status
Apply = Callable[["Chain"], None]

REVIEW_END = "end_review_required"
MAX_TURNS = 500


class Chain:
    """One claim of a run: moves it along its local nodes; saved once, at the end."""

    def __init__(self, run: TaskRun, study: Study | None) -> None:
        """`study` is None only while the run has no hard rule to evaluate yet."""
        self.run = run
        self.study = study
        self.graph = Graph.model_validate(run.config)
        self.journal = Journal(run)
        self.entered = (run.fence, run.seq)

    @property
    def node(self) -> Node:
        """The node the run stands at."""
        return self.graph.nodes[self.run.current_node or ""]

    @property
    def needs_data(self) -> bool:
        """Whether the subject's data are still to be read."""
        return bool(self.run.record_id) and self.run.read_at is None

    @property
    def is_slow(self) -> bool:
        """Whether the next thing to do needs the network."""
        return self.run.status == Status.RUNNING and (
            self.needs_data or self.node.type == "soft_instruction"
        )

    def run_local(self) -> None:
        """Go on until the run needs the network, a person, time, or nothing more."""
        while self.run.status == Status.RUNNING and not self.is_slow and not self._waits():
            if self.run.seq >= self.graph.max_steps:
                self.fail(_("The run was stopped after %d steps.") % self.graph.max_steps)
            elif self.node.type == "human_review":
                suspend(self, self.node.description, self.node.reviewers)
            else:
                self._hard_rule()

    def _waits(self) -> bool:
        return self.run.available_at is not None and self.run.available_at > now()

    def _hard_rule(self) -> None:
        if self.study is None:
            raise RuntimeError("hard rules need the study's dictionary")
        observations = hard.evaluate(self.node, self.run, self.study)
        key = self.run.current_node or ""
        bad = findings.record(self.run, key, observations)
        edge = "on_pass" if hard.is_passed(observations) else "on_fail"
        self.step(edge, {"rules": len(observations), "findings": bad})

    def step(self, edge: str, result: object = None) -> None:
        """Journal the current node and follow `edge`."""
        key, node = self.run.current_node or "", self.node
        self.journal.add(key, node.type, edge.removeprefix("on_"), result)
        self.run.attempts = 0
        self.run.available_at = None
        self.run.sub_status = ""
        self.go(node.target(edge))

    def go(self, target: str) -> None:
        """Move to a node or to an end."""
        self.run.current_node = target
        if is_end(target):
            self._finish(target)

    def _finish(self, end: str) -> None:
        if end == REVIEW_END:
            findings.record(self.run, end, [_end_finding(self.run)])
        self.run.status = Status.FAILED if end == "end_error" else Status.COMPLETED
        self.run.final_state = end
        self.run.completed_at = now()

    def fault(self, fault: Fault, retry: Retry, edge_target: str) -> None:
        """A node could not work: try later while that may help, then take the error edge."""
        if fault.transient and self.run.attempts < retry.times:
            self.run.attempts += 1
            wait = retry.wait_s * 2 ** (self.run.attempts - 1)
            self.run.available_at = now() + timedelta(seconds=wait)
            self.run.message = str(fault)
            return
        self.run.message = str(fault)
        self.journal.add(self.run.current_node or "", "fault", "error", {"message": str(fault)})
        self.run.attempts = 0
        self.go(edge_target)

    def fail(self, message: str) -> None:
        """End the run as failed."""
        self.run.message = message
        self.journal.add(self.run.current_node or "", "fault", "error", {"message": message})
        self.go("end_error")

    def save(self) -> bool:
        """Write run and journal, keeping the lease only for slow work; False when overtaken."""
        run = self.run
        fence, seq = self.entered
        self.journal.save()
        if not (self.is_slow and not self._waits()):
            run.lease_until = None
        values = {name: getattr(run, name) for name in _SAVED}
        rows = TaskRun.objects.filter(pk=run.pk, fence=fence, seq=seq, status=Status.RUNNING)
        if rows.update(**values, updated_at=now()) != 1:
            return False
        self.entered = (run.fence, run.seq)
        if run.status in {Status.COMPLETED, Status.FAILED}:
            announce(run)
        return True


_SAVED = (
    "status",
    "current_node",
    "trace",
    "resume_callback",
    "reject_callback",
    "suspended_at",
    "completed_at",
    "data",
    "read_at",
    "is_complete",
    "final_state",
    "message",
    "sub_status",
    "seq",
    "lease_until",
    "available_at",
    "attempts",
)


class Overtaken(Exception):
    """Another worker has the run: roll back what this one did."""


def drive(run_id: UUID) -> None:
    """Bring a run as far as it goes without a person; safe to call at any time, any number of times."""
    for _turn in range(MAX_TURNS):
        try:
            chain = _begin(run_id)
            if chain is None:
                return
            while chain.is_slow and not chain._waits():
                _apply(chain, _slow(chain))
        except Overtaken:
            log.info("run %s was taken over", run_id)
            return


def _begin(run_id: UUID) -> Chain | None:
    run = TaskRun.objects.select_related("project", "skill").filter(pk=run_id).first()
    if run is None or run.status != Status.RUNNING:
        return None
    study = _study(run)
    with atomic():
        claimed = claim(run_id)
        if claimed is None:
            return None
        chain = Chain(claimed, study)
        if study is None and not chain.needs_data:
            chain.fault(_no_dictionary(), Retry(), "end_error")
        else:
            chain.run_local()
        if not chain.save():
            raise Overtaken
    return chain


def _study(run: TaskRun) -> Study | None:
    try:
        return Study.load(run.project)
    except (RedcapError, NotConfiguredError) as error:
        log.warning("no data dictionary for %s: %s", run.project.code, error)
        return None


def _no_dictionary() -> Fault:
    return Fault(_("The data dictionary could not be read."), transient=True)


def _slow(chain: Chain) -> Apply:
    """Do the network's part of the next step; what comes back is applied in a transaction."""
    run = chain.run
    if chain.needs_data:
        return _read(chain)
    node = chain.node
    try:
        verdict = soft.judge(node, run)
    except Fault as fault:
        problem = fault
        return lambda chain: chain.fault(problem, node.retry, node.target("on_error"))
    return lambda chain: soft.apply(chain, node, verdict)


def _read(chain: Chain) -> Apply:
    run = chain.run
    try:
        data = snapshot.read(run.project, run.record_id or "")
    except Fault as fault:
        problem = fault
        return lambda chain: chain.fault(problem, Retry(), "end_error")

    def apply(chain: Chain) -> None:
        snapshot.keep(chain.run, data)
        chain.journal.add("read", "read", "pass", {"complete": data.complete})

    return apply


def _apply(chain: Chain, result: Apply) -> None:
    if chain.study is None:
        chain.study = _study(chain.run)
    with atomic():
        # The row, not our copy of it, says whether the result may still be used.
        if still_ours(chain.run).update(updated_at=now()) != 1:
            raise Overtaken
        result(chain)
        if chain.study is None and not chain.needs_data and chain.run.status == Status.RUNNING:
            chain.fault(_no_dictionary(), Retry(), "end_error")
        else:
            chain.run_local()
        if not chain.save():
            raise Overtaken


def announce(run: TaskRun) -> None:
    """Tell the channels and the audit trail that a run ended."""
    audit.record(
        "run.end",
        actor="system",
        project=run.project,
        subject=run,
        record_id=run.record_id or "",
        new={"status": run.status, "final_state": run.final_state},
    )
    run_finished.send(sender=TaskRun, run=run)


def _end_finding(run: TaskRun) -> findings.Observation:
    return findings.Observation(
        rule_key=REVIEW_END,
        outcome="UNKNOWN",
        message=_("The check ended without a pass: a person has to look at it."),
        severity="warning",
        kind=findings.Kind.REVIEW_REQUIRED,
    )
