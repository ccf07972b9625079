"""Reports and lists: figures equal their queries, scoped, told where unknown, files with who and when."""

from __future__ import annotations

import html
import io
import json
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils.timezone import now
from docx import Document
from pypdf import PdfReader

from engines.models import Deviation, PendingAction, TaskRun
from memory.models import WeeklyReport
from projects.models import AuditEntry
from study import door, readings
from study.facts import json_value
from study.models import FieldRole, ReadingState, Subject, VisitPlanEntry
from tests.support.study import Study

PAGE = "/admin/papers/"
KINDS = ("week", "month", "ethics", "subjects", "findings")
AsUser = Callable[..., Client]
_FIGURE = re.compile(
    r'data-test="figure"><th scope="row">(.*?)</th><td>(?:<strong>)?(.*?)(?:</strong>)?</td>\s*'
    r'<td class="iit-muted">(.*?)(?: <details>.*?<code>(.*?)</code>.*?)?</td>',
    re.DOTALL,
)


@pytest.fixture(autouse=True)
def _read(study: Study) -> None:
    readings.read_all(study.project)


def shown(client: Client, kind: str, **query: str) -> str:
    answer = client.get(PAGE, {"kind": kind, **query})
    assert answer.status_code == 200
    return html.unescape(answer.content.decode())


def figures(page: str) -> dict[str, tuple[str, str, str]]:
    """Label → value, definition, query."""
    return {label: (value, told, query) for label, value, told, query in _FIGURE.findall(page)}


def text_of(answer: Any) -> str:
    """The words of a downloaded file."""
    if answer.headers["Content-Type"] == "application/pdf":
        pages = PdfReader(io.BytesIO(answer.content)).pages
        return "".join("".join(one.extract_text().split()) for one in pages).replace("\u200b", "")
    file: Any = Document(io.BytesIO(answer.content))
    cells = [cell.text for table in file.tables for row in table.rows for cell in row.cells]
    told = "".join([*cells, *(one.text for one in file.paragraphs)])
    return "".join(told.split())


@pytest.mark.parametrize("person", ["zhangyi", "crc_b"])
def test_every_figure_equals_its_query(as_user: AsUser, study: Study, person: str) -> None:
    span = {"from": "2026-01-01", "to": str(now().date())}
    known = 0
    for kind in ("week", "ethics"):
        for label, (value, told, query) in figures(
            shown(as_user(person, "zh-hans"), kind, **span)
        ).items():
            if not query and "登记" in told:
                continue
            if not query:
                assert value == "未能计算", label
                assert told, label
                continue
            answer = door.ask_one(study.project, study[person], json.loads(query))
            subjects, rows = json_value(answer.facts[0].value), answer.basis.rows
            number, unit = value.split()
            assert number == str(subjects if unit == "例" else rows), label
            known += 1
    assert known > 20


def test_a_site_counts_and_lists_its_own(as_user: AsUser, study: Study) -> None:
    theirs = Subject.objects.exclude(site="site_b").values_list("record_id", flat=True)
    page = shown(as_user("crc_b", "zh-hans"), "subjects", site="site_a")
    cells = re.findall(r'<th scope="row">(\S+?)</th>', page)
    assert not {*cells} & {*theirs}
    own = shown(as_user("crc_b", "zh-hans"), "subjects")
    assert {*re.findall(r'<th scope="row">(P\d+)</th>', own)} <= {
        *Subject.objects.filter(site="site_b").values_list("record_id", flat=True)
    }
    ethics = figures(shown(as_user("crc_b", "zh-hans"), "ethics"))
    whole = figures(shown(as_user("zhangyi", "zh-hans"), "ethics"))
    assert ethics["累计入组"][0] != whole["累计入组"][0]
    assert not any("site_a" in label or "演示医院A" in label for label in ethics)


def test_what_cannot_be_counted_says_so_and_why(as_user: AsUser, study: Study) -> None:
    VisitPlanEntry.objects.all().delete()
    study.project.enrolment_field = "no_such_field"
    study.project.target_enrolment = 0
    study.project.save()
    FieldRole.objects.all().delete()
    told = figures(shown(as_user("zhangyi", "zh-hans"), "week"))
    for label, why in (
        ("计划入组", "未设置计划入组例数"),
        ("累计入组", "没有入组日期字段"),
        ("目前逾期访视", "没有访视计划"),
    ):
        value, definition, query = told[label]
        assert (value, query) == ("未能计算", "")
        assert why in definition


def test_deviations_are_those_of_the_register(
    as_user: AsUser, suspended: Callable[[str], TaskRun]
) -> None:
    for record in ("P002", "P022"):
        suspended(record)
    for finding, grade in zip(PendingAction.objects.order_by("record_id"), "12", strict=True):
        Deviation.objects.create(
            project=finding.project,
            finding=finding,
            record_id=finding.record_id,
            source="rule",
            text=f"超窗 {grade}",
            found_at=now(),
            state="confirmed",
            grade="major" if grade == "1" else "minor",
        )
    whole = shown(as_user("zhangyi", "zh-hans"), "ethics")
    own = shown(as_user("crc_b", "zh-hans"), "ethics")
    assert [figures(whole)[f"已确认偏离:{g}"][0] for g in ("重大", "一般")] == ["1 条", "1 条"]
    assert [figures(own)[f"已确认偏离:{g}"][0] for g in ("重大", "一般")] == ["0 条", "1 条"]
    assert "超窗 1" in whole
    assert "超窗 1" not in own
    before = shown(
        as_user("zhangyi", "zh-hans"), "ethics", **{"from": "2026-01-01", "to": "2026-01-02"}
    )
    assert figures(before)["已确认偏离:重大"][0] == "0 条"
    assert "超窗 1" not in before


@pytest.mark.parametrize("kind", KINDS)
def test_files_hold_what_the_page_holds_and_who_and_when(
    as_user: AsUser, study: Study, kind: str
) -> None:
    client = as_user("zhangyi", "zh-hans")
    page = shown(client, kind)
    title = re.search(r"<h3>(.*?)</h3>", page)
    assert title
    for form in ("docx", "pdf"):
        answer = client.get(PAGE, {"kind": kind, "form": form})
        assert answer.status_code == 200
        words = text_of(answer)
        for said in (title[1], "导出人zhangyi", "导出时间", "数据截至", "LUNG-IIT"):
            assert said in words, (form, said)
        for label, (value, _told, _query) in figures(page).items():
            assert "".join((label + value).split()) in words, (form, label)
        entry = AuditEntry.objects.filter(action="rows.export").latest("at")
        assert entry.new["model"] == f"paper.{kind}"
        assert entry.new["filter"]["form"] == form
        assert entry.new["filter"]["number"] in words
    assert AuditEntry.objects.filter(action="rows.export").count() == 2


def test_what_a_model_summed_up_is_labelled_for_people_and_machines(
    as_user: AsUser, study: Study
) -> None:
    start = study.project.start_date
    report = WeeklyReport.objects.filter(project=study.project, week_number=2).first()
    report = report or WeeklyReport(project=study.project, week_number=2, created_by="system")
    report.week_start = report.week_end = now()
    report.summary = "## Week 2\n### 关键决策\n- 加快入组 #panic(1)\n"
    report.narrated_at = now()
    report.save()
    days = {"from": str(start + timedelta(days=7)), "to": str(start + timedelta(days=13))}
    client = as_user("zhangyi", "zh-hans")
    page = shown(client, "week", **days)
    assert "加快入组 #panic(1)" in page
    assert "本节由人工智能" in page
    assert '<meta name="AIGC"' in page
    files = {f: client.get(PAGE, {"kind": "week", "form": f, **days}) for f in ("docx", "pdf")}
    for answer in files.values():
        assert "本文件含有人工智能生成的内容" in text_of(answer)
        assert "加快入组#panic(1)" in text_of(answer)
    about = PdfReader(io.BytesIO(files["pdf"].content)).metadata
    assert about
    assert json.loads(about["/Keywords"])["AIGC"]["Label"] == "1"
    WeeklyReport.objects.filter(pk=report.pk).update(narrated_at=None)
    page = shown(client, "week", **days)
    assert "人工智能" not in page
    assert '<meta name="AIGC"' not in page


def test_no_identifier_leaves(as_user: AsUser, study: Study) -> None:
    client = as_user("zhangyi", "zh-hans")
    stored = json.loads(Subject.objects.get(record_id="P002").identifiers)
    values = [value for value in stored.values() if len(value) > 1]
    assert values
    WeeklyReport.objects.filter(project=study.project).delete()
    start = study.project.start_date
    WeeklyReport.objects.create(
        project=study.project, week_number=1, created_by="zhangyi", week_start=now(), week_end=now(),
        summary="## Week 1\n### 待办\n- 联系" + "，".join(values),
    )  # fmt: skip
    days = {"from": str(start), "to": str(start + timedelta(days=6))}
    pages = [shown(client, kind, **days) for kind in KINDS]
    assert "联系" in pages[0]
    for page in pages:
        assert not any(value in page.split('data-test="papers"')[1] for value in values)


def test_who_withdrew_stands_in_one_row(as_user: AsUser) -> None:
    page = shown(as_user("zhangyi", "zh-hans"), "ethics", **{"from": "2026-01-01"})
    section = page.partition("本期退出")[2].partition("方案偏离")[0]
    (row,) = re.findall(r"<tr>(?:(?!</tr>).)*P018.*?</tr>", section, re.DOTALL)
    assert len(re.findall(r"\d{4}-\d\d-\d\d", row)) == 2  # enrolled and withdrawn


@pytest.mark.parametrize("path", [PAGE, "/admin/charts/", "/admin/site-risk/"])
def test_nothing_is_counted_before_anything_was_read(
    as_user: AsUser, study: Study, path: str
) -> None:
    ReadingState.objects.filter(project=study.project).update(read_at=None)
    page = as_user("zhangyi", "zh-hans").get(path).content.decode()
    assert "尚未从 REDCap 读取本研究的受试者" in page
    assert 'data-test="figure"' not in page
    assert "还没有" not in page


def test_a_foreign_study_reads_like_none(as_user: AsUser) -> None:
    assert as_user("zhangyi").get(PAGE, {"project": "GHOST"}).status_code == 404
    assert as_user("charlie").get(PAGE).status_code == 404
    assert Client().get(PAGE).status_code == 302
    assert not AuditEntry.objects.filter(action="rows.export").exists()
