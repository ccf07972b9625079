"""People in front of the console, and runs that wait for them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Page, expect

from engines import sop
from engines.models import Review, TaskRun
from projects.models import Member, Person
from skills.models import Skill
from skills.services import save_skill

SITE_A, SITE_B = "P002", "P022"
CONFIG = {
    "name": "console check",
    "start_node": "check",
    "nodes": {
        "check": {
            "type": "hard_rule",
            "rules": [
                {
                    "id": "C1",
                    "field": "age_calculated",
                    "logic": {"<": [{"var": "age_calculated"}, 1]},
                    "message": "年龄超出范围",
                }
            ],
            "on_pass": "end_success",
            "on_fail": "ask",
        },
        "ask": {
            "type": "human_review",
            "description": "年龄是否已核对?",
            "reviewers": ["CRC"],
            "on_approve": "end_success",
            "on_reject": "end_rejected",
        },
    },
}
ARGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


@pytest.fixture
def as_user(study: Any) -> Callable[..., Client]:
    """A browser without a screen, logged in; `charlie` is in no study, `auditor` looks on."""

    def login(name: str, language: str = "en") -> Client:
        user = User.objects.filter(username=name).first() or _newcomer(study, name)
        client = Client()
        client.cookies["django_language"] = language
        client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
        return client

    return login


def _newcomer(study: Any, name: str) -> User:
    user = User.objects.create_user(name, password="a-good-long-word", is_staff=True)
    if name == "auditor":
        person = Person.objects.create(wecom_userid=name, user=user)
        Member.objects.create(project=study.project, person=person, role="AUDITOR")
    return user


@pytest.fixture
def suspended(study: Any) -> Callable[[str], TaskRun]:
    """A run on a subject that waits for its reviewer, with one open finding."""
    skill = save_skill(
        skill=Skill(
            project=study.project,
            skill_type="qc_process:console",
            name="Console check",
            config=CONFIG,
        ),
        actor="test",
    )

    def suspend(record_id: str) -> TaskRun:
        run = sop.start(
            project=study.project,
            skill=skill,
            record_id=record_id,
            triggered_by="zhangyi",
            wake=False,
        )
        sop.drive(run.pk)
        run.refresh_from_db()
        assert run.status == TaskRun.Status.SUSPENDED
        return run

    return suspend


@pytest.fixture
def run_a(suspended: Callable[[str], TaskRun]) -> TaskRun:
    """Waits for a CRC of site_a."""
    return suspended(SITE_A)


def review_of(run: TaskRun) -> Review:
    """The question that a run waits on."""
    review = sop.open_review(run)
    assert review is not None
    return review


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A real browser. Its driver keeps an event loop in this thread, which Django must put up with."""
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("NOT RUN: no Chromium")
    from playwright.sync_api import sync_playwright

    patch = pytest.MonkeyPatch()
    patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGS)
        yield browser
        browser.close()
    patch.undo()


@pytest.fixture
def page(chromium: Any, live_server: Any, study: Any) -> Iterator[Page]:
    """A page that may ask its own server only and must not complain; the live server commits the study."""
    expect.set_options(timeout=60_000)  # how long a loaded machine takes is no fault
    context = chromium.new_context(base_url=live_server.url, locale="zh-CN")
    found: Page = context.new_page()
    problems: list[str] = []
    found.on(
        "request",
        lambda sent: problems.append(sent.url) if _is_foreign(sent.url, live_server.url) else None,
    )
    found.on("pageerror", lambda error: problems.append(str(error)))
    found.on(
        "console",
        lambda line: (
            problems.append(f"{line.text} {line.location}") if line.type == "error" else None
        ),
    )
    yield found
    context.close()
    assert problems == []


def _is_foreign(url: str, own: str) -> bool:
    return not url.startswith((own, "data:", "blob:"))


def log_in(page: Page, study: Any, name: str) -> None:
    page.goto("/admin/")
    page.fill("[name=username]", name)
    page.fill("[name=password]", study.run["logins"][name]["password"])
    page.click("#login-form [type=submit]")
    expect(page.locator("#nav-sidebar-apps")).to_be_visible()
