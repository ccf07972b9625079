"""Repeating an ended run from its page."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.conf import settings
from django.test import Client

from engines import sop
from engines.models import TaskRun

pytestmark = pytest.mark.django_db
RUNS = "/admin/engines/taskrun/"


@pytest.fixture
def ended(run_a: TaskRun) -> TaskRun:
    return sop.cancel(run=run_a, actor="admin", reason="")


def in_english(client: Client) -> Client:
    client.cookies[settings.LANGUAGE_COOKIE_NAME] = "en"
    return client


def repeat(client: Client, run: TaskRun) -> str:
    answer = client.post(f"{RUNS}{run.pk}/rerun/", follow=True)
    return answer.content.decode() if answer.status_code == 200 else str(answer.status_code)


@pytest.mark.full
def test_the_button_starts_a_new_run_and_shows_it(
    as_user: Callable[..., Client], ended: TaskRun
) -> None:
    client = in_english(as_user("wanghushi"))
    assert f"{RUNS}{ended.pk}/rerun/" in client.get(f"{RUNS}{ended.pk}/change/").content.decode()

    page = repeat(client, ended)

    again = TaskRun.objects.get(rerun_of=ended)
    assert (again.status, again.triggered_by) == ("SUSPENDED", "wanghushi")
    assert "Started again." in page
    assert f"{RUNS}{ended.pk}/change/" in page
    assert f"{RUNS}{again.pk}/change/" in client.get(f"{RUNS}{ended.pk}/change/").content.decode()


@pytest.mark.full
def test_a_run_that_waits_has_no_button(as_user: Callable[..., Client], run_a: TaskRun) -> None:
    client = in_english(as_user("wanghushi"))
    assert "/rerun/" not in client.get(f"{RUNS}{run_a.pk}/change/").content.decode()
    assert "The run has not ended yet." in repeat(client, run_a)
    assert TaskRun.objects.count() == 1


@pytest.mark.full
@pytest.mark.parametrize("who", ["auditor", "crc_b"])
def test_nobody_else_repeats_it(who: str, as_user: Callable[..., Client], ended: TaskRun) -> None:
    client = as_user(who)
    page = client.get(f"{RUNS}{ended.pk}/change/").content.decode()
    assert f"{RUNS}{ended.pk}/rerun/" not in page
    repeat(client, ended)
    assert TaskRun.objects.count() == 1


def test_a_page_that_is_only_looked_at_starts_nothing(
    as_user: Callable[..., Client], ended: TaskRun
) -> None:
    assert as_user("wanghushi").get(f"{RUNS}{ended.pk}/rerun/").status_code == 405
    assert TaskRun.objects.count() == 1
