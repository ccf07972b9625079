"""Reports and lists: figures equal their queries, scoped, told where unknown, files with who and when."""

from __future__ import annotations

import html
import io
import json
import re
from calendar import monthrange
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils.timezone import now
from docx import Document
from pypdf import PdfReader

from core.house import clock
from engines.models import Deviation, PendingAction, TaskRun
from engines.sop.findings import VERDICT
from memory.models import WeeklyReport
from projects.models import AuditEntry, Project
from study import door, readings
from study.facts import json_value
from study.models import FieldRole, ReadingState, Subject, VisitPlanEntry
from study.visits import due
from tests.engines.sop.kit import change
from tests.support.study import Study

PAGE = "/admin/papers/"
KINDS = ("week", "month", "ethics", "subjects", "findings")
AsUser = Callable[..., Client]
_FIGURE = re.compile(
    r'data-test="figure"><th scope="row">(.*?)</th><td class="is-figure">'
    r"(?:<strong>)?(.*?)(?:</strong>)?</td>\s*"
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


def counted(study: Study, person: str, kind: str, page: str, last: str) -> int:
    """How many figures of a paper were found to be what their queries, or the register, say; all have to be."""
    known = 0
    for label, (value, told, query) in figures(page).items():
        if not query and "登记" in told:
            assert value == f"{registered(study, person, label)} 条", label
        elif not query and "不计入" in told:
            assert value == f"{len(unplaced(study, person, label, told))} 件", label
        elif not query:
            assert value == "未能计算", label
            assert told, label
            continue
        else:
            answer = door.ask_one(study.project, study[person], json.loads(query))
            subjects, rows = json_value(answer.facts[0].value), answer.basis.rows
            number, unit = value.split()
            assert number == str(subjects if unit == "例" else rows), (kind, label, last)
        known += 1
    return known


def registered(study: Study, person: str, label: str) -> int:
    """Rows of the register that a figure speaks of, as this reader sees them."""
    rows = Deviation.objects.for_member(study[person]).filter(project=study.project)
    if "待" in label:
        return rows.filter(state="proposed").count()
    return rows.filter(state="confirmed", grade="major" if "重大" in label else "minor").count()


def unplaced(study: Study, person: str, label: str, told: str) -> list[str]:
    """The terms of events that a figure of what is open speaks of, by plain reading of the rows."""
    found: dict[Any, dict[str, Any]] = {}
    asked = {"select": ["ae_term", "ae_start", "ae_serious"]}
    for one in door.ask_one(study.project, study[person], asked).facts:
        found.setdefault((one.subject, one.event, one.instance), {})[one.field] = one.value
    rows = [row for row in found.values() if any(row.values())]
    if "未填写" in label:
        return [row["ae_term"] for row in rows if row["ae_serious"] is None]
    first, last = map(date.fromisoformat, re.findall(r"\d{4}-\d\d-\d\d", told))
    rows = [row for row in rows if "严重" not in label or row["ae_serious"] == "1"]
    return [row["ae_term"] for row in rows if straddles(row["ae_start"] or "", first, last)]


def straddles(day: str, first: date, last: date) -> bool:
    """Whether a blank, or a month, may lie in the days or not."""
    if len(day) != len("2026-03"):
        return not day
    year, month = map(int, day.split("-"))
    low, high = date(year, month, 1), date(year, month, monthrange(year, month)[1])
    return low < first <= high or low <= last < high


def scope(page: str) -> str:
    """Of which sites, and how many subjects, a paper says that it is."""
    (told,) = re.findall(r"<dt>范围</dt><dd>(.*?)</dd>", page)
    return str(told)


@pytest.mark.full
@pytest.mark.parametrize("kind", ["subjects", "findings"])
def test_a_list_of_a_site_holds_no_figure_of_another(
    as_user: AsUser, suspended: Callable[[str], TaskRun], study: Study, kind: str
) -> None:
    for record in ("P002", "P022"):
        suspended(record)
    client = as_user("zhangyi", "zh-hans")
    page = shown(client, kind, site="site_b")
    theirs = Subject.objects.filter(site="site_b").count()
    own = shown(as_user("crc_b", "zh-hans"), kind)
    assert scope(page) == scope(own)
    assert scope(page).endswith(f"{theirs} 例受试者")
    values = {label: told[0] for label, told in figures(page).items()}
    assert values == {label: told[0] for label, told in figures(own).items()}
    assert all(f"{theirs} 例受试者" in told for _value, told, _query in figures(page).values())
    if kind == "findings":
        assert values == {"本期新增疑点": "1 条", "目前未关闭疑点": "1 条"}
    assert scope(shown(client, kind, site="no_such_site")) == scope(shown(client, kind))

    # Who sees one site gets its paper, whatever the address says, and the trail tells so.
    address = {"kind": kind, "site": "site_a"}
    asked = shown(as_user("crc_b", "zh-hans"), **address)
    assert scope(asked) == scope(own)
    assert {label: told[0] for label, told in figures(asked).items()} == values
    as_user("crc_b").get(PAGE, address | {"form": "docx"})
    assert (
        AuditEntry.objects.filter(action="rows.export").latest("at").new["filter"]["site"]
        == "site_b"
    )


@pytest.mark.full
@pytest.mark.parametrize("kind", ["week", "ethics", "subjects", "findings"])
def test_a_superuser_of_a_site_reads_the_whole_study(
    as_user: AsUser, suspended: Callable[[str], TaskRun], study: Study, kind: str
) -> None:
    for record in ("P002", "P022"):
        suspended(record)
    whole = shown(as_user("zhangyi", "zh-hans"), kind)
    User.objects.filter(username="crc_b").update(is_superuser=True)
    page = shown(as_user("crc_b", "zh-hans"), kind)
    assert scope(page) == scope(whole)
    assert figures(page) == figures(whole)
    assert kind not in ("subjects", "findings") or 'name="site"' in page


@pytest.mark.full
def test_events_that_cannot_be_placed_are_counted_and_listed(as_user: AsUser, study: Study) -> None:
    """A subject's other events hide none whose onset or seriousness is not known."""
    days = {"from": "2026-09-10", "to": "2026-11-01"}
    client = as_user("zhangyi", "zh-hans")
    before = figures(shown(client, "ethics", **days))
    events = {
        "没有日期": ("", "1"),
        "跨期月份": ("2026-09", "0"),
        "期外月份": ("2025-03", "0"),
        "期内月份": ("2026-10", "0"),
        "严重未填": ("2026-10-01", ""),
        "都已填写": ("2026-10-02", "1"),
    }
    place = {"record": "P001", "event": "log_arm_1", "instrument": "ae"}
    rows = [
        place
        | {
            "instance": 20 + number,
            "values": {"ae_term": term, "ae_start": start, "ae_serious": serious, "ae_grade": "3"},
        }
        for number, (term, (start, serious)) in enumerate(events.items())
    ]
    study.stand_ins.post("redcap/records", rows)
    readings.read_all(study.project)
    page = shown(client, "ethics", **days)
    more = {
        label: int(value.split()[0]) - int(before[label][0].split()[0])
        for label, (value, _told, _query) in figures(page).items()
        if label in before and label.endswith("不良事件")
    }
    assert more == {
        "本期不良事件": 3,
        "本期严重不良事件": 1,
        "累计严重不良事件": 2,
        "起始日期不完整的不良事件": 2,
        "起始日期不完整的严重不良事件": 1,
        "是否严重未填写的不良事件": 1,
    }
    listed = page.partition("<h3>待补全的不良事件</h3>")[2].partition("<h3>")[0]
    told = {term: term in listed for term in events}
    assert told == {
        "没有日期": True, "跨期月份": True, "期外月份": False,
        "期内月份": False, "严重未填": True, "都已填写": False,
    }  # fmt: skip
    for person in ("zhangyi", "crc_b"):
        page = shown(as_user(person, "zh-hans"), "ethics", **days)
        assert counted(study, person, "ethics", page, days["to"])
    words = text_of(client.get(PAGE, {"kind": "ethics", "form": "docx", **days}))
    assert "起始日期不完整的严重不良事件" in words
    assert "跨期月份" in words


@pytest.mark.full
@pytest.mark.parametrize("person", ["zhangyi", "crc_b"])
def test_every_figure_equals_its_query(as_user: AsUser, study: Study, person: str) -> None:
    span = {"from": "2026-01-01", "to": str(clock.today("Asia/Shanghai"))}
    client = as_user(person, "zh-hans")
    told = {kind: shown(client, kind, **span) for kind in ("week", "ethics")}
    known = [counted(study, person, kind, page, span["to"]) for kind, page in told.items()]
    # A site that no quality control looked at has fewer that are known.
    assert sum(known) >= 20


@pytest.mark.full
@pytest.mark.parametrize("person", ["zhangyi", "crc_b", "admin"])
@pytest.mark.parametrize("kind", ["week", "month", "ethics", "findings"])
def test_every_figure_of_each_paper_equals_what_it_names(
    as_user: AsUser, suspended: Callable[[str], TaskRun], study: Study, person: str, kind: str
) -> None:
    """With findings and deviations there, over a past month and over the whole year."""
    for record in ("P002", "P022"):
        suspended(record)
    for finding, state in zip(
        PendingAction.objects.order_by("record_id"), ("confirmed", "proposed"), strict=True
    ):
        Deviation.objects.create(
            project=finding.project, finding=finding, record_id=finding.record_id, source="rule", text="超窗",
            found_at=now(), state=state, grade="minor" if state == "confirmed" else "",
        )  # fmt: skip
    client = as_user(person, "zh-hans")
    for first, last in (
        ("2026-01-01", str(clock.today("Asia/Shanghai"))),
        ("2026-09-01", str(clock.today("Asia/Shanghai"))),
    ):
        page = shown(client, kind, **{"from": first, "to": last})
        assert counted(study, person, kind, page, last) >= (2 if kind == "findings" else 10)


@pytest.mark.full
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


@pytest.mark.full
def test_overdue_visits_are_those_of_the_board(as_user: AsUser, study: Study) -> None:
    """Who has left has nothing overdue, who is to leave still has."""
    client, today = as_user("zhangyi", "zh-hans"), clock.today("Asia/Shanghai")

    def overdue() -> list[due.SubjectVisit]:
        told = due.schedule(study.project, study["zhangyi"]).overdue()
        shown_ = figures(shown(client, "week"))["目前逾期访视"][0]
        assert shown_ == f"{len(told)} 次"
        return told

    before = overdue()
    who = before[0].subject
    for day, stays in ((today + timedelta(days=9), True), (today, False)):
        values = {"subject_status": "4", "withdraw_date": str(day)}
        change(study, who, "screening_arm_1", **values)
        readings.read_all(study.project)
        left = [one for one in before if stays or one.subject != who]
        assert [one.visit for one in overdue()] == [one.visit for one in left]


@pytest.mark.full
def test_one_field_says_everywhere_who_withdrew(as_user: AsUser, study: Study) -> None:
    """A field that the dictionary only proposes counts in no paper, as it does in no visit plan."""
    Project.objects.filter(pk=study.project.pk).update(withdraw_field="")
    client = as_user("zhangyi", "zh-hans")
    for kind in ("week", "ethics"):
        value, why, _query = figures(shown(client, kind))["累计退出"]
        assert value == "未能计算"
        assert "没有退出日期字段" in why
    assert "退出日期" not in shown(client, "subjects").partition('data-test="papers"')[2]


@pytest.mark.full
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


@pytest.mark.full
def test_findings_and_deviations_name_their_place(
    as_user: AsUser, suspended: Callable[[str], TaskRun]
) -> None:
    """The same required field is blank at two visits, and in two rows of a form that repeats."""
    first = PendingAction.objects.get(task_run=suspended("P002"))
    places = (
        {"event": "v2_arm_1", "field": "alt"},
        {"event": "v3_arm_1", "field": "alt"},
        {"event": "log_arm_1", "instrument": "ae", "instance": "2", "field": "ae_grade"},
    )
    for number, place in enumerate(places):
        first.pk, first.open_key, first._state.adding = None, f"another {number}", True
        for name, value in place.items():
            setattr(first, name, value)
        first.message = "ALT 为必填项，未填写"
        first.save()
        Deviation.objects.create(
            project=first.project, finding=first, record_id=first.record_id, source="rule", text="漏填",
            found_at=now(), state="confirmed", grade="minor",
        )  # fmt: skip
    client = as_user("zhangyi", "zh-hans")
    expected = {"V2 · 谷丙转氨酶ALT（U/L）", "V3 · 谷丙转氨酶ALT（U/L）"}
    for kind, head in (("findings", "待中心处理的疑点"), ("ethics", "方案偏离")):
        section = shown(client, kind).partition(f"<h3>{head}")[2]
        rows = re.findall(r"<tr>(?:(?!</tr>).)*P002.*?</tr>", section, re.DOTALL)
        told = {cell for row in rows for cell in re.findall(r"<td.*?>(.*?)</td>", row)}
        assert expected <= told, (kind, told)
        assert any("#2" in cell for cell in told), (kind, told)


@pytest.mark.full
def test_the_code_of_who_completed_is_a_setting_of_the_study(as_user: AsUser, study: Study) -> None:
    client = as_user("zhangyi", "zh-hans")
    before = figures(shown(client, "ethics"))["完成研究"]
    assert before[0].endswith("例")
    FieldRole.objects.create(
        project=study.project, role="completed", of="2", field="subject_status"
    )
    value, told, query = figures(shown(client, "ethics"))["完成研究"]
    assert json.loads(query)["where"] == [{"field": "@status", "op": "in", "value": ["2"]}]
    assert value != before[0]
    assert "已入组" in told


@pytest.mark.full
def test_what_was_never_checked_is_not_computed(
    as_user: AsUser, suspended: Callable[[str], TaskRun]
) -> None:
    """Neither findings nor deviations are 0 before quality control ran at a site of the reader's."""
    labels = {
        "week": ("本期新增疑点", "目前未关闭疑点", "已确认偏离:重大", "待确认偏离"),
        "findings": ("本期新增疑点", "目前未关闭疑点"),
        "ethics": ("已确认偏离:重大", "待确认偏离"),
    }
    for ran in (False, True):
        if ran:
            suspended("P002")
        for person, is_known in (("zhangyi", ran), ("crc_b", False)):
            for kind, names in labels.items():
                page = shown(as_user(person, "zh-hans"), kind)
                told = figures(page)
                for name in names:
                    value, why, _query = told[name]
                    assert (value == "未能计算") is not is_known, (person, kind, name)
                    assert ("未做过质控" in why) is not is_known
                assert ("未做过质控" in page) is not is_known


@pytest.mark.full
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


@pytest.mark.full
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


@pytest.mark.full
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


@pytest.mark.full
def test_findings_that_a_model_judged_are_labelled(
    as_user: AsUser, suspended: Callable[[str], TaskRun]
) -> None:
    for record in ("P002", "P022"):
        suspended(record)
    client = as_user("zhangyi", "zh-hans")
    page = shown(client, "findings")
    assert "AI生成" not in page
    assert '<meta name="AIGC"' not in page
    PendingAction.objects.filter(record_id="P022").update(
        rule_key=VERDICT, message="病历未见肺部影像。", value=""
    )
    page = shown(client, "findings")
    assert "病历未见肺部影像。 [AI生成]" in page
    assert page.count("[AI生成]") == 1
    assert "由人工智能生成" in page
    assert '<meta name="AIGC"' in page
    for form in ("docx", "pdf"):
        words = text_of(client.get(PAGE, {"kind": "findings", "form": form}))
        assert "本文件含有人工智能生成的内容" in words
        assert "标有“AI生成”的文字由人工智能生成" in words
    assert '<meta name="AIGC"' not in shown(client, "findings", site="site_a")


@pytest.mark.full
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


@pytest.mark.full
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


@pytest.mark.full
def test_a_foreign_study_reads_like_none(as_user: AsUser) -> None:
    assert as_user("zhangyi").get(PAGE, {"project": "GHOST"}).status_code == 404
    assert as_user("charlie").get(PAGE).status_code == 404
    assert Client().get(PAGE).status_code == 302
    assert not AuditEntry.objects.filter(action="rows.export").exists()
