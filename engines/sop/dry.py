"""A dry run: what a workflow would do with a subject, without leaving a trace (issue B, "dry run")."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from engines.models import TaskRun
from engines.sop import snapshot
from engines.sop.chain import ERROR_END, never_clean
from engines.sop.errors import Fault, NoSuchSubject, Postponed
from engines.sop.findings import Observation
from engines.sop.nodes import NODES, execute
from engines.sop.nodes.base import Question, Skipped
from engines.sop.study import Study
from projects.models import Member, Project
from skills.graph import Graph, Node, is_end
from study import records
from study.blinding import mask
from study.records import RecordData

ACTOR = "dry_run"


@dataclass(frozen=True)
class DryStep:
    """One node: its outcome, what it said, and where the run would go ("": it would stop here), by which edge.

    `outcome` is pass, fail or error as in the journal, or one of `would_ask_person`, `would_ask_llm`
    (it was not asked), `would_notify` and `postponed` (no tokens left today).
    """

    node: str
    kind: str
    outcome: str
    message: str = ""
    target: str = ""
    edge: str = ""
    observations: tuple[Observation, ...] = ()


@dataclass
class DryRun:
    """The way through the graph. `end` is "" where the run would stop before an end.

    `is_complete`: REDCap showed all data.
    """

    steps: list[DryStep] = field(default_factory=list)
    end: str = ""
    message: str = ""
    is_complete: bool = False

    @property
    def would_suspend(self) -> bool:
        """Whether a person would be asked at the last step."""
        return self.steps[-1].outcome == "would_ask_person"

    @property
    def observations(self) -> list[Observation]:
        """What all nodes said about the subject, in order, passes included."""
        return [seen for step in self.steps for seen in step.observations]


def dry_run(
    *,
    project: Project,
    config: dict[str, Any],
    record_id: str,
    member: Member | None = None,
    ask_llm: bool = False,
) -> DryRun:
    """Walk a validated `config` over the subject as it is now; no run, finding, audit entry or message.

    It stops where a person would be asked, and at a soft node that is not asked: how it would judge is not
    assumed. With `ask_llm` soft nodes are asked, with their read-only tools; only the usage is booked then.
    Raises NoSuchSubject (also for a subject `member` may not see), RedcapError, NotConfiguredError.
    """
    data = records.read_record(project=project, record_id=record_id, member=member)
    if data is None:
        raise NoSuchSubject(_("There is no such subject."), transient=False)
    return walk(project=project, config=config, data=data, member=member, ask_llm=ask_llm)


def walk(
    *,
    project: Project,
    config: dict[str, Any],
    data: RecordData,
    member: Member | None = None,
    ask_llm: bool = False,
) -> DryRun:
    """As `dry_run`, over a subject that was read before. Raises RedcapError without a dictionary."""
    # Never saved: the nodes take their data from a run.
    run = TaskRun(
        project=project,
        record_id=data.record_id,
        triggered_by=member.identity if member else ACTOR,
        config=config,
        unblinds=not mask.mask_of_member(project, member or Member(project=project)).fields,
    )
    snapshot.keep_in_run(run, data)
    study, graph = Study.load(project), Graph.model_validate(config)
    done, key = DryRun(is_complete=run.is_complete), graph.start_node
    while len(done.steps) < graph.max_steps:
        step = _visit(run, study, key, graph.nodes[key], ask_llm)
        done.steps.append(step)
        if not step.target or is_end(step.target):
            done.end, done.message = step.target, run.message
            return done
        key = step.target
    done.end = ERROR_END
    done.message = _("The run was stopped after %d steps.") % graph.max_steps
    return done


def _visit(run: TaskRun, study: Study, key: str, node: Node, ask_llm: bool) -> DryStep:
    def step(outcome: str, message: str, edge: str = "", seen: Any = ()) -> DryStep:
        target = never_clean(run, node.target(edge), edge) if edge else ""
        return DryStep(key, node.type, outcome, message, target, edge, tuple(seen))

    visited = NODES[node.type].rehearse(node, ask_llm)
    if isinstance(visited, Skipped):
        return step(visited.outcome, visited.message, visited.edge)
    came = execute(visited, run, study)
    if isinstance(came, Fault):
        return step("error", str(came), "on_error")
    if isinstance(came, Postponed):
        return step("postponed", str(came))
    if isinstance(came, Question):
        return step("would_ask_person", came.text, seen=came.observations)
    return step(came.edge.removeprefix("on_"), came.message, came.edge, came.observations)
