"""Models that fill `ask` by a script, rightly and with one slot wrong, and what the reading makes of them.

Offline, on the demo study: a reading is right where the study's answer holds all that it answers to the right
object, and tells of nobody else; wrong where it is another, and else asked back. What is searched for in the
documents without being sure counts as asked back. A bad model: `tests/assistant/say/test_bad_planner.py`.
"""

from __future__ import annotations

import copy
import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

from engines.assistant.read import ask
from engines.assistant.read.build import Refused
from engines.assistant.read.queries import queries
from engines.assistant.read.question import Question, Topic
from engines.assistant.read.read import read
from engines.assistant.read.scan import scan
from engines.assistant.read.setting import Setting
from engines.assistant.read.task import Reading, State, TaskKind
from study.facts import Kind
from study.query.errors import QueryError
from tests.answers.judge import Sort
from tests.answers.model import recorded
from tests.assistant.read.asks import GOLD, cases, mutated, setting
from tests.study.query.studies import Study, demo

Json = dict[str, Any]
Fact: TypeAlias = tuple[str, str, str, str, str]
"""kind, subject, field, place, text."""


@dataclass(frozen=True, slots=True)
class Scripted:
    """A message read with a scripted object; `slot`: which one was wrong, "" for none."""

    case: Json
    slot: str
    sort: Sort
    told: str
    called: bool


def perfect() -> Iterator[Scripted]:
    """All gold cases with their own object."""
    for case in cases(GOLD):
        yield _played(case, "", case["ask"]["tasks"])


def noisy(stride: int = 1) -> Iterator[Scripted]:
    """Every mutation of one slot of the gold cases that a perfect model gets right, each `stride`-th of them.

    Where the model is not asked, because the grammar has read the message, its noise does no harm.
    """
    chance = random.Random(29)
    right = [row.case for row in perfect() if row.sort is Sort.USEFUL]
    made = (
        (case, slot, tasks)
        for case in right
        for slot, tasks in mutated(case["ask"]["tasks"], setting(GOLD, case["user"]), chance)
    )
    for at, (case, slot, tasks) in enumerate(made):
        if at % stride == 0:
            yield _played(case, slot, tasks)


def replayed() -> Iterator[Scripted]:
    """The recorded objects of a capable model with one slot wrong, beside what each is read as itself.

    Messages whose subjects were masked are left out: here nobody puts their ids back.
    """
    known, chance = setting(GOLD, ""), random.Random(31)
    for row in recorded().values():
        if not row.get("said") or "[" in row["said"]:
            continue
        tasks = json.loads(row["content"]).get("tasks") or []
        case = {"text": row["said"], "user": "", "ask": {"tasks": tasks}}
        if not tasks or not _is_right(case):
            continue
        for slot, turned in mutated(tasks, known, chance):
            yield _played(case, slot, turned)


def _is_right(case: Json) -> bool:
    """Whether a case's own object is read as it means; what the study refuses is not."""
    try:
        return _played(case, "", case["ask"]["tasks"]).sort is Sort.USEFUL
    except (Refused, QueryError):
        return False


def reported(title: str, rows: Sequence[Scripted], *, least: float, most: float) -> bool:
    """Print what came of them, with the wrong ones; whether enough is right and little enough wrong."""
    print(f"--- {title}", flush=True)
    for row in rows:
        if row.sort is Sort.WRONG or (not row.slot and row.sort is not Sort.USEFUL):
            slot = f" ({row.slot})" if row.slot else ""
            print(f"{row.sort.upper()} {row.case['text']}{slot}\n    {row.told[:220]}")
    slots = Counter((row.slot, row.sort) for row in rows)
    for slot in sorted({row.slot for row in rows if row.slot}):
        counts = "  ".join(f"{sort} {slots[slot, sort]}" for sort in Sort if slots[slot, sort])
        print(f"{slot:<20} {counts}")
    sorts = Counter(row.sort for row in rows)
    useful, wrong = (sorts[sort] / max(len(rows), 1) for sort in (Sort.USEFUL, Sort.WRONG))
    passed = useful >= least and wrong <= most
    print(
        f"{title}: {len(rows)} cases, a model called in {sum(row.called for row in rows)}; right "
        f"{sorts[Sort.USEFUL]} ({useful:.1%}), asked back {sorts[Sort.ASKED_BACK]}, wrong "
        f"{sorts[Sort.WRONG]} ({wrong:.1%}); wanted right >= {least:.0%}, wrong <= {most:.0%}: "
        f"{'reached' if passed else 'NOT REACHED'}\n",
        flush=True,
    )
    return passed


def _played(case: Json, slot: str, tasks: list[Json]) -> Scripted:
    known = setting(GOLD, case["user"])
    asked: list[str] = []

    def call(_system: str, user: str, _schema: Mapping[str, Any]) -> Json:
        asked.append(user)
        return {"tasks": copy.deepcopy(tasks)}

    found = read(case["text"], known, State(), call)
    site = known.own_site
    got = [one for task in found.tasks for one in _told(task.question, task.kind, known, site)]
    wanted = _wanted(case, known)
    return Scripted(case, slot, _sort(found, got, wanted), _shown(found), bool(asked))


def _sort(found: Reading, got: Sequence[Fact], wanted: Sequence[Fact]) -> Sort:
    kinds = {task.kind for task in found.tasks}
    have, want = {*got}, {*wanted}
    people = {one[1] for one in have} - {one[1] for one in want}
    if want <= have and not people and not (have - want and not want):
        return Sort.USEFUL
    is_open = bool(kinds & {TaskKind.ASK_BACK, TaskKind.PASSAGE}) or not kinds or found.unread
    return Sort.ASKED_BACK if is_open else Sort.WRONG


def _wanted(case: Json, known: Setting) -> list[Fact]:
    """What the study answers to the right object, else which kind of task it is."""
    told: list[Fact] = []
    said = tuple(scan(case["text"], known))
    for item in ask.parse(case["ask"]) or ():
        if item.task in ask.OTHERS:
            told.append((item.task, "", "", "", ""))
        else:
            asked = ask.Asked(known, State(), said, case["text"])
            told += _told(ask.question_of(item, asked), TaskKind.DATA, known, known.own_site)
    return told


def _told(question: Question | None, kind: TaskKind, known: Setting, site: str) -> list[Fact]:
    """What the study answers to a question, in short."""
    if question is None:
        return [] if kind is TaskKind.ASK_BACK else [(_NAMES[kind], "", "", "", "")]
    if question.topic in (Topic.DICTIONARY, Topic.ELIGIBILITY):
        return [(question.topic, "", " ".join(question.select), "", "")]
    found: list[Fact] = []
    for query in queries(question, known):
        answer = _asked(json.dumps(query, sort_keys=True), site)
        found += answer or [("nothing", "", str(query.get("select")), "", "")]
    return found


@cache
def _asked(query: str, site: str) -> list[Fact]:
    whole = demo()
    seen = Study(whole.design, [r for r in whole.records if not site or r.site == site])
    answer = seen.ask(**json.loads(query))
    groups = [(g.by, g.value) for g in answer.groups]
    rows = [
        (f.kind, f.subject, f.field, f"{f.event} {f.instance}", f.text)
        for f in answer.facts
        if f.kind is not Kind.SUBJECTS
    ]
    people = [("people", f.subject, "", "", "") for f in answer.facts if f.subject]
    return [*rows, *people, *(("group", "", str(by), "", str(value)) for by, value in groups)]


def _shown(found: Reading) -> str:
    return " ".join(
        str(task.question.as_json() if task.question else task.kind) for task in found.tasks
    )


_NAMES = {
    TaskKind.PASSAGE: "protocol",
    TaskKind.HISTORY: "history",
    TaskKind.MEMORY: "memory",
    TaskKind.AGENDA: "agenda",
    TaskKind.REASON: "reason",
    TaskKind.ENTRY: "entry",
    TaskKind.TALK: "talk",
    TaskKind.ORDER: "order",
}
