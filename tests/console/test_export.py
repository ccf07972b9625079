"""Lists as CSV files: what the list shows, safe in a spreadsheet, scoped, audited, without identifiers."""

from __future__ import annotations

import csv
import gc
import io
import json
from collections.abc import Callable
from datetime import UTC, date, datetime
from types import FunctionType, ModuleType
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.test import Client, RequestFactory
from openpyxl import load_workbook

from core.house.db import atomic
from engines.models import PendingAction, TaskRun
from engines.sop.findings import VERDICT
from projects import audit
from projects.models import AuditEntry, Project
from study.admin.export import ExportAdmin, Sheet
from study.models import Dictionary, Subject, SyncState
from tests.console.conftest import SITE_A, SITE_B
from tests.support.study import Study

FINDINGS = "/admin/engines/pendingaction/"
LISTS = (
    FINDINGS,
    "/admin/engines/taskrun/",
    "/admin/engines/review/",
    "/admin/projects/auditentry/",
    "/admin/study/subject/",
    "/admin/study/visitplanentry/",
)


def read(answer: Any) -> list[list[str]]:
    """The rows of a download, its header first."""
    assert answer.status_code == 200, answer
    assert answer.streaming
    text = answer.getvalue().decode("utf-8")
    assert text.startswith("\ufeff")
    return list(csv.reader(io.StringIO(text[1:])))


def told(**more: Any) -> Any:
    """The newest entry about an export."""
    return AuditEntry.objects.filter(action="rows.export", **more).order_by("-at").first()


@pytest.mark.full
@pytest.mark.parametrize("address", LISTS)
def test_the_export_holds_what_the_list_holds(
    as_user: Callable[..., Client], run_a: TaskRun, address: str
) -> None:
    client = as_user("admin", "zh-hans")
    page = client.get(address)
    shown = page.context_data["cl"]
    assert f'href="{address}export/"' in page.content.decode()
    answer = client.get(f"{address}export/")
    head, *rows = read(answer)
    # The trail holds the entries of its own export, one a chain, made before the first row was read.
    entries = AuditEntry.objects.filter(action="rows.export", actor="admin")
    own = entries.count() * (shown.model is AuditEntry)
    assert len(rows) == shown.result_count + own
    assert len(head) == len(shown.model_admin.get_exported(page.wsgi_request))
    assert all(head)
    assert "LUNG-IIT" in answer.headers["Content-Disposition"]
    assert sum(entry.new["rows"] for entry in entries) == len(rows) - own
    for entry in entries:
        named = {"model": shown.model._meta.model_name, "filter": {}}
        assert entry.new == named | {"rows": entry.new["rows"]}


@pytest.mark.full
def test_headers_and_words_are_the_readers(as_user: Callable[..., Client], run_a: TaskRun) -> None:
    head, row = read(as_user("admin", "zh-hans").get(f"{FINDINGS}export/"))
    assert head[:4] == ["受试者", "来源", "严重程度", "类型"]
    assert [row[0], *row[2:4]] == [SITE_A, "错误", "违背"]
    head, row = read(as_user("admin").get(f"{FINDINGS}export/"))
    assert head[:4] == ["Subject", "Source", "Severity", "Kind"]
    assert [row[0], *row[2:4]] == [SITE_A, "Error", "Violation"]


@pytest.mark.full
def test_a_shortened_text_is_exported_whole(as_user: Callable[..., Client], run_a: TaskRun) -> None:
    PendingAction.objects.update(message="甲" * 200)
    _head, row = read(as_user("admin").get(f"{FINDINGS}export/"))
    assert "甲" * 200 in row


@pytest.mark.full
@pytest.mark.parametrize(
    ("zone", "time"),
    [("Asia/Shanghai", "2026-03-02 04:30:00"), ("America/New_York", "2026-03-01 15:30:00")],
)
def test_a_time_is_told_in_the_zone_of_its_study(
    as_user: Callable[..., Client], run_a: TaskRun, zone: str, time: str
) -> None:
    Project.objects.filter(pk=run_a.project_id).update(timezone=zone)
    PendingAction.objects.update(created_at=datetime(2026, 3, 1, 20, 30, tzinfo=UTC))
    head, row = read(as_user("admin").get(f"{FINDINGS}export/"))
    assert row[head.index("Found")] == time


@pytest.mark.full
def test_what_a_model_wrote_is_labelled_for_people_and_machines(
    as_user: Callable[..., Client], suspended: Callable[[str], TaskRun]
) -> None:
    suspended(SITE_A), suspended(SITE_B)
    client = as_user("admin")

    def book() -> Any:
        return load_workbook(io.BytesIO(client.get(f"{FINDINGS}export-xlsx/").content))

    assert "AIGC" not in book().custom_doc_props.names
    assert "number" not in told().new
    PendingAction.objects.filter(record_id=SITE_B).update(rule_key=VERDICT)
    head, *rows = read(client.get(f"{FINDINGS}export/"))
    labels = {row[0]: row[head.index("AI label")] for row in rows}
    assert labels == {SITE_A: "", SITE_B: "AI-generated"}
    file = book()
    head, *rows = file.active.iter_rows(values_only=True)
    assert {row[0]: row[head.index("AI label")] or "" for row in rows} == labels
    mark = json.loads(file.custom_doc_props["AIGC"].value)["AIGC"]
    assert mark["Label"] == "1"
    assert mark["ProduceID"] == told().new["number"]


@pytest.mark.full
def test_the_filter_of_the_list_is_the_exports(
    as_user: Callable[..., Client], suspended: Callable[[str], TaskRun]
) -> None:
    suspended(SITE_A), suspended(SITE_B)
    client = as_user("admin")
    page = client.get(f"{FINDINGS}?state__exact=open&q={SITE_B}&p=1&o=-1").content.decode()
    assert f"{FINDINGS}export/?state__exact=open&amp;q={SITE_B}&amp;o=-1" in page
    _head, *rows = read(client.get(f"{FINDINGS}export/?state__exact=open&q={SITE_B}"))
    assert [row[0] for row in rows] == [SITE_B]
    assert told().new["filter"] == {"state__exact": "open", "search": True}


@pytest.mark.full
def test_the_ticked_rows_are_exported(
    as_user: Callable[..., Client], suspended: Callable[[str], TaskRun]
) -> None:
    suspended(SITE_A), suspended(SITE_B)
    chosen = PendingAction.objects.get(record_id=SITE_B)
    answer = as_user("admin").post(
        FINDINGS, {"action": "export_selected", "index": "0", "_selected_action": str(chosen.pk)}
    )
    _head, *rows = read(answer)
    assert [row[0] for row in rows] == [SITE_B]
    assert told().new == {"model": "pendingaction", "rows": 1, "filter": {"selected": True}}


@pytest.mark.full
@pytest.mark.parametrize("name", ["taskrun", "pendingaction", "review"])
def test_a_site_exports_its_own_rows(
    as_user: Callable[..., Client], suspended: Callable[[str], TaskRun], name: str
) -> None:
    suspended(SITE_A), suspended(SITE_B)
    _head, *rows = read(as_user("crc_b").get(f"/admin/engines/{name}/export/"))
    assert any(SITE_B in row for row in rows)
    assert not any(SITE_A in cell for row in rows for cell in row)
    theirs = PendingAction.objects.get(record_id=SITE_A)
    answer = as_user("crc_b").post(
        FINDINGS, {"action": "export_selected", "index": "0", "_selected_action": str(theirs.pk)}
    )
    assert len(read(answer)) == 1


def test_who_may_not_see_the_list_exports_nothing(as_user: Callable[..., Client]) -> None:
    for address in LISTS:
        assert as_user("charlie").get(f"{address}export/").status_code == 403, address
    assert as_user("crc_b").get("/admin/projects/auditentry/export/").status_code == 403
    assert told() is None


@pytest.mark.parametrize(
    ("message", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
        ("-2+3", "'-2+3"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t'=1"),
        ("\r=1", "'\r'=1"),
        ("  =1", "'  =1"),
        ("＝1", "'＝1"),
        ("-5", "-5"),
        ("-", "-"),
        ("+3.25", "+3.25"),
        ('他说"对",\n第二行', '他说"对",\n第二行'),
    ],
)
def test_no_cell_is_a_formula(
    as_user: Callable[..., Client], run_a: TaskRun, message: str, cell: str
) -> None:
    PendingAction.objects.update(message=message)
    answer = as_user("admin").get(f"{FINDINGS}export/").getvalue().decode("utf-8")
    _head, row = csv.reader(io.StringIO(answer, newline=""))
    assert cell in row


def test_no_identifier_leaves(as_user: Callable[..., Client], run_a: TaskRun) -> None:
    stored = json.loads(Subject.objects.get(record_id=SITE_A).identifiers)
    values = [value for value in stored.values() if len(value) > 1]
    assert values
    PendingAction.objects.update(message="核对：" + "，".join(values))
    client = as_user("admin")
    sheet = read(client.get(f"{FINDINGS}export/?q={values[0]}"))
    sheet += read(client.get(f"{FINDINGS}export/?skill_type={values[0]}"))
    trail = json.dumps([entry.new for entry in AuditEntry.objects.filter(action="rows.export")])
    for value in values:
        assert not any(value in cell for row in sheet for cell in row), value
        assert json.dumps(value)[1:-1] not in trail, value
    assert len(sheet) == 3
    assert '"search": true' in trail


def test_a_digest_is_whole_and_what_stands_beside_it_is_masked(
    as_user: Callable[..., Client], run_a: TaskRun
) -> None:
    digest = "5fd8a76096030148f75240925df13800138000f4d65f84a8d70df2b4667b7047"
    with atomic():
        audit.record(
            "review.ask",
            actor="system",
            project=run_a.project,
            new={"seen": digest, "question": "联系电话 13900139000"},
        )
    file = as_user("admin", "zh-hans").get("/admin/projects/auditentry/export/")
    [cell] = [cell for row in read(file) for cell in row if "5fd8a760" in cell]
    assert digest in cell
    assert "13900139000" not in cell


@pytest.mark.full
def test_without_the_list_of_identifiers_nothing_leaves(
    as_user: Callable[..., Client], study: Any, run_a: TaskRun
) -> None:
    Dictionary.objects.all().delete()
    study.project.redcap_url = ""
    study.project.save()
    client = as_user("admin")
    answer = client.get(f"{FINDINGS}export/", follow=True)
    assert answer.redirect_chain == [(FINDINGS, 302)]
    assert "REDCap could not be read." in answer.content.decode()
    assert told() is None


@pytest.mark.full
def test_a_study_that_was_never_read_is_read_first_or_nothing_leaves(
    as_user: Callable[..., Client], study: Study, run_a: TaskRun
) -> None:
    name = json.loads(Subject.objects.get(record_id=SITE_A).identifiers)["subject_name"]
    PendingAction.objects.update(message=f"核对{name}")
    Subject.objects.all().delete()
    SyncState.objects.all().delete()
    study.stand_ins.fault("redcap", "status", 403, times=9)
    client = as_user("admin")
    answer = client.get(f"{FINDINGS}export/", follow=True)
    assert answer.redirect_chain == [(FINDINGS, 302)]
    assert "LUNG-IIT: REDCap could not be read." in answer.content.decode()
    study.stand_ins.reset()
    sheet = read(client.get(f"{FINDINGS}export/"))
    assert len(sheet) == 2
    assert not any(name in cell for row in sheet for cell in row)


def test_rows_of_a_study_that_came_up_meanwhile_are_left_out(
    as_user: Callable[..., Client], study: Study
) -> None:
    User.objects.create_superuser("root", password="a-good-long-word")
    answer = as_user("root").get("/admin/projects/auditentry/export/")
    other = Project.objects.create(code="NEW-IIT", name="新研究", start_date=date(2026, 1, 1))
    with atomic():
        audit.record("roster.sync", actor="system", project=other, new={})
    _head, *rows = read(answer)
    assert rows
    assert not any("NEW-IIT" in cell for row in rows for cell in row)


def test_a_filter_that_does_not_exist_leads_back_to_the_list(
    as_user: Callable[..., Client], run_a: TaskRun
) -> None:
    answer = as_user("admin").get(f"{FINDINGS}export/?created_at__gte=never")
    assert (answer.status_code, answer.headers["Location"]) == (302, FINDINGS)


def reached(root: object, *stop: object) -> set[int]:
    """The ids of all that an object keeps alive by itself, beyond modules, classes and `stop`."""
    seen = {id(one) for one in stop}
    left = [root]
    while left:
        one = left.pop()
        if id(one) not in seen and not isinstance(one, ModuleType | FunctionType | type):
            seen.add(id(one))
            left += gc.get_referents(one)
    return seen


@pytest.mark.full
def test_a_long_file_does_not_keep_all_that_it_has_read(study: Study) -> None:
    """Below the bounded memory of the file each gate kept every cell, and every number that it masked."""
    page, request = admin.site._registry[PendingAction], RequestFactory().get("/")
    request.user = User.objects.create_superuser("root")
    assert isinstance(page, ExportAdmin)
    project = study.project
    sheet = Sheet(page, request, {project.pk: project})
    before = len(reached(sheet, page, request))
    for number in range(5000):
        for of in (project.pk, None):
            assert "13812" not in sheet.plain(f"{number} 电话 1381234{number:04}", of)
    # Of each cell that is remembered: its text and what became of it, with their place in the memory.
    assert len(reached(sheet, page, request)) - before < 6 * 4096
