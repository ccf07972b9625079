"""The subject's page: what its reader may know, by a constant number of statements."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from engines.models import TaskRun
from engines.pages.chart import chart
from skills.models import Skill
from study import readings
from study.design import design_of
from study.facts import Fact, Kind
from study.models import Subject
from tests.console.conftest import SITE_A
from tests.engines.sop.kit import change
from tests.support.study import Study

AsUser = Callable[..., Client]
MOST = 30


def address(record_id: str) -> str:
    return f"/admin/study/subject/{Subject.objects.get(record_id=record_id).pk}/page/"


def shown(client: Client, record_id: str) -> str:
    answer = client.get(address(record_id))
    assert answer.status_code == 200
    return answer.content.decode()


def part(page: str, name: str) -> str:
    return page.split(f'data-test="{name}"')[1].split("</section>")[0]


@pytest.mark.full
def test_it_tells_visits_labs_and_events(as_user: AsUser, study: Study) -> None:
    page = shown(as_user("zhangyi", "zh-hans"), "P016")
    assert "V2" in part(page, "timeline")
    labs = part(page, "labs")
    assert "<svg" in labs
    assert "ALT" in labs
    assert "185" in labs
    assert "高于上限" in labs
    log = shown(as_user("zhangyi", "zh-hans"), "P003")
    assert "不良事件名称" in part(log, "form")


@pytest.mark.full
def test_it_tells_findings_reviews_and_runs(as_user: AsUser, run_a: TaskRun) -> None:
    page = shown(as_user("wanghushi", "zh-hans"), SITE_A)
    assert "年龄超出范围" in part(page, "findings")
    assert "年龄是否已核对?" in part(page, "reviews")
    assert "挂起" in part(page, "runs")


@pytest.mark.full
def test_no_finding_is_told_only_where_quality_control_ran(as_user: AsUser, run_a: TaskRun) -> None:
    unknown = shown(as_user("zhangyi", "en"), "P003")
    assert "whether there are findings is not known" in part(unknown, "findings")
    run_a.pk, run_a.record_id, run_a.status = None, "P003", TaskRun.Status.COMPLETED
    run_a.save(force_insert=True)
    clean = shown(as_user("zhangyi", "en"), "P003")
    assert "There is no finding on this subject." in part(clean, "findings")


@pytest.mark.full
def test_it_names_no_person(as_user: AsUser, study: Study) -> None:
    readings.read_all(study.project)
    for subject in Subject.objects.filter(record_id__in=("P001", "P016")):
        page = shown(as_user("zhangyi"), subject.record_id)
        assert "测试" not in page.split('data-test="subject"')[1]
        assert "13800000" not in page


@pytest.mark.full
def test_it_leads_to_redcap(as_user: AsUser, study: Study) -> None:
    page = shown(as_user("zhangyi"), "P001")
    assert "/DataEntry/record_home.php?pid=" in page
    assert "id=P001" in page


@pytest.mark.full
def test_not_yours_and_not_there_are_the_same(as_user: AsUser, study: Study) -> None:
    client = as_user("crc_b")
    assert client.get(address("P001")).status_code == 404
    assert client.get("/admin/study/subject/999999/page/").status_code == 404
    assert client.post(address("P022")).status_code == 405
    assert shown(client, "P022")


def test_an_outage_is_said(as_user: AsUser, study: Study) -> None:
    """What was read before is told with its time; where nothing was, nothing looks clean."""
    study.stand_ins.fault("redcap", "status", 500, times=50)
    page = shown(as_user("zhangyi"), "P001")
    assert "REDCap could not be read" in page
    assert 'data-test="findings"' not in page


@pytest.mark.full
def test_its_statements_do_not_grow_with_the_rows(
    as_user: AsUser, study: Study, suspended: Callable[[str], TaskRun]
) -> None:
    client = as_user("wanghushi")
    counts = []
    for more in (0, 1, 3):
        for _n in range(more):
            suspended(SITE_A)
        shown(client, SITE_A)
        with CaptureQueriesContext(connection) as told:
            shown(client, SITE_A)
        counts.append(sum("SAVEPOINT" not in query["sql"] for query in told))
    assert counts[1] == counts[2]
    assert max(counts) <= MOST, "\n".join(query["sql"][:150] for query in told)


@pytest.mark.full
def test_it_tells_what_was_changed(as_user: AsUser, study: Study) -> None:
    readings.read_all(study.project)
    client = as_user("zhangyi", "zh-hans")
    assert "尚未读到任何数据变更" in part(shown(client, "P008"), "changes")
    change(study, "P008", "baseline_arm_1", weight_kg="61.5")
    assert "61.5" in part(shown(client, "P008"), "changes")


@pytest.mark.full
def test_every_measured_field_is_drawn_with_axes(as_user: AsUser, study: Study) -> None:
    """Those without limits, too; what has no number is named."""
    page = shown(as_user("zhangyi", "zh-hans"), "P016")
    labs = part(page, "labs")
    design = design_of(study.project)
    assert len(design.measured) > len(design.ranges)
    for name in design.measured:
        assert design.metadata.label(name) in labs, name
    charts = labs.split("<svg")[1:]
    assert len(charts) > len(design.ranges)
    for one in charts:
        assert 'class="iit-axis"' in one
        assert one.count('class="iit-tick"') >= 2
    assert "2026-" in charts[0] or "V" in charts[0]
    for one in charts:
        drawing, _end, beneath = one.partition("</svg>")
        drawn = [told.split()[0] for told in re.findall(r"<title>.*?: (.*?)</title>", drawing)]
        listed = re.findall(r'<span class="iit-nowrap.*?">(\S+?)[ <]', beneath)
        assert drawn == listed
        assert drawn


def test_ticks_are_round_and_within_the_values() -> None:
    def fact(number: int, value: float) -> Fact:
        return Fact("", Kind.VALUE, date=f"2026-01-{number:02}", value=value, text=str(value))

    for values in ([3.1, 9.7, 88.0], [0.02, 0.05], [1200.0, 1350.0], [7.0], [-4.0, 4.0]):
        drawn = chart("x", [fact(n, value) for n, value in enumerate(values, 1)])
        assert drawn is not None
        ticks = [float(tick.text) for tick in drawn.up]
        assert 1 <= len(ticks) <= 4
        assert min(values) <= min(ticks)
        assert max(ticks) <= max(values)
        assert drawn.along[0].text == "2026-01-01"


@pytest.mark.full
def test_a_value_that_is_no_number_is_told_of(as_user: AsUser, study: Study) -> None:
    change(study, "P016", "v2_arm_1", alt="UNK")
    labs = part(shown(as_user("zhangyi"), "P016"), "labs")
    assert "1 value that is no number is not drawn" in labs


@pytest.mark.full
def test_history_and_empty_forms_are_told(as_user: AsUser, study: Study) -> None:
    page = shown(as_user("zhangyi", "zh-hans"), "P001")
    forms = part(page, "forms")
    assert "既往史" in forms
    design = design_of(study.project)
    for form in design.shown_forms:
        assert design.metadata.form_label(form) in page, form
    screened = part(shown(as_user("zhangyi", "zh-hans"), "P035"), "forms")
    assert "未录入" in screened


@pytest.mark.full
def test_who_may_order_gets_a_form_that_is_filled_in(as_user: AsUser, study: Study) -> None:
    page = shown(as_user("wanghushi"), "P001")
    link = re.search(r'data-test="order" href="([^"]+)"', page)
    assert link
    form = as_user("wanghushi").get(unescape(link[1])).content.decode()
    assert ">P001</textarea>" in form
    chosen = re.search(r'<option value="([^"]+)" selected', form)
    assert chosen
    assert Skill.objects.get(pk=chosen[1]).skill_type == "qc_process"
    assert 'data-test="order"' not in shown(as_user("auditor"), "P001")
