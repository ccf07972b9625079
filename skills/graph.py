"""The SOP flow graph (seed 001, 4.2; decisions.md, "end states"): the one source of its shape.

Checks on saving, the JSON Schema, the editor's help and the words of node types are made of these values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired, get_args

from annotated_types import Ge, Gt, Le, MaxLen, MinLen
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from pydantic import AfterValidator, BaseModel, Field, StringConstraints
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

DEFAULT_TARGETS = {
    "on_pass": "end_success",
    "on_approve": "end_success",
    "on_fail": "end_review_required",
    "on_error": "end_error",
    "on_reject": "end_rejected",
}


@dataclass(frozen=True)
class Kind:
    """A type of node: its label, its edges, and the other attributes that it needs and may have.

    One of `needs_one` must be there, too. What is needed is not empty; 0 is a value.
    """

    label: Promise
    edges: tuple[str, ...]
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    needs_one: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All attributes, in the order of the editor's help."""
        return (*self.needs, *self.needs_one, *self.takes, *self.edges)


KINDS = {
    "hard_rule": Kind(
        _("Hard rules"),
        edges=("on_pass", "on_fail", "on_error"),
        needs_one=("rules", "checks"),
        takes=("description",),
    ),
    "soft_instruction": Kind(
        _("Soft rule"),
        edges=("on_pass", "on_fail", "on_error"),
        needs=("instruction",),
        takes=(
            *("description", "tools", "threshold", "severity", "same_as", "section"),
            *("approve_label", "reject_label", "retry"),
        ),
    ),
    "human_review": Kind(
        _("Human review"),
        edges=("on_approve", "on_reject"),
        needs=("description",),
        takes=("reviewers", "approve_label", "reject_label", "on_error", "on_timeout"),
    ),
    "notify": Kind(
        _("Message"),
        edges=("on_pass",),
        needs=("content", "roles"),
        takes=("description", "days", "when_empty", "retry"),
    ),
}


def is_end(target: str) -> bool:
    """True for `end` and `end_*`."""
    return target == "end" or target.startswith("end_")


def _once(values: list[str]) -> list[str]:
    if len({*values}) < len(values):
        raise PydanticCustomError("doubled", "Something stands twice in the list.")
    return values


Key = Annotated[str, MinLen(1), MaxLen(100)]
Verb = Annotated[str, MinLen(1), MaxLen(10)]
Text = Annotated[str, MinLen(1)]
Word = Annotated[str, MinLen(1), MaxLen(100)]
Words = Annotated[list[Word], MaxLen(200)]
OfField = Field(json_schema_extra={"format": "field"})
"""Marks the name of a field, which the editor offers those of the dictionary for."""
FieldName = Annotated[str, MinLen(1), MaxLen(100), OfField]
Once = Field(json_schema_extra={"uniqueItems": True})
Section = Annotated[str, StringConstraints(pattern=r"^\d+(\.\d+)*$", max_length=20)]
Severity = Literal["error", "warning", "info"]
RoleName = Literal["PI", "CRC", "ADMIN"]
Hours = Annotated[float, Gt(0), Le(8760)]
Event = Literal["record_changed", "ae_added", "finding_opened"]
EVENTS: tuple[str, ...] = get_args(Event)
"""What can start a skill (decisions.md, "triggers")."""
AE_FORM = "ae"
"""The form of adverse events where a workflow that listens for them names none."""
CHECKS = {
    "required": _("Required field is blank"),
    "range": _("Value beyond the range of the dictionary"),
    "type": _("Value is not of the field's type"),
    "choice": _("Code is no choice of the field"),
    "hidden": _("Hidden field is filled"),
    "calc": _("Calculated field differs from its formula"),
    "consent": _("Procedure before consent"),
    "visit_window": _("Visit outside its window or missed"),
    "visit_order": _("Visits out of order"),
    "duplicate": _("Subject enrolled twice"),
    "lab_ae": _("Lab value far beyond its limit without an adverse event"),
    "ae_medication": _("Adverse event names a medication that no row holds"),
    "prohibited": _("Prohibited medication"),
}
"""What a standard check looks for; the keys stand in workflows and in the keys of findings."""
_TOLD = ("lab_ae", "ae_medication", "prohibited")
_PLAIN_CHECKS = (*(name for name in CHECKS if name not in _TOLD),)
StandardCheck = Annotated[
    str, StringConstraints(pattern=rf"^std\.({'|'.join(CHECKS)})\..+$", max_length=100)
]

if TYPE_CHECKING:
    TypeName = str
    Rule = dict[str, Any]
    Checks = dict[str, dict[str, Any]]
else:
    TypeName = Literal[tuple(KINDS)]

    class Rule(TypedDict):
        """A hard rule as it is written."""

        field: Annotated[Text, OfField]
        logic: Any
        message: Text
        id: NotRequired[Key]
        severity: NotRequired[Severity]
        same_as: NotRequired[StandardCheck]
        section: NotRequired[Section]

    class AeMedication(TypedDict, total=False):
        """Fields of the check whether a drug was given for an adverse event."""

        field: FieldName
        medication: FieldName

    class LabAe(TypedDict, total=False):
        """Limits and fields of the check whether a laboratory value was reported as adverse event."""

        times: Annotated[float, Ge(1), Le(1000)]
        days: Annotated[int, Ge(0), Le(365)]
        start: FieldName
        end: FieldName
        term: FieldName
        words: dict[str, Words]

    class Prohibited(TypedDict):
        """Names of the drugs that must not be given, and the field that tells them."""

        names: Words
        field: NotRequired[FieldName]

    class Report(TypedDict):
        """The field that holds when a serious event was reported, and the hours that are allowed."""

        field: FieldName
        hours: Annotated[int, Ge(1), Le(8760)]

    class SaeReport(TypedDict):
        """Which value of which field says that an event is serious, when it became known, and its reports."""

        serious: FieldName
        code: Word
        known: NotRequired[FieldName]
        reports: Annotated[dict[Literal["pi", "sponsor", "ethics"], Report], MinLen(1)]

    Checks = TypedDict(
        "Checks",
        {
            **dict.fromkeys(_PLAIN_CHECKS, Annotated[dict[str, Any], MaxLen(0)]),
            "lab_ae": LabAe,
            "ae_medication": AeMedication,
            "prohibited": Prohibited,
            "sae_report": SaeReport,
        },
        total=False,
    )


class Retry(BaseModel):
    """How often and after how many seconds a node that met a transient fault is tried again."""

    times: Annotated[int, Ge(0), Le(10)] = 3
    wait_s: Annotated[int, Ge(0), Le(86400)] = 60


class Timeout(BaseModel):
    """When a waiting review is brought to mind, and when to the administrators."""

    remind_hours: Hours | None = None
    escalate_hours: Hours | None = None


class Node(BaseModel):
    """One node; which attributes it has depends on its type (`KINDS`)."""

    type: TypeName
    description: str = ""
    rules: Annotated[list[Rule], MinLen(1)] = Field(default_factory=list)
    checks: Annotated[Checks, MinLen(1)] = Field(
        default_factory=dict, json_schema_extra={"minProperties": 1}
    )
    instruction: Annotated[str, MinLen(1), MaxLen(4000)] = ""
    tools: Annotated[list[str], AfterValidator(_once), Once] = Field(default_factory=list)
    threshold: Annotated[float, Ge(0), Le(1)] | None = None
    severity: Severity = "error"
    retry: Retry = Field(default_factory=Retry)
    same_as: StandardCheck = ""
    section: Section = ""
    approve_label: Verb = ""
    reject_label: Verb = ""
    reviewers: Annotated[list[RoleName], MinLen(1)] = ["CRC"]
    on_timeout: Timeout = Field(default_factory=Timeout)
    content: Literal["daily_briefing", "visit_reminder", "weekly_report"] = "daily_briefing"
    roles: Annotated[list[RoleName], MinLen(1), AfterValidator(_once), Once] = Field(
        default_factory=list
    )
    days: Annotated[int, Ge(0), Le(60)] = 3
    when_empty: Literal["say", "silent"] | None = None
    on_pass: Key = ""
    on_fail: Key = ""
    on_error: Key = ""
    on_approve: Key = ""
    on_reject: Key = ""

    def target(self, edge: str) -> str:
        """Where `edge` (on_pass, on_fail, …) leads; the documented default where the graph is silent."""
        return getattr(self, edge) or DEFAULT_TARGETS[edge]

    def edges(self) -> dict[str, str]:
        """Every edge of this node with its target."""
        return {edge: self.target(edge) for edge in KINDS[self.type].edges}


class Graph(BaseModel):
    """A flow graph. `Graph.model_validate(skill.config)` after validation never fails.

    `catch_up` says which due times that passed unnoticed a schedule makes up for; `urgent` messages wait
    for no best time, quiet hours or holiday.
    """

    name: Annotated[str, MaxLen(200)] = ""
    start_node: Key
    nodes: Annotated[dict[Key, Node], MinLen(1), MaxLen(100)]
    match: Annotated[list[Text], MaxLen(50)] = Field(default_factory=list)
    event: Event | None = None
    event_form: str = ""
    event_field: Annotated[str, OfField] = ""
    max_steps: Annotated[int, Ge(1), Le(500)] = 100
    catch_up: Literal["latest", "all", "none"] = "latest"
    urgent: bool = False


@cache
def schema() -> dict[str, Any]:
    """The JSON Schema of a configuration, with the attributes of each type of node by its name in $defs."""
    whole = Graph.model_json_schema()
    shapes = whole["$defs"]
    attributes = shapes.pop("Node")["properties"]
    for shape in (whole, *shapes.values()):
        shape["additionalProperties"] = False
    for name, kind in KINDS.items():
        shapes[name] = {
            "properties": {"type": True} | {one: attributes[one] for one in kind.names},
            "required": [*kind.needs],
            "additionalProperties": False,
        }
        if kind.needs_one:
            shapes[name]["anyOf"] = [{"required": [one]} for one in kind.needs_one]
    whole["properties"]["nodes"]["additionalProperties"] = {
        "type": "object",
        "required": ["type"],
        "properties": {"type": {"enum": [*KINDS]}},
        "allOf": [_of_kind(name) for name in KINDS],
    }
    return whole


def _of_kind(name: str) -> dict[str, Any]:
    return {
        "if": {"properties": {"type": {"const": name}}},
        "then": {"$ref": f"#/$defs/{name}"},
    }


def misplaced(given: dict[str, Any]) -> Sequence[tuple[str, str]]:
    """(name, kind of error) of what a node of a known type misses, has empty, or does not have."""
    kind = KINDS[given["type"]]
    others = Node.model_fields.keys() - {"type", *kind.names}
    found = [(name, "extra_forbidden") for name in given if name in others]
    found += [
        (name, "too_short" if name in given else "missing")
        for name in kind.needs
        if given.get(name) in (None, "", [], {})
    ]
    if kind.needs_one and not any(name in given for name in kind.needs_one):
        found.append((kind.needs_one[0], "missing"))
    return found
