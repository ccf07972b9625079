"""What a decision causes, said before it is taken: where the run goes, and what becomes of its findings."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from engines import labels
from engines.models import Review
from skills.graph import Graph, is_end

MOST_SIGNS = 24
"""Of an instruction on a button."""


@dataclass(frozen=True)
class Consequences:
    """One sentence for each button."""

    approve: str
    reject: str


def consequences(review: Review, findings: int) -> Consequences:
    """Of an open review that is about `findings` open findings (`Chain.settle`)."""
    run = review.task_run
    graph = Graph.model_validate(run.config)
    approved = _goes_to(graph, run.resume_callback or "")
    rejected = _goes_to(graph, run.reject_callback or "")
    if not findings:
        return Consequences(approved, rejected)
    closes = ngettext("closes %d finding", "closes %d findings", findings) % findings
    keeps = ngettext(
        "%d finding stays open as confirmed", "%d findings stay open as confirmed", findings
    )
    return Consequences(_both(approved, closes), _both(rejected, keeps % findings))


def _both(first: str, second: str) -> str:
    return _("%(first)s; %(second)s") % {"first": first, "second": second}


def _goes_to(graph: Graph, target: str) -> str:
    if is_end(target):
        return _("ends the run: %s") % labels.name(labels.ENDS, target)
    node = graph.nodes.get(target)
    if node is None:
        return _("the run goes on")
    what = node.description or Truncator(node.instruction).chars(MOST_SIGNS)
    return _("the run goes on: %s") % (what or labels.name(labels.NODES, node.type))
