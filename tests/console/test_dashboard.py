"""The first page: what waits, how the study stands, whether the house is well."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils.timezone import now

from engines.models import TaskRun
from house.models import Heartbeat
from study import readings
from study.models import Dictionary, Reading, ReadingState, Subject, SyncState
from study.standing import standing
from tests.console.conftest import SITE_A, SITE_B
from wechat.models import OutboxMessage


def home(client: Client) -> str:
    """The text of the page, white space folded."""
    page = client.get("/admin/").content.decode()
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


def test_the_crc_sees_what_waits(
    as_user: Callable[..., Client], suspended: Callable[[str], TaskRun]
) -> None:
    suspended(SITE_A), suspended(SITE_B)
    text = home(as_user("wanghushi"))
    assert "Reviews waiting" in text
    assert SITE_A in text
    assert SITE_B not in text
    assert "Violation 1" in text
    assert "Waiting for review 1" in text
    assert "The house" not in text
    assert "Violation 2" in home(as_user("admin"))


def test_a_study_that_was_never_read(as_user: Callable[..., Client], study: Any) -> None:
    ReadingState.objects.all().delete()
    Reading.objects.all().delete()
    Dictionary.objects.all().delete()
    study.project.redcap_url = ""
    study.project.save()
    assert "Nothing was read from REDCap yet" in home(as_user("zhangyi"))


def test_a_failed_reading_never_looks_clean(as_user: Callable[..., Client], study: Any) -> None:
    assert "Last reading failed" not in home(as_user("admin"))
    SyncState.objects.filter(project=study.project).update(
        failed_at=now(), cause="server", error="REDCap answers 503"
    )
    text = home(as_user("admin"))
    assert "Last reading failed" in text
    assert "REDCap answers 503" in text


def test_the_house_is_shown_to_its_keepers(
    as_user: Callable[..., Client], study: Any, settings: Any
) -> None:
    Heartbeat.objects.create(name="worker", at=now() - timedelta(minutes=3))
    OutboxMessage.objects.create(
        key="k", to_user="x", project=study.project, kind="text", payload="{}", status="dead"
    )
    settings.EMBEDDED = True
    text = home(as_user("admin"))
    assert "Embedded" in text
    assert "3 minutes ago" in text
    assert "never seen" in text
    assert "Messages given up 1" in text
    assert "Tokens today 0" in text
    settings.EMBEDDED = False
    assert "PostgreSQL + Redis" in home(as_user("admin"))


def test_who_may_order_is_led_there(as_user: Callable[..., Client]) -> None:
    order = "/admin/engines/taskrun/order/"
    for name, leads in (("wanghushi", True), ("zhangyi", True), ("auditor", False)):
        client = as_user(name)
        assert (order in client.get("/admin/").content.decode()) is leads, name
    assert as_user("wanghushi").get(order).status_code == 200


@pytest.mark.parametrize(
    ("path", "page"),
    [
        ("/admin/", "/admin/"),
        ("/admin/engines/review/desk/", "/admin/engines/review/desk/"),
        ("/admin/engines/review/?status__exact=open", "/admin/engines/review/"),
        ("/admin/engines/taskrun/schedules/", "/admin/engines/taskrun/schedules/"),
        ("/admin/engines/taskrun/order/", "/admin/engines/taskrun/"),
        ("/admin/password_change/", ""),
    ],
)
def test_the_menu_marks_one_page(as_user: Callable[..., Client], path: str, page: str) -> None:
    shown: Any = as_user("wanghushi").get(path, follow=True)
    groups = shown.context["sidebar_navigation"]
    marked = [str(item["link"]) for group in groups for item in group["items"] if item["active"]]
    assert marked == [page] * bool(page)


def test_a_quiet_study_says_so(as_user: Callable[..., Client]) -> None:
    text = home(as_user("wanghushi"))
    assert "No review waits for a decision." in text
    assert "Nothing ran in the last 7 days." in text


def test_a_site_reads_no_figure_of_the_whole_study(
    as_user: Callable[..., Client], study: Any
) -> None:
    """design.md 9.7: only their site, in statistics too."""
    readings.refresh(study.project)
    everyone, own = standing(study.project, None), standing(study.project, study["crc_b"])
    assert own.enrolled != everyone.enrolled
    card = figures(as_user("crc_b"))
    assert f"{own.enrolled} enrolled at your site" in card
    assert f"{everyone.enrolled} / 30 subjects enrolled" in figures(as_user("zhangyi"))
    assert "site_a" not in card
    assert {*re.findall(r"P\d{3}", card)} <= {*subjects_of(study, "site_b")}


def test_who_no_longer_belongs_to_a_site_reads_the_whole(
    as_user: Callable[..., Client], study: Any
) -> None:
    readings.refresh(study.project)
    crc = study["crc_b"]
    crc.site = ""
    crc.save()
    assert f"{standing(study.project, None).enrolled} / 30" in figures(as_user("crc_b"))


def subjects_of(study: Any, site: str) -> list[str]:
    rows = Subject.objects.filter(project=study.project, site=site)
    return [*rows.values_list("record_id", flat=True)]


def figures(client: Client) -> str:
    """The text of the study's card."""
    page = client.get("/admin/").content.decode()
    card = re.search(r'<article[^>]*data-test="study">(.*?)</article>', page, re.DOTALL)
    assert card
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", card[1]))
