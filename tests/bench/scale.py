"""200 studies of 20 members: what a page, a question and a sweep cost a house with 2 studies, and one with 200.

The demo study on SQLite, others copied beside it. Its people take part in it alone; `root` looks after all.
Each figure is statements and the median of processor milliseconds; neither may grow by more than half.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Any

from tests.bench._measure import Row, cpu_seconds, row

FEW, MANY = 2, 200
ROUNDS, MOST = 5, 1.5
SLACK_MS = 5.0
"""A tenth of what a person notices: below it a ratio says nothing."""
PAGES = {
    "home": "/admin/",
    "subjects": "/admin/study/subject/",
    "findings": "/admin/engines/pendingaction/",
    "conversations": "/admin/memory/conversationhistory/",
    "runs": "/admin/engines/taskrun/",
    "members": "/admin/projects/member/",
    "studies": "/admin/projects/project/",
}
READERS = ("wanghushi", "zhangyi", "root")
QUESTION = "P001 入组了吗?"
Figures = dict[str, tuple[int, float]]


def run() -> list[Row]:
    """A row for each page and reader, the question, and each sweep."""
    from tests.bench import _demo, _many

    with _demo.study() as project:
        from django.conf import settings
        from django.contrib.auth.models import User

        settings.ALLOWED_HOSTS = ["testserver"]
        User.objects.create_superuser("root")
        _many.add(FEW - 1)
        few = _measure(project)
        _many.add(MANY - FEW)
        many = _measure(project)
    return [_row(name, few[name], many[name]) for name in few]


def _row(name: str, few: tuple[int, float], many: tuple[int, float]) -> Row:
    ratios = many[0] / max(1, few[0]), many[1] / max(0.001, few[1])
    is_flat = ratios[0] <= MOST and (ratios[1] <= MOST or many[1] - few[1] < SLACK_MS)
    return row(
        f"scale: {name}, statements / ms",
        f"{many[0]} / {many[1]:.0f}",
        peer=f"with {FEW} studies",
        of_peer=f"{few[0]} / {few[1]:.0f}",
        times=max(ratios),
        goal=f"<= {MOST}",
        met=is_flat,
    )


def _measure(project: Any) -> Figures:
    works = {
        "question": _question(project)
    }  # first: its conversation is on the pages of both counts
    works |= {f"{name}, {who}": _page(who, path) for who in READERS for name, path in PAGES.items()}
    works |= _sweeps()
    return {name: _cost(work) for name, work in works.items()}


def _cost(work: Callable[[], object]) -> tuple[int, float]:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    work()  # what is made once, a session and what a process keeps
    with CaptureQueriesContext(connection) as told:
        work()
    return len(told), median(cpu_seconds(work) for _ in range(ROUNDS)) * 1000


def _page(who: str, path: str) -> Callable[[], None]:
    from django.contrib.auth.models import User
    from django.test import Client

    client = Client()
    client.force_login(
        User.objects.get(username=who), backend="django.contrib.auth.backends.ModelBackend"
    )

    def get() -> None:
        if (code := client.get(path).status_code) != 200:
            raise RuntimeError(f"{who} {path}: {code}")

    return get


def _question(project: Any) -> Callable[[], None]:
    from engines.assistant.chat.service import handle
    from memory import session

    member = project.members.get(wecom_userid="zhangyi")

    def ask() -> None:
        session.end(member.person)
        if not handle(project=project, member=member, text=QUESTION).text:
            raise RuntimeError("no answer")

    return ask


def _sweeps() -> dict[str, Callable[[], None]]:
    """What beat does each half minute or minute, with nothing to do; what it queues stays queued."""
    from engines.tasks import fire_missed_skills, sweep_runs
    from iit_manager.celery import app
    from wechat.tasks import sweep

    def quietly(task: Any) -> Callable[[], None]:
        def work() -> None:
            app.conf.task_always_eager = False
            try:
                task()
            finally:
                app.conf.task_always_eager = True

        return work

    tasks = {"messages": sweep, "runs": sweep_runs, "schedules": fire_missed_skills}
    return {f"sweep of {name}": quietly(task) for name, task in tasks.items()}
