"""The first page: what waits, how the study stands, whether the house is well."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils.timezone import now

from core.house import machine
from core.house.models import Heartbeat
from engines.models import TaskRun
from engines.sop import deleted
from study import dictionary, door, readings
from study.enrolment_stats import study_figures
from study.models import Dictionary, Reading, ReadingState, ReferenceLimit, Subject, SyncState
from tests.console.conftest import SITE_A, SITE_B
from wechat.models import OutboxMessage


def home(client: Client) -> str:
    """The text of the page, white space folded."""
    page = client.get("/admin/").content.decode()
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


@pytest.mark.full
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


@pytest.mark.full
def test_findings_of_a_deleted_record_wait_for_nobody(
    as_user: Callable[..., Client], suspended: Callable[[str], TaskRun]
) -> None:
    """Neither on the first page nor in the search beside it."""
    run = suspended(SITE_A)
    client = as_user("admin")
    search = {"s": run.record_id, "search": run.record_id}
    assert "Violation 1" in home(client)
    assert "Finding · " in client.get("/admin/search/", search).content.decode()
    deleted.mark_gone(run.project, run.record_id or "")
    assert "Violation 0" in home(client)
    assert "Finding · " not in client.get("/admin/search/", search).content.decode()


@pytest.mark.full
def test_a_study_that_was_never_read(as_user: Callable[..., Client], study: Any) -> None:
    ReadingState.objects.all().delete()
    Reading.objects.all().delete()
    Dictionary.objects.all().delete()
    study.project.redcap_url = ""
    study.project.save()
    assert "Nothing was read from REDCap yet" in home(as_user("zhangyi"))


@pytest.mark.full
def test_a_failed_reading_never_looks_clean(as_user: Callable[..., Client], study: Any) -> None:
    assert "Last reading failed" not in home(as_user("admin"))
    SyncState.objects.filter(project=study.project).update(
        failed_at=now(), cause="server", error="REDCap answers 503"
    )
    text = home(as_user("admin"))
    assert "Last reading failed" in text
    assert "REDCap answers 503" in text


@pytest.mark.full
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


@pytest.mark.full
def test_who_may_order_is_led_there(as_user: Callable[..., Client]) -> None:
    order = "/admin/engines/taskrun/order/"
    for name, leads in (("wanghushi", True), ("zhangyi", True), ("auditor", False)):
        client = as_user(name)
        assert (order in client.get("/admin/").content.decode()) is leads, name
    assert as_user("wanghushi").get(order).status_code == 200


@pytest.mark.full
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


@pytest.mark.full
def test_a_site_reads_no_figure_of_the_whole_study(
    as_user: Callable[..., Client], study: Any
) -> None:
    """design.md 9.7: only their site, in statistics too."""
    readings.read_all(study.project)
    everyone, own = study_figures(study.project, None), study_figures(study.project, study["crc_b"])
    assert own.enrolled != everyone.enrolled
    card = figures(as_user("crc_b"))
    assert f"{own.enrolled} enrolled at your site" in card
    assert f"{everyone.enrolled} / 30 subjects enrolled" in figures(as_user("zhangyi"))
    assert "site_a" not in card
    assert {*re.findall(r"P\d{3}", card)} <= {*subjects_of(study, "site_b")}


@pytest.mark.full
def test_who_no_longer_belongs_to_a_site_reads_the_whole(
    as_user: Callable[..., Client], study: Any
) -> None:
    readings.read_all(study.project)
    crc = study["crc_b"]
    crc.site = ""
    crc.save()
    assert f"{study_figures(study.project, None).enrolled} / 30" in figures(as_user("crc_b"))


@pytest.mark.full
def test_events_are_counted_beside_their_subjects(
    as_user: Callable[..., Client], study: Any
) -> None:
    readings.read_all(study.project)
    (answer,) = door.ask_all(study.project, None, [{"select": ["ae_term"]}], fresh=False)
    rows = {(fact.subject, fact.instance) for fact in answer.facts if fact.text}
    subjects = {subject for subject, _instance in rows}
    assert len(rows) > len(subjects)
    card = figures(as_user("zhangyi", "en"))
    assert re.search(rf"Adverse events .* {len(rows)} in {len(subjects)} subjects", card), card


@pytest.mark.full
def test_an_event_without_a_start_is_an_event(as_user: Callable[..., Client], study: Any) -> None:
    readings.read_all(study.project)
    before = study_figures(study.project, None).adverse or {}
    place = {"event": "log_arm_1", "instrument": "ae", "instance": 9}
    study.stand_ins.post(
        "redcap/records", [{"record": "P001", **place, "values": {"ae_term": "乏力"}}]
    )
    readings.read_all(study.project)
    after = study_figures(study.project, None).adverse or {}
    assert sum(after.values()) == sum(before.values()) + 1


@pytest.mark.full
def test_labs_beyond_limits_say_over_what(as_user: Callable[..., Client], study: Any) -> None:
    readings.read_all(study.project)
    over = study_figures(study.project, None).beyond
    assert over is not None
    card = figures(as_user("zhangyi", "en"))
    assert f"Compared by the {over.fields} measured fields that have limits." in card
    assert f"{over.without} have none and were not compared." in card
    ReferenceLimit.objects.create(project=study.project, field="hgb", low=110)
    more = study_figures(study.project, None).beyond
    assert more is not None
    assert (more.fields, more.without) == (over.fields + 1, over.without - 1)


@pytest.mark.full
def test_sites_are_told_by_name(as_user: Callable[..., Client], study: Any) -> None:
    readings.read_all(study.project)
    for name, site in (("zhangyi", "site_a"), ("crc_b", "site_b")):
        card = figures(as_user(name))
        assert dictionary.load(study.project).sites[site] in card
        assert not re.search(rf"{site}(?! )", card)


@pytest.mark.full
def test_the_pi_sees_the_visits_of_the_week(as_user: Callable[..., Client], study: Any) -> None:
    readings.read_all(study.project)
    for name, shows in (("zhangyi", True), ("wanghushi", True), ("auditor", False)):
        page = as_user(name).get("/admin/").content.decode()
        assert ('data-test="visits"' in page) is shows, name


def subjects_of(study: Any, site: str) -> list[str]:
    rows = Subject.objects.filter(project=study.project, site=site)
    return [*rows.values_list("record_id", flat=True)]


def figures(client: Client) -> str:
    """The text of the study's card."""
    page = client.get("/admin/").content.decode()
    card = re.search(r'<article[^>]*data-test="study">(.*?)</article>', page, re.DOTALL)
    assert card
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", card[1]))


@pytest.mark.full
def test_an_administrator_is_told_of_a_full_disk_and_of_clocks_that_differ(
    as_user: Callable[..., Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    admin = as_user("admin", "zh-hans")
    assert "磁盘空间即将用尽" not in home(admin)
    monkeypatch.setattr(machine, "DISK_LOW", machine.disk_left() * 2)
    monkeypatch.setattr(machine, "clock_skew_s", lambda: 75.0)
    text = home(admin)
    assert "磁盘空间即将用尽" in text
    assert "本机与数据库服务器的时钟不一致,相差 75 s" in text
    assert "磁盘空间即将用尽" not in home(as_user("wanghushi", "zh-hans"))
