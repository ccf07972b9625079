"""What a message turned out to want: typed tasks, and what the next message may refer to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from engines.assistant.read.question import Question


class TaskKind(StrEnum):
    """Who handles a task."""

    DATA = "data"
    PASSAGE = "passage"
    HISTORY = "history"
    MEMORY = "memory"
    AGENDA = "agenda"
    ORDER = "order"
    ENTRY = "entry"
    TALK = "talk"
    REASON = "reason"
    ASK_BACK = "ask_back"


class OrderKind(StrEnum):
    """What somebody may order; only offline rules and confirmed buttons make one."""

    QC = "qc"
    REPORT = "report"
    REMEMBER = "remember"
    FORGET = "forget"
    FEEDBACK = "feedback"
    DECIDE = "decide"
    UNDO = "undo"


@dataclass(frozen=True, slots=True)
class Order:
    """An order. `is_sure`: the words are an order in imperative form; else it is proposed with one tap."""

    kind: OrderKind
    record_ids: tuple[str, ...] = ()
    is_sure: bool = True


@dataclass(frozen=True, slots=True)
class Nearest:
    """A reading that is offered: `label` as the reader sees it, `text`: the message that it stands for.

    `says`: what would be answered, where that is known already.
    """

    label: str
    text: str
    says: str = ""


@dataclass(frozen=True, slots=True)
class Unclear:
    """A word or clause that was not understood, with the readings nearest to it, best first."""

    word: str
    readings: tuple[Nearest, ...] = ()


@dataclass(frozen=True, slots=True)
class Task:
    """One task of a message.

    `said`: its part of the message. `question`: of DATA. `order`: of ORDER. `search`: the content words that
    passages, reports or memory are searched for. `weeks`: of HISTORY, the study's weeks that were named.
    `topic`: of TALK greet, thanks, help, again, last_question, off_topic, identifier, instructions,
    reminder; of MEMORY own, study; of AGENDA day, reviews; of PASSAGE project.
    `unclear`: of ASK_BACK. `carried`: words for what was taken over from the
    message before ("P005", "ALT"). `heard`: what was typed or heard of a
    subject's id, and the id. `by_model`: a model read it, so the answer says how.
    """

    kind: TaskKind
    said: str = ""
    question: Question | None = None
    order: Order | None = None
    search: str = ""
    weeks: tuple[int, ...] = ()
    topic: str = ""
    unclear: tuple[Unclear, ...] = ()
    carried: tuple[str, ...] = ()
    heard: tuple[tuple[str, str], ...] = ()
    by_model: bool = False


@dataclass(frozen=True, slots=True)
class State:
    """What a follow-up refers to: the last question, the subjects last named or found, the readings offered.

    `here`: the last question is of the same message, so that its site and days hold for what goes on.
    """

    last: Question | None = None
    subjects: tuple[str, ...] = ()
    offered: tuple[str, ...] = ()
    here: bool = False

    def as_json(self) -> dict[str, Any]:
        """For the session's store."""
        return {
            "last": self.last.as_json() if self.last else None,
            "subjects": list(self.subjects),
            "offered": list(self.offered),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> State:
        """What `as_json` gave."""
        last = data.get("last")
        return cls(
            Question.from_json(last) if last else None,
            tuple(data.get("subjects") or ()),
            tuple(data.get("offered") or ()),
        )


@dataclass(frozen=True, slots=True)
class Reading:
    """All tasks of a message in order, and what the next message may refer to.

    `record_ids`: every subject named, in order. `unread`: clauses that were not understood beside tasks that
    were; the reply says so.
    """

    tasks: tuple[Task, ...] = ()
    state: State = State()
    record_ids: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
