"""What the engine gives to a node, and what it takes back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from engines.models import TaskRun
from engines.sop.errors import Fault, Postponed
from engines.sop.findings import Observation
from engines.sop.study import Study
from skills.graph import Node


@dataclass(frozen=True)
class Visit:
    """A run at one of its nodes; `study` is None where the dictionary could not be read.

    Slow work calls `keep_alive` before each call to the outside.
    """

    node: Node
    run: TaskRun
    study: Study | None
    keep_alive: Callable[[], None]


@dataclass(frozen=True)
class Done:
    """The node is done and its run follows `edge`; `result` is kept in the journal.

    `notices`: payloads of the events `notice_ready`. `message`: what a rehearsal tells.
    """

    edge: str
    result: Any = None
    observations: Sequence[Observation] = ()
    notices: Sequence[dict[str, Any]] = ()
    message: str = ""


@dataclass(frozen=True)
class Question:
    """A person is asked `text`; approval and rejection follow `edges`. `open_keys`: what it is about."""

    text: str
    edges: tuple[str, str]
    result: Any = None
    observations: Sequence[Observation] = ()
    open_keys: Sequence[str] = ()


Outcome = Done | Question | Fault | Postponed


@dataclass(frozen=True)
class Skipped:
    """What a rehearsal says of a node instead of visiting it; without an `edge` it stops there."""

    outcome: str
    message: str = ""
    edge: str = ""


@dataclass(frozen=True)
class NodeType:
    """How nodes of one type work.

    `work` stores nothing and raises Fault or Postponed; where `is_slow` it asks the network, and no transaction
    is open. `rehearse` gives the node that a rehearsal visits (with or without asking a model), or what is said
    instead.
    """

    work: Callable[[Visit], Done | Question]
    is_slow: bool = False
    rehearse: Callable[[Node, bool], Node | Skipped] = lambda node, _asks_llm: node
