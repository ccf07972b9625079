"""The sheet of sources for a question, from the demo study of 2026-11-23, anywhere: in a test or a script.

A process of its own holds the study; what was made once is remembered.

    sheet("wanghushi", "P016最近三次ALT").lines
"""

from __future__ import annotations

import atexit
import os
import pickle
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import IO, Any

from engines.assistant.lines.types import Sheet

TODAY = "2026-11-23"
ROOT = Path(__file__).parents[2]


def sheet(user: str, text: str, before: tuple[str, ...] = ()) -> Sheet:
    """What a model is shown for the (first) task of a question; `before`: what was asked in the same talk."""
    return sheets(user, text, before)[0]


@cache
def sheets(user: str, text: str, before: tuple[str, ...] = ()) -> tuple[Sheet, ...]:
    """One for each task of a message that has sources."""
    house = _house()
    pickle.dump((user, text, before), _pipe(house.stdin))
    _pipe(house.stdin).flush()
    found: tuple[Sheet, ...] = pickle.load(_pipe(house.stdout))
    return found


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None
    return stream


@cache
def _house() -> subprocess.Popen[bytes]:
    house = subprocess.Popen(
        [sys.executable, "-m", "tests.support.sheets"],
        cwd=ROOT,
        env=os.environ | {"DEMO_TODAY": TODAY},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    atexit.register(house.kill)
    return house


def _serve() -> None:
    """Read questions, write sheets, until there are no more."""
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    sys.stdout = sys.stderr
    from bench._demo import study

    with study():
        while True:
            try:
                asked = pickle.load(sys.stdin.buffer)
            except EOFError:
                return
            pickle.dump(_made(*asked), out)
            out.flush()


def _made(user: str, text: str, before: tuple[str, ...]) -> tuple[Sheet, ...]:
    from django.core.cache import cache as store
    from django.utils import translation

    from engines.assistant.chat import answer_message
    from projects.models import Member, Person

    store.clear()
    person = Person.objects.by_userid(user)
    assert person is not None
    member = Member.objects.select_related("project", "person__user").get(person=person)
    for said in before:
        answer_message(person=person, text=said)
    with translation.override(member.language):
        return tuple(_of_message(member, text))


def _of_message(member: Any, text: str) -> list[Sheet]:
    from django.utils.timezone import now

    from engines.assistant.chat import (
        materials,
        questions,
        service,
        sources,
    )
    from engines.assistant.chat.handlers import (
        history,
        project,
        protocol,
        visit_plan,
    )
    from engines.assistant.chat.prepare import prepare
    from engines.assistant.context import HISTORY_TASKS
    from memory.reports.history import book

    readers = {
        "query_protocol": protocol.read,
        "project_info": project.read,
        "visit_window": visit_plan.read,
    }
    turn, found = prepare(member.project, member, text, now()), []
    for task in questions.tasks(turn, service._parts(turn)):
        own = [query for one in (task.found.asked if task.found else ()) for query in one.queries]
        more = materials.beside(turn, task.part, task.found)
        answers, beside = materials.read_with(turn, own, more)
        reader = readers.get(task.part.intent) if task.found is None else None
        read = [reader(turn, task.part)] if reader else []
        is_past = task.found is None and task.part.intent in HISTORY_TASKS
        counted = history.counted(turn, task.part) if is_past else []
        pages = book(turn.project, turn.member, scope=turn.scope)
        shown = (
            {page.name: page.text for page in pages} if task.part.intent in HISTORY_TASKS else {}
        )
        made = sources.sheet(
            turn,
            task.part,
            asked=[*zip(own, answers, strict=True), *counted],
            beside=beside,
            read=read,
            pages=shown,
        )
        found.append(made)
    return found


if __name__ == "__main__":
    _serve()
