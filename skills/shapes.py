"""What a drawn workflow is made of; sizes in pixels."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

WIDTH, HEIGHT = 190, 52
PASS = 40
"""The room that a long edge takes between boxes."""
KEY_ROOM, KIND_ROOM = 24, 28

KINDS: dict[str, Promise] = {
    "hard_rule": _("Hard rules"),
    "soft_instruction": _("Soft rule"),
    "human_review": _("Human review"),
    "notify": _("Message"),
}
ENDS: dict[str, Promise] = {
    "end": _("Ended"),
    "end_success": _("Passed"),
    "end_with_violation": _("Ended with a violation"),
    "end_review_required": _("Ended, review required"),
    "end_rejected": _("Rejected"),
    "end_error": _("Ended with an error"),
    "cancelled": _("Cancelled"),
}
NAMES: dict[str, Promise] = {
    "on_pass": _("passed"),
    "on_fail": _("not passed"),
    "on_error": _("error"),
    "on_approve": _("approved"),
    "on_reject": _("rejected"),
}


@dataclass(frozen=True)
class Edge:
    """`is_stated`: written in the configuration, not its documented default."""

    name: str
    target: str
    is_stated: bool

    @property
    def label(self) -> str:
        """The edge's name for the reader."""
        return str(NAMES.get(self.name, self.name))

    @property
    def is_worth_a_line(self) -> bool:
        """An error that goes where all errors go is left to the list."""
        return self.is_stated or self.name != "on_error"


@dataclass
class Box:
    """A node, an end, or a target that is missing; x and y of its upper left corner in pixels.

    `name`: what people call it.
    """

    key: str
    kind: str
    name: str
    edges: list[Edge] = field(default_factory=list)
    is_start: bool = False
    is_bad: bool = False
    layer: int = 0
    x: float = 0
    y: float = 0
    width: float = WIDTH
    above: list[Box | Bend] = field(default_factory=list)

    @property
    def middle(self) -> float:
        """Where its centre line stands."""
        return self.x + self.width / 2

    @property
    def title(self) -> str:
        """What the node is called, cut to the box."""
        return cut(self.name, KEY_ROOM)

    @property
    def subtitle(self) -> str:
        """The kind of the node."""
        return cut(str(KINDS.get(self.kind, self.kind)), KIND_ROOM)


@dataclass(frozen=True)
class Line:
    """A drawn edge: an SVG path and where its label stands."""

    edge: Edge
    path: str
    x: float
    y: float


@dataclass(frozen=True)
class Drawing:
    """Everything the template needs; width and height in pixels."""

    boxes: list[Box]
    lines: list[Line]
    width: float
    height: float

    @property
    def nodes(self) -> list[Box]:
        """The boxes that have edges, for the list."""
        return [box for box in self.boxes if box.edges]


@dataclass
class Bend:
    """Where a long edge passes a layer between others."""

    layer: int
    above: list[Box | Bend] = field(default_factory=list)
    x: float = 0
    width: float = PASS

    @property
    def middle(self) -> float:
        """Where its centre line stands."""
        return self.x + self.width / 2


def title(key: str, node: Any) -> str:
    """What people call a node: an end and a review by what they are, others as described, else by their kind.

    A target that is missing has only its key.
    """
    if key in ENDS:
        return str(ENDS[key])
    given: dict[str, Any] = node if isinstance(node, dict) else {}
    kind, described = given.get("type"), given.get("description")
    named = str(KINDS[kind]) if isinstance(kind, str) and kind in KINDS else ""
    if kind == "human_review" or not (isinstance(described, str) and described.strip()):
        return named or key
    return described


def cut(text: str, room: int) -> str:
    """`text` in at most `room` half-width places: a Chinese sign takes two."""
    return "".join(_fitting(text, room))


def _fitting(text: str, room: int) -> Iterator[str]:
    for sign in text:
        room -= 2 if unicodedata.east_asian_width(sign) in "WF" else 1
        if room < 0:
            yield "…"
            return
        yield sign
