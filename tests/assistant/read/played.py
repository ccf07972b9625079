"""Messages read clause by clause as a session would, over the demo study and the small one."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from functools import cache
from typing import Any

from core.rules.context import Kind
from engines.assistant.read.grammar import fast, split
from engines.assistant.read.queries import queries
from engines.assistant.read.question import Topic
from engines.assistant.read.setting import Setting, setting_of
from engines.assistant.read.task import State, Task
from tests.assistant import studies

TODAY = date(2026, 11, 23)


@cache
def demo() -> Setting:
    """The demo study with what stands in its free texts."""
    design, known = studies.demo()
    records = json.loads((studies.DEMO / "redcap/records.json").read_text(encoding="utf-8"))
    texts = [
        n
        for n, c in design.context.columns.items()
        if c.kind is Kind.TEXT and n not in design.hidden
    ]
    terms = {n: {str(row["values"].get(n) or "") for row in records} - {""} for n in texts}
    return setting_of(
        design=design, today=TODAY, terms={n: t for n, t in terms.items() if t}, **known
    )


@cache
def small() -> Setting:
    """A study without visits and sites."""
    design, known = studies.small()
    return setting_of(design=design, today=TODAY, **known)


def of_site(setting: Setting, site: str) -> Setting:
    """The same for a member of one site, who knows of no other."""
    sites = {site: setting.sites[site]}
    known: dict[str, Any] = {"subjects": setting.subjects, "pattern": setting.pattern}
    return setting_of(
        design=setting.design, today=TODAY, sites=sites, own_site=site, terms=setting.terms, **known
    )


def play(
    message: str, setting: Setting, state: State | None = None
) -> tuple[list[Task], State, list[str]]:
    """The tasks of a message, what the next one may refer to, and the clauses that were not read."""
    state = replace(state or State(), here=False)
    whole = fast(message, setting, state)
    parts = [message] if whole else split(message)
    tasks, left = list[Task](), list[str]()
    for part in parts:
        task = fast(part, setting, state)
        if task is None:
            left.append(part)
        else:
            tasks.append(task)
            state = _after(state, task)
    return tasks, State.from_json(json.loads(json.dumps(state.as_json()))), left


def _after(state: State, task: Task) -> State:
    if task.question is None:
        return State()
    if task.question.topic is Topic.DICTIONARY:
        return replace(state, offered=())
    return State(task.question, task.question.subjects, here=True)


def asked(message: str, setting: Setting) -> list[dict[str, Any]] | None:
    """The queries of the last of some messages apart by |; None where some clause was not read."""
    state, tasks = State(), list[Task]()
    for turn in message.split("|"):
        tasks, state, left = play(turn, setting, state)
        if left:
            return None
    return [q for task in tasks if task.question for q in queries(task.question, setting)]
