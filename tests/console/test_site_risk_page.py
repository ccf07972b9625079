"""The pages of risk by site and of charts: who sees what, limits, and charts that equal their tables."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.utils.timezone import now
from lxml import html

from engines.models import PendingAction, TaskRun
from projects.models import AuditEntry
from skills.models import Skill
from study import readings
from study.models import FieldRole
from tests.support.study import Study

RISK, CHARTS = "/admin/site-risk/", "/admin/charts/"
AsUser = Callable[..., Client]


@pytest.fixture(autouse=True)
def _read(study: Study) -> None:
    readings.read_all(study.project)


def page_of(client: Client, path: str, **query: str) -> html.HtmlElement:
    answer = client.get(path, query)
    assert answer.status_code == 200
    return html.fromstring(answer.content.decode())


def panel(page: html.HtmlElement, name: str) -> html.HtmlElement:
    (found,) = page.xpath(f"//*[@data-test='{name}']")
    return found


def cells(part: html.HtmlElement) -> list[list[str]]:
    """The rows of the one table of a part, heads first."""
    rows = part.xpath(".//table//tr")
    return [
        [" ".join(one.text_content().split()) for one in row.xpath("./th|./td")] for row in rows
    ]


def found(study: Study, record_id: str, days: int, kind: str = "violation") -> PendingAction:
    skill = Skill.objects.filter(project=study.project).first()
    run = TaskRun.objects.create(project=study.project, skill=skill, record_id=record_id)
    row = PendingAction.objects.create(
        project=study.project, task_run=run, record_id=record_id, action_type=kind,
        message="synthetic", severity="error", open_key=f"key-{record_id}-{days}-{kind}",
    )  # fmt: skip
    PendingAction.objects.filter(pk=row.pk).update(created_at=now() - timedelta(days=days))
    return row


def test_rates_have_numerator_and_denominator(as_user: AsUser, study: Study) -> None:
    found(study, "P002", 20)
    found(study, "P002", 3)
    page = page_of(as_user("zhangyi"), RISK)
    rows = {row[0]: row for row in cells(panel(page, "query_age"))}
    site = next(row for name, row in rows.items() if name.startswith("site_a"))
    assert site[1:4] == ["1 / 2", "1", "50.00"]
    assert "too few to say" in site[5]
    assert rows["All sites"][1] == "1 / 2"
    adverse = {row[0].split()[0]: row for row in cells(panel(page, "adverse"))}
    assert adverse["site_a"][1].startswith("13 / ")
    assert adverse["site_b"][1].startswith("8 / ")


def test_a_site_sees_its_own_row_alone(as_user: AsUser, study: Study) -> None:
    found(study, "P002", 20)
    page = page_of(as_user("crc_b"), RISK)
    for key in ("adverse", "query_age", "visits"):
        names = [row[0].split()[0] for row in cells(panel(page, key))[1:]]
        assert names == ["site_b"]
    assert [row[0].split()[0] for row in cells(panel(page, "risk"))[1:]] == ["site_b"]
    assert {row[1] for row in cells(panel(page, "query_age"))[1:]} == {"0 / 0"}
    assert "not compared" in panel(page, "adverse").text_content()
    charts = page_of(as_user("crc_b"), CHARTS, site="site_a")
    assert not charts.xpath("//*[@data-plot]")


def test_nobodys_study_is_not_found(as_user: AsUser) -> None:
    for path in (RISK, CHARTS):
        assert as_user("zhangyi").get(path, {"project": "GHOST"}).status_code == 404
        assert as_user("charlie").get(path).status_code == 404
        assert Client().get(path).status_code == 302


def test_an_administrator_sets_limits_and_a_breach_is_shown(as_user: AsUser, study: Study) -> None:
    assert as_user("zhangyi").post(RISK, {"missing": "0.1"}).status_code == 403
    client = as_user("admin")
    assert client.post(RISK, {"missing": "-1"}).status_code == 200
    study.project.refresh_from_db()
    assert study.project.quality_limits == {}
    assert client.post(RISK, {"missing": "0.1", "visits": "50"}).status_code == 302
    study.project.refresh_from_db()
    assert study.project.quality_limits == {"missing": 0.1, "visits": 50.0}
    assert AuditEntry.objects.filter(action="project.limits").count() == 1
    told = " ".join(panel(page_of(as_user("zhangyi"), RISK), "breaches").text_content().split())
    assert "Missing data" in told
    assert "Visit deviations" not in told
    assert not page_of(as_user("crc_b"), RISK).xpath("//*[@data-test='breaches']")


def test_what_no_field_tells_is_not_known(as_user: AsUser, study: Study) -> None:
    FieldRole.objects.create(project=study.project, role="status", field="sex")
    page = page_of(as_user("zhangyi"), RISK)
    assert panel(page, "screen_failure").xpath(".//*[@data-test='unknown']")


@pytest.mark.parametrize("site", ["", "site_b"])
def test_charts_equal_the_tables_beneath(as_user: AsUser, study: Study, site: str) -> None:
    found(study, "P022", 30)
    closed = found(study, "P022", 8, "warning")
    PendingAction.objects.filter(pk=closed.pk).update(
        open_key=None, resolved_at=now(), state="closed"
    )
    page = page_of(as_user("zhangyi"), CHARTS, site=site)
    plots = page.xpath("//*[@data-plot]")
    keys = [one.get("data-plot") for one in plots]
    assert keys == [
        "enrolment", *([] if site else ["enrolment_sites"]),
        "visits", "findings", "findings_age", "safety",
    ]  # fmt: skip
    for one in plots:
        head, *rows = cells(one)
        table = {
            (name, row[0]): value
            for row in rows
            for name, value in zip(head[1:], row[1:], strict=True)
            if value != "–"
        }
        marks = one.xpath(".//*[@data-series]")
        drawn = {(m.get("data-series"), m.get("data-at")): m.get("data-value") for m in marks}
        assert drawn == table
        assert len(drawn) == len(marks)
        assert_heights(marks)
        titles = [m.xpath("string(./*[name()='title'])") for m in marks]
        assert titles == [
            f"{m.get('data-series')} {m.get('data-at')}: {m.get('data-value')}" for m in marks
        ]


def assert_heights(marks: list[html.HtmlElement]) -> None:
    """What is drawn is as high as its value, all by one measure."""
    bars = [m for m in marks if m.get("height") is not None]
    tall = {float(m.get("data-value")): float(m.get("height")) for m in bars}
    most = max(tall, default=0)
    for value, height in tall.items():
        assert height == pytest.approx(tall[most] * value / most if most else 0, abs=0.3)
    dots = {float(m.get("data-value")): float(m.get("cy")) for m in marks if m.get("cy")}
    if len(dots) > 2:
        low, high = min(dots), max(dots)
        for value, y in dots.items():
            share = (value - low) / (high - low)
            line = dots[low] + (dots[high] - dots[low]) * share
            assert y == pytest.approx(line, abs=2.5)


def test_the_enrolment_curve_ends_at_the_enrolled_of_home(as_user: AsUser, study: Study) -> None:
    client = as_user("zhangyi")
    page = page_of(client, CHARTS)
    marks = page.xpath("//*[@data-plot='enrolment']//*[@data-series='Enrolled']")
    home = page_of(client, "/admin/")
    assert marks[-1].get("data-value") == panel(home, "enrolled").text_content().strip()
