"""The sources of an answer, one a line, as the model reads them and as the verifier judges by them.

Form: contracts.md, "In a prompt"; what is done with them: design.md 5a.5.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum

from engines.assistant.understand.types import Query
from study.design import StudyDesign
from study.facts import Fact


class Source(StrEnum):
    """The letter that the marks of a kind of line begin with."""

    FACT = "F"
    DOCUMENT = "D"
    REPORT = "W"
    MEMORY = "M"
    SESSION = "H"


@dataclass(frozen=True, slots=True)
class Scope:
    """The whole result that a line belongs to, which claims of number and absence hang on.

    `query`: what was asked of the study. `subjects`: all who were read. `count`: rows found, listed or not;
    `is_complete`: all of them are listed and every row was decided and read.
    """

    query: Query
    subjects: tuple[str, ...]
    count: int
    is_complete: bool


@dataclass(frozen=True, slots=True)
class Line:
    """One source. `mark` is F3, D1, W12a, M1 or H1, without brackets; `text` is what follows it in the prompt.

    `facts`: the typed content of [F] lines, () for a result's own line (`共 2 条,全部列出`), for today's
    date and for all that is prose. `section`: of a document, its heading; of a report, its week. `day`: what
    the line is of, where it is dated. `is_newest`: nothing newer in the sources speaks of the same.
    """

    mark: str
    source: Source
    text: str
    facts: tuple[Fact, ...] = ()
    scope: Scope | None = None
    section: str = ""
    day: date | None = None
    is_newest: bool = True


@dataclass(frozen=True, slots=True)
class Sheet:
    """All sources of one answer and what its words may mean.

    `subjects`: ids that the reader may see. `sites`: code to name. `terms`: names of fields in the
    reader's study (mapping, synonyms) to the field. `question`: what was asked, as the reader typed it.
    `own`: the marks of what was read for this very question, which an answer has to rest on; `asked`: of
    the answers to its own queries.
    """

    lines: tuple[Line, ...]
    question: str
    today: date
    design: StudyDesign
    subjects: frozenset[str] = frozenset()
    sites: Mapping[str, str] = field(default_factory=dict)
    terms: Mapping[str, str] = field(default_factory=dict)
    own: frozenset[str] = frozenset()
    asked: frozenset[str] = frozenset()

    def line(self, mark: str) -> Line | None:
        """The line of a mark, None where the model made it up."""
        return next((line for line in self.lines if line.mark == mark), None)
