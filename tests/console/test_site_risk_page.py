"""The pages of risk by site and of charts: who sees what, limits, and charts that equal their tables."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.test import Client
from django.utils.timezone import now
from lxml import html
from playwright.sync_api import Page

from engines import safety
from engines.models import Deviation, PendingAction, TaskRun
from projects.models import AuditEntry
from skills.models import Skill
from study import readings
from study.models import BlindedField, FieldRole, Subject
from tests.console.conftest import log_in
from tests.console.test_accessible import faults_of
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


@pytest.mark.full
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


@pytest.mark.full
def test_a_site_sees_its_own_row_alone(as_user: AsUser, study: Study) -> None:
    found(study, "P002", 20)
    page = page_of(as_user("crc_b"), RISK)
    for key in ("adverse", "visits"):
        names = [row[0].split()[0] for row in cells(panel(page, key))[1:]]
        assert names == ["site_b"]
    assert [row[0].split()[0] for row in cells(panel(page, "risk"))[1:]] == ["site_b"]
    assert not panel(page, "query_age").xpath(".//table")
    assert "never checked" in cells(panel(page, "risk"))[1][3]
    assert "not compared" in panel(page, "adverse").text_content()
    charts = page_of(as_user("crc_b"), CHARTS, site="site_a")
    assert not charts.xpath("//*[@data-plot]")


def test_nobodys_study_is_not_found(as_user: AsUser) -> None:
    for path in (RISK, CHARTS):
        assert as_user("zhangyi").get(path, {"project": "GHOST"}).status_code == 404
        assert as_user("charlie").get(path).status_code == 404
        assert Client().get(path).status_code == 302


@pytest.mark.full
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


@pytest.mark.full
def test_what_no_field_tells_is_not_known(as_user: AsUser, study: Study) -> None:
    FieldRole.objects.create(project=study.project, role="status", field="sex")
    page = page_of(as_user("zhangyi"), RISK)
    assert panel(page, "screen_failure").xpath(".//*[@data-test='unknown']")


@pytest.mark.full
def test_what_was_never_checked_is_unknown_and_not_0(as_user: AsUser, study: Study) -> None:
    """No quality control ran, then it ran and found nothing at one site."""
    client = as_user("zhangyi")
    risk, charts = page_of(client, RISK), page_of(client, CHARTS)
    for key in ("query_age", "deviations"):
        (told,) = panel(risk, key).xpath(".//*[@data-test='unknown']")
        assert "quality control was never run" in told.text_content()
    assert "quality control was never run" in panel(charts, "findings").text_content()
    overview = cells(panel(risk, "risk"))
    for name in ("Old findings", "Protocol deviations"):
        place = overview[0].index(name)
        assert {row[place] for row in overview[1:]} == {"–never checked"}
    ran = TaskRun.objects.create(
        project=study.project,
        skill=Skill.objects.filter(skill_type__startswith="qc_process").first(),
        record_id="P002",
        status=TaskRun.Status.FAILED,
    )
    assert panel(page_of(client, RISK), "deviations").xpath(".//*[@data-test='unknown']")
    late = PendingAction.objects.create(
        project=study.project,
        task_run=ran,
        record_id="P002",
        skill_type=safety.TYPE,
        message="a late report",
    )
    assert panel(page_of(client, RISK), "deviations").xpath(".//*[@data-test='unknown']")
    late.delete()
    TaskRun.objects.filter(pk=ran.pk).update(status=TaskRun.Status.COMPLETED)
    rows = cells(panel(page_of(client, RISK), "deviations"))
    told_by_site = {row[0].split()[0]: row for row in rows[1:]}
    assert told_by_site["site_a"][1].startswith("0 / ")
    assert told_by_site["site_b"][1:4] == ["–", "–", "–"]
    assert "never checked" in told_by_site["site_b"][5]
    # What was not looked at is no exposure without deviations either.
    assert told_by_site["All"][1] == told_by_site["site_a"][1]
    assert "No finding was opened yet." in panel(page_of(client, CHARTS), "findings").text_content()
    other = page_of(as_user("crc_b"), CHARTS)
    assert "quality control was never run" in panel(other, "findings").text_content()


@pytest.mark.full
def test_late_reports_of_a_site_never_checked_count_for_nothing(
    as_user: AsUser, study: Study
) -> None:
    """The clock of serious events is no quality control: its site has no days to count them over."""
    checked = Skill.objects.filter(skill_type__startswith="qc_process").exclude(
        skill_type=safety.TYPE
    )
    TaskRun.objects.create(
        project=study.project, skill=checked.first(), record_id="P002",
        status=TaskRun.Status.COMPLETED,
    )  # fmt: skip
    for days in range(20, 24):
        late = found(study, "P022", days)
        PendingAction.objects.filter(pk=late.pk).update(skill_type=safety.TYPE)
        Deviation.objects.create(
            project=study.project, finding=late, record_id="P022", source="safety",
            text="late", found_at=now(),
        )  # fmt: skip
    page = page_of(as_user("zhangyi"), RISK)
    for key in ("query_age", "deviations"):
        rows = {row[0].split()[0]: row for row in cells(panel(page, key))[1:]}
        assert rows["All"][1].startswith("0 / "), key
        if key == "deviations":
            assert rows["All"][1] == rows["site_a"][1]
            assert rows["site_b"][1:4] == ["–", "–", "–"]


@pytest.mark.full
def test_what_entry_lag_leaves_out_is_said(as_user: AsUser, study: Study) -> None:
    """Of the demo study's visits nothing was entered since it is read here."""
    told = " ".join(panel(page_of(as_user("zhangyi"), RISK), "entry_lag").text_content().split())
    counted = re.search(r"(\d+) of (\d+) visits done were entered before and are not counted", told)
    assert counted
    assert counted[1] == counted[2]
    assert int(counted[1]) > 0


@pytest.mark.full
def test_no_line_is_told_apart_by_colour_alone(as_user: AsUser, study: Study) -> None:
    page = page_of(as_user("zhangyi"), CHARTS)
    css = Path("static/iit/console.css").read_text()
    for plot in page.xpath("//*[@data-plot]"):
        lines = plot.xpath("./svg//*[name()='g'][.//*[name()='polyline']]")
        names = [one.xpath("string(./*[name()='text'])") for one in lines]
        if len(lines) < 2:
            continue
        assert all(names)
        assert len({*names}) == len(names)
        dashes = [dashes_of(css, one.get("class")) for one in lines]
        kinds = {(d, n) for d, n in zip(dashes, names, strict=True) if "Forecast, " not in n}
        assert len({d for d, _name in kinds}) == len(kinds)
        ends = sorted(
            float(y)
            for one in lines
            for y in one.xpath("./*[name()='text'][@text-anchor='start']/@y")
        )
        assert all(b - a >= 10 for a, b in pairwise(ends))


def dashes_of(css: str, classes: str) -> str:
    """The dash pattern of a line; the last rule that matches wins, as all are as specific."""
    found = ""
    for line in css.splitlines():
        rule = re.match(r"\.iit-series[^{]*polyline \{.*stroke-dasharray: ([\d. ]+)", line)
        if rule and {*re.findall(r"\.(s\d|dashed|edge|goal)", line)} & {*classes.split()}:
            found = rule[1]
    return found


@pytest.mark.full
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


@pytest.mark.full
def test_what_is_not_known_to_be_serious_is_not_called_not_serious(
    as_user: AsUser, study: Study
) -> None:
    def heads() -> list[str]:
        plot = page_of(as_user("crc_b"), CHARTS).xpath("//*[@data-plot='safety']")[0]
        return cells(plot)[0][1:]

    assert heads() == ["Not serious", "Serious"]
    row = {"record": "P020", "event": "log_arm_1", "instrument": "ae", "instance": 7}
    values = {"ae_term": "皮疹", "ae_start": "2026-02-01", "ae_grade": "1"}
    study.stand_ins.post("redcap/records", [row | {"values": values}])
    readings.read_all(study.project)
    plot = page_of(as_user("crc_b"), CHARTS).xpath("//*[@data-plot='safety']")[0]
    head, *rows = cells(plot)
    assert head[1:] == ["Not serious", "Serious", "Not known whether serious"]
    assert sum(float(one[3]) for one in rows if one[3] != "–") == 1
    BlindedField.objects.create(project=study.project, field="ae_serious", kind="lab")
    study.project.blinded_since = now()
    study.project.save()
    assert heads() == ["Adverse events"]


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


@pytest.mark.full
def test_the_enrolment_curve_ends_at_the_enrolled_of_home(as_user: AsUser, study: Study) -> None:
    client = as_user("zhangyi")
    page = page_of(client, CHARTS)
    marks = page.xpath("//*[@data-plot='enrolment']//*[@data-series='Enrolled']")
    home = page_of(client, "/admin/")
    assert marks[-1].get("data-value") == panel(home, "enrolled").text_content().strip()


@pytest.mark.full
def test_home_tells_first_where_the_study_is_heading(as_user: AsUser, study: Study) -> None:
    """The forecast and the sites that stand out, with the way to both pages; nothing for who sees one site."""
    for site, days in (("site_a", 2), ("site_b", 60)):
        for record in Subject.objects.filter(site=site).values_list("record_id", flat=True)[:4]:
            for n in range(5):
                found(study, record, days + n)
    client = as_user("zhangyi")
    card = panel(page_of(client, "/admin/"), "outlook")
    links = {one.get("href") for one in card.xpath(".//a")}
    assert {f"{CHARTS}?project=LUNG-IIT", f"{RISK}?project=LUNG-IIT"} <= links
    words = panel(page_of(client, CHARTS), "enrolment").xpath(".//section/p[last()]")[0]
    told = " ".join(card.xpath(".//*[@data-test='forecast']")[0].text_content().split())
    assert told == " ".join(words.text_content().split())
    assert "target" in told
    lines = [
        " ".join(one.text_content().split())
        for one in card.xpath(".//*[@data-test='flags']/li[.//*[contains(@class, 'iit-mark')]]")
    ]
    assert any(one.startswith("site_b") and "Old findings" in one for one in lines)
    risk = page_of(client, RISK)
    flagged = risk.xpath(
        "//*[@data-test='overview']//td[contains(., 'above') or contains(., 'below')]"
    )
    assert len(lines) == len(flagged)
    for person in ("crc_b", "auditor"):
        assert not page_of(as_user(person), "/admin/").xpath("//*[@data-test='outlook']")


@pytest.mark.browser
@pytest.mark.parametrize("person", ["zhangyi", "crc_b"])
def test_charts_and_risk_are_accessible_and_ask_no_other_host(
    person: str, page: Page, study: Study
) -> None:
    """With figures drawn, and with no figure but what is unknown."""
    found(study, "P002", 20)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    log_in(page, study, person)
    faults = []
    for path in (CHARTS, RISK):
        page.goto(path)
        faults += [f"{path} {one}" for one in faults_of(page)]
    assert faults == []
    assert {urlsplit(url).netloc for url in asked if not url.startswith("data:")} == {
        urlsplit(page.url).netloc
    }
