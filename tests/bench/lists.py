"""The console's change lists of conversations and findings on PostgreSQL, as a person opens them.

A house of its own: 1,000 rows of each list first (the peer of every row of the table), then 1,000,000
conversations over a year and 200,000 findings, half of them of one site. Each figure is the median of whole
requests by Django's test client, as an administrator of all sites and as a CRC of one: log-in, statements,
decrypted cells and HTML. Writing the rows is not timed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from itertools import islice
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from tests.bench._database import ABSENT, temporary
from tests.bench._measure import Row, missing, ratio, row, seconds

if TYPE_CHECKING:
    from django.test import Client

    from projects.models import Member, Project

FEW, CONVERSATIONS, FINDINGS = 1000, 1_000_000, 200_000
SUBJECTS, RUNS, YEAR = 200, 400, 365
ROUNDS, WARM_UP, CHUNK = 5, 1, 5000
MOST_MS = 1500
PEER = f"the same over {FEW:,} rows"
PAGES = {
    "conversations": "/admin/memory/conversationhistory/",
    "findings": "/admin/engines/pendingaction/",
}
FILTERS = {
    "conversations": {"role__exact": "user", "feedback__exact": "thumbs_down"},
    "findings": {"waits": "yes", "severity__exact": "error"},
}
READERS = ("admin", "wanghushi")
Times = dict[tuple[str, str, str], list[float]]


def run() -> list[Row]:
    """Milliseconds of first, filtered, searched and deep page of both lists, for two readers."""
    with _files(), temporary() as url:
        if url is None:
            return [missing(f"lists: {name}, ms", PEER, f"<= {MOST_MS}", ABSENT) for name in PAGES]
        from django.core.management import call_command
        from django.db import connection

        call_command("collectstatic", interactive=False, verbosity=0)
        house = _House()
        house.fill(FEW, FEW)
        few = house.measure(FEW)
        house.fill(CONVERSATIONS - FEW, FINDINGS - FEW)
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")  # as autovacuum does after a day
        many = house.measure(CONVERSATIONS)
        return [_row(key, many[key], few[key]) for key in many]


@contextmanager
def _files() -> Iterator[None]:
    """A folder of our own for the console's static files; Django must not be set up yet."""
    with TemporaryDirectory() as var:
        os.environ["VAR_DIR"] = var
        yield


def _row(key: tuple[str, str, str], ours: list[float], peer: list[float]) -> Row:
    page, what, reader = key
    rows = CONVERSATIONS if page == "conversations" else FINDINGS
    found = round(median(ours) * 1000, 1)
    return row(
        f"lists: {rows:,} {page}, {what}, {reader}, ms",
        found,
        peer=PEER,
        of_peer=round(median(peer) * 1000, 1),
        times=ratio(ours, peer),
        goal=f"<= {MOST_MS}",
        met=found <= MOST_MS,
    )


class _House:
    """A study with two sites, its readers logged in, and rows that are made in bulk."""

    def __init__(self) -> None:
        from django.utils.timezone import now

        from tests.bench import _study

        self.project: Project = _study.project()
        self.members = _study.people(self.project)
        self.clients = {name: _client(self.members[name]) for name in READERS}
        self.runs = _runs(self.project)
        self.now: datetime = now()
        self.count = 0

    def fill(self, conversations: int, findings: int) -> None:
        """More rows, spread over the year and the subjects."""
        from engines.models import PendingAction
        from memory.models import ConversationHistory

        made = range(self.count, self.count + conversations)
        _store(ConversationHistory, (self._said(number) for number in made))
        _store(PendingAction, (self._finding(n) for n in islice(made, findings)))
        self.count += conversations

    def measure(self, rows: int) -> Times:
        """Seconds of each request, `ROUNDS` of them."""
        found: Times = {}
        for page, address in PAGES.items():
            last = (rows if page == "conversations" else min(rows, FINDINGS)) // 50
            for what, query in self._asked(page, last):
                for reader, client in self.clients.items():
                    # a CRC sees one site's half of the findings, and of the conversations their own
                    path = f"{address}?{urlencode(query)}"
                    get = _getter(client, path)
                    found[page, what, reader] = [seconds(get) for _ in range(WARM_UP + ROUNDS)][
                        WARM_UP:
                    ]
        return found

    def _asked(self, page: str, last: int) -> Iterator[tuple[str, dict[str, Any]]]:
        yield "first page", {}
        yield "filtered page", FILTERS[page]
        yield "search", {"q": "P007"}
        yield "deep page", {"p": max(last // 5, 2)}

    def _at(self, number: int) -> datetime:
        return self.now - timedelta(minutes=number * 7919 % (YEAR * 24 * 60))

    def _said(self, number: int) -> Any:
        from memory.models import ConversationHistory

        is_user = number % 2 == 0
        return ConversationHistory(
            project=self.project,
            user_id=f"user{number % 40}" if number % 5 else "wanghushi",
            record_id=f"P{number % SUBJECTS + 1:03}" if number % 3 else None,
            role="user" if is_user else "assistant",
            content=f"P{number % SUBJECTS + 1:03} 的随访窗口是什么时候? ({number})",
            intent="visit_window" if is_user else None,
            feedback="thumbs_down" if number % 50 == 1 else None,
            created_at=self._at(number),
        )

    def _finding(self, number: int) -> Any:
        from engines.models import PendingAction

        is_open = number % 4 == 0
        run = self.runs[number % RUNS]
        return PendingAction(
            project=self.project,
            task_run=run,
            record_id=run.record_id,
            action_type="violation" if number % 3 else "warning",
            field=f"age_{number % 11}",
            message=f"年龄超出范围 ({number})",
            severity=("error", "warning", "info")[number % 3],
            state="open" if is_open else "closed",
            open_key=f"{number:064}" if is_open else None,
            assignee="wanghushi" if number % 10 == 0 else "",
            skill_type="qc_process",
            node="check",
            rule_key=f"R{number % 60}",
            outcome="FAIL",
            value=str(number % 120),
        )


def _getter(client: Client, path: str) -> Callable[[], None]:
    def get() -> None:
        answer = client.get(path, secure=True)
        if answer.status_code != 200:
            raise RuntimeError(f"{path}: {answer.status_code}")

    return get


def _store(model: Any, rows: Iterator[Any]) -> None:
    while chunk := [*islice(rows, CHUNK)]:
        model.objects.bulk_create(chunk)


def _client(member: Member) -> Client:
    from django.conf import settings
    from django.contrib.auth.models import User
    from django.test import Client

    settings.ALLOWED_HOSTS = ["testserver"]
    user = User.objects.create_user(member.wecom_userid, is_staff=True)
    member.person.user = user
    member.person.save()
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def _runs(project: Project) -> list[Any]:
    from engines.models import TaskRun
    from skills.models import Skill
    from skills.services import save_skill

    nodes = {"ask": {"type": "human_review", "description": "请复核"}}
    config = {"name": "bench", "start_node": "ask", "nodes": nodes}
    skill = Skill(project=project, skill_type="qc_process", name="bench", config=config)
    skill = save_skill(skill=skill, actor="admin")
    return TaskRun.objects.bulk_create(
        TaskRun(
            project=project,
            skill=skill,
            record_id=f"P{number % SUBJECTS + 1:03}",
            triggered_by="admin",
            status=TaskRun.Status.COMPLETED,
            config=config,
        )
        for number in range(RUNS)
    )
