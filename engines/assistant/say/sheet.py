"""The sources of an answer, one a line, as a model chooses among them and as the renderer words them.

Form: contracts.md, "In a prompt".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum

from engines.assistant.read.question import Query, Question
from study.design import StudyDesign
from study.facts import Answer, Fact, Group


class Source(StrEnum):
    """The letter that the marks of a kind of line begin with."""

    FACT = "F"
    DOCUMENT = "D"
    REPORT = "W"
    MEMORY = "M"
    SESSION = "H"


_NONE = Answer()


@dataclass(frozen=True, slots=True)
class Scope:
    """The whole result that a line belongs to.

    `query`: what was asked of the study. `subjects`: all who were read. `count`: rows found, listed or not;
    `is_complete`: all of them are listed and every row was decided and read. `answer`: what the study gave.
    """

    query: Query
    subjects: tuple[str, ...]
    count: int
    is_complete: bool
    answer: Answer = _NONE


@dataclass(frozen=True, slots=True)
class Line:
    """One source. `mark` is F3, D1, W12a, M1 or H1, without brackets; `text` is what follows it in the prompt.

    `facts`: the typed content of [F] lines, () for a result's own line (`共 2 条,全部列出`) and for prose.
    `group`: what a figure is of, where it is one of several. `section`: of a document, its heading; of a
    report, its week. `lead`: the beginning that it shares with the `listed` items of its list. `day`: what the
    line is of, where it is dated. `is_newest`: nothing newer in the sources speaks of the same.
    `is_measure`: one of several things done against what is asked about, of which its first clause tells.
    """

    mark: str
    source: Source
    text: str
    facts: tuple[Fact, ...] = ()
    scope: Scope | None = None
    section: str = ""
    day: date | None = None
    is_newest: bool = True
    is_measure: bool = False
    group: Group | None = None
    lead: str = ""
    listed: int = 0


@dataclass(frozen=True, slots=True)
class Answered:
    """A question with the answers to its queries; `marks`: the lines of the sheet that hold them."""

    question: Question
    results: tuple[tuple[Query, Answer], ...]
    marks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sheet:
    """All sources of one answer.

    `answered`: the questions of data that are answered, in order. `subjects`: ids that the reader may see.
    `sites`: code to name.
    """

    lines: tuple[Line, ...]
    today: date
    design: StudyDesign
    answered: tuple[Answered, ...] = ()
    subjects: frozenset[str] = frozenset()
    sites: Mapping[str, str] = field(default_factory=dict)

    def line(self, mark: str) -> Line | None:
        """The line of a mark, None where there is none."""
        return next((line for line in self.lines if line.mark == mark), None)
