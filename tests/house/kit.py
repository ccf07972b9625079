"""Studies, people and threads for the tests of the house."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import date
from typing import Any

from django.contrib.auth.models import User
from django.db import connections
from django.utils.timezone import now

from core.house.db import atomic
from projects.models import Member, Person, Project
from study.models import Subject


def make_project(code: str = "ALPHA", **fields: Any) -> Project:
    values = {"code": code, "name": f"研究 {code}", "start_date": date(2026, 1, 6)} | fields
    return Project.objects.create(**values)


def make_member(
    project: Project, userid: str, role: str = "CRC", site: str = "", **fields: Any
) -> Member:
    """Somebody whose login is called as they are in WeCom."""
    user, _ = User.objects.get_or_create(username=userid)
    person, _ = Person.objects.get_or_create(wecom_userid=userid.lower(), defaults={"user": user})
    values = {"role": role, "site": site} | fields
    return Member.objects.create(project=project, person=person, **values)


def make_subject(project: Project, record_id: str, site: str) -> Subject:
    return Subject.objects.create(project=project, record_id=record_id, site=site, synced_at=now())


def together(*calls: Callable[[], object], limit_s: float = 60) -> list[object]:
    """Run the calls at the same moment, each with database connections of its own.

    Returns what each returned or raised; a call that does not end is a TimeoutError.
    """
    gate = threading.Barrier(len(calls))
    outcomes: list[object] = [TimeoutError("did not end")] * len(calls)

    def run(index: int, call: Callable[[], object]) -> None:
        try:
            gate.wait(limit_s)
            outcomes[index] = call()
        except Exception as error:
            outcomes[index] = error
        finally:
            connections.close_all()

    threads = [
        threading.Thread(target=run, args=(index, call), daemon=True)
        for index, call in enumerate(calls)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(limit_s)
    return outcomes


def until(condition: Callable[[], Any], limit_s: float = 60, every_s: float = 0.1) -> Any:
    """The first true value of `condition`. Raises TimeoutError."""
    pause = threading.Event()
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        if value := condition():
            return value
        pause.wait(every_s)
    raise TimeoutError(f"not within {limit_s} s")


class Failed(Exception):
    """What goes wrong at the end of a `failing` block."""


@contextmanager
def failing(block: Callable[[], AbstractContextManager[None]] = atomic) -> Iterator[None]:
    """A transaction that fails after its last statement."""
    try:
        with block():
            yield
            raise Failed
    except Failed:
        return
