"""The SOP flow graph as typed values (seed 001, 4.2; decisions.md, "end states")."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

DEFAULT_TARGETS = {
    "on_pass": "end_success",
    "on_approve": "end_success",
    "on_fail": "end_review_required",
    "on_error": "end_error",
    "on_reject": "end_rejected",
}
EDGES: dict[str, tuple[str, ...]] = {
    "hard_rule": ("on_pass", "on_fail", "on_error"),
    "soft_instruction": ("on_pass", "on_fail", "on_error"),
    "human_review": ("on_approve", "on_reject"),
    "notify": ("on_pass",),
}


def is_end(target: str) -> bool:
    """True for `end` and `end_*`."""
    return target == "end" or target.startswith("end_")


class Retry(BaseModel):
    """How often and after how many seconds a node that met a transient fault is tried again."""

    times: int = 3
    wait_s: int = 60


class Timeout(BaseModel):
    """When a waiting review is brought to mind, and when to the administrators."""

    remind_hours: float | None = None
    escalate_hours: float | None = None


class Node(BaseModel):
    """One node; which attributes it has depends on its type (skills/sop.schema.json)."""

    model_config = ConfigDict(extra="ignore")

    type: Literal["hard_rule", "soft_instruction", "human_review", "notify"]
    description: str = ""
    rules: list[dict[str, Any]] = Field(default_factory=list)
    checks: dict[str, dict[str, Any]] = Field(default_factory=dict)
    instruction: str = ""
    tools: list[str] = Field(default_factory=list)
    threshold: float | None = None
    severity: str = "error"
    retry: Retry = Field(default_factory=Retry)
    reviewers: list[str] = Field(default_factory=lambda: ["CRC"])
    on_timeout: Timeout = Field(default_factory=Timeout)
    content: str = ""
    roles: list[str] = Field(default_factory=list)
    days: int = 3
    when_empty: Literal["say", "silent"] | None = None
    on_pass: str | None = None
    on_fail: str | None = None
    on_error: str | None = None
    on_approve: str | None = None
    on_reject: str | None = None

    def target(self, edge: str) -> str:
        """Where `edge` (on_pass, on_fail, …) leads; the documented default where the graph is silent."""
        return getattr(self, edge) or DEFAULT_TARGETS[edge]

    def edges(self) -> dict[str, str]:
        """Every edge of this node with its target."""
        return {edge: self.target(edge) for edge in EDGES[self.type]}


class Graph(BaseModel):
    """A flow graph. `Graph.model_validate(skill.config)` after validation never fails.

    `catch_up` says which due times that passed unnoticed a schedule makes up for; `urgent` messages wait
    for no best time, quiet hours or holiday.
    """

    model_config = ConfigDict(extra="ignore")

    name: str = ""
    start_node: str
    nodes: dict[str, Node]
    match: list[str] = Field(default_factory=list)
    event: str | None = None
    event_form: str = ""
    event_field: str = ""
    max_steps: int = 100
    catch_up: Literal["latest", "all", "none"] = "latest"
    urgent: bool = False
