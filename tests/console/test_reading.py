"""What a page says, it says in the reader's words; and it offers nothing that does not open for the reader."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse
from django.utils.translation import override

from core.house.admin_json import PARSER
from engines import sop
from engines.models import Batch, PendingAction, TaskRun
from memory.models import ProjectMemory, UserMemory, WeeklyReport
from projects.admin_base import ScopedAdmin
from projects.models import Member
from skills.models import Skill
from skills.validation import validate
from tests.console.conftest import CONFIG, review_of

SENT = "/admin/what-would-be-sent/"
# Names that are the same in both languages.
NAMES = {"REDCap", "ID", "Token"}


def change_page(client: Client, row: Any) -> str:
    url = reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", args=[row.pk])
    return client.get(url, follow=True).content.decode()


def labels(page: str) -> set[str]:
    """The names of fields and columns, without icons."""
    page = re.sub(r"<span[^>]*material-symbols[^>]*>.*?</span>", "", page, flags=re.DOTALL)
    heads = "".join(re.findall(r"<thead.*?</thead>", page, re.DOTALL))
    found = re.findall(r"<label\b[^>]*>(.*?)</label>", page, re.DOTALL)
    found += re.findall(r"<th\b[^>]*>(.*?)</th>", heads, re.DOTALL)
    plain = (re.sub(r"<[^>]+>|\s+", " ", text) for text in found)
    return {html.unescape(text).strip(" :*") for text in plain}


@pytest.mark.full
def test_every_name_of_a_field_is_chinese(
    as_user: Callable[..., Client], run_a: TaskRun, study: Any
) -> None:
    client = as_user("admin", "zh-hans")
    english: dict[str, set[str]] = {}
    for model, page in admin.site._registry.items():
        row = model._default_manager.first()
        if row is None or not isinstance(page, ScopedAdmin):
            continue
        listed = client.get(
            reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
        )
        found = labels(change_page(client, row)) | labels(listed.content.decode())
        words = {text for text in found - NAMES if re.fullmatch(r"[A-Za-z][A-Za-z ]+", text)}
        if words:
            english[model.__name__] = words
    assert english == {}


@pytest.mark.full
def test_a_value_is_read_out_not_its_code(
    as_user: Callable[..., Client], run_a: TaskRun, study: Any
) -> None:
    finding = PendingAction.objects.get(task_run=run_a)
    page = change_page(as_user("admin"), finding)
    assert finding.outcome == "FAIL"
    assert re.search(r">\s*Not passed\s*<", page)
    assert not re.search(r">\s*FAIL\s*<", page)


@pytest.mark.full
def test_a_run_that_is_over_stands_at_no_node(
    as_user: Callable[..., Client], run_a: TaskRun, study: Any
) -> None:
    client = as_user("wanghushi")
    sent = {"approve": "1", "reason": "已核对出生日期", "seen": review_of(run_a).seen}
    client.post(f"/admin/engines/taskrun/{run_a.pk}/decide/", sent)
    sop.drive(run_a.pk)
    run_a.refresh_from_db()
    assert run_a.current_node == run_a.final_state == "end_success"
    assert not re.search(r">\s*end_success\s*<", change_page(client, run_a))


BROKEN: dict[str, Callable[[dict[str, Any]], object]] = {
    "“start_node” is missing.": lambda config: config.pop("start_node"),
    "Not known here: “on_pas”": lambda config: config["nodes"]["check"].update(on_pas="end"),
    "Must be a text.": lambda config: config.update(name=7),
    "Must be an object {…}.": lambda config: config["nodes"].update(check=[]),
    "Must be a list […].": lambda config: config.update(match="x"),
    "Must not be empty.": lambda config: config.update(nodes={}),
    "Must be 1 or more.": lambda config: config.update(max_steps=0),
    "Must be 500 or less.": lambda config: config.update(max_steps=501),
    "Is too long: at most 200.": lambda config: config.update(name="x" * 201),
    "Must be one of “latest”, “all”, “none”.": lambda config: config.update(catch_up="never"),
}


@pytest.mark.parametrize("message", BROKEN)
def test_what_the_schema_refuses_is_said_by_us(message: str) -> None:
    config: dict[str, Any] = json.loads(json.dumps(CONFIG))
    BROKEN[message](config)
    with override("en"):
        assert message in {problem.message for problem in validate(config)}


@pytest.mark.parametrize(
    "text",
    ["{", "{a", "[1,]", '{"a":1,}', '{"a" 1}', "[1 2]", '"a', '"\n"', '"\\x"', '"\\u00"', "1 2"],
)
def test_what_the_parser_says_is_in_the_catalog(text: str) -> None:
    with pytest.raises(json.JSONDecodeError) as caught:
        json.loads(text)
    assert caught.value.msg in PARSER


def box(page: str, name: str) -> str:
    found = re.search(rf'<textarea[^>]*name="{name}"[^>]*>(.*?)</textarea>', page, re.DOTALL)
    assert found
    return html.unescape(found[1]).strip()


def test_an_empty_box_is_empty(as_user: Callable[..., Client], study: Any) -> None:
    page = as_user("admin").get("/admin/skills/formtemplate/add/").content.decode()
    assert box(page, "field_schema") == ""


def test_a_new_workflow_begins_with_one_that_can_be_saved(
    as_user: Callable[..., Client], study: Any
) -> None:
    client = as_user("admin")
    url = "/admin/skills/skill/add/"
    config = box(client.get(url).content.decode(), "config")
    sent = {
        "project": str(study.project.pk),
        "skill_type": "qc_process:first",
        "name": "First",
        "trigger_type": "webhook",
        "is_active": "on",
        "config": config,
        "versions-TOTAL_FORMS": "0",
        "versions-INITIAL_FORMS": "0",
    }
    assert client.post(url, sent).status_code == 302
    saved = Skill.objects.get(skill_type="qc_process:first")
    assert saved.config == json.loads(config)


@pytest.mark.full
def test_a_member_reads_a_language_of_the_house(as_user: Callable[..., Client], study: Any) -> None:
    member = study["wanghushi"]
    url = f"/admin/projects/member/{member.pk}/change/"
    client = as_user("admin")
    sent = {
        "wecom_userid": member.wecom_userid,
        "display_name": member.display_name,
        "role": member.role,
        "site": member.site,
        "is_active": "on",
    }
    refused = client.post(url, sent | {"language": "klingon"})
    assert refused.status_code == 200
    assert client.post(url, sent | {"language": "en"}).status_code == 302
    assert Member.objects.get(pk=member.pk).language == "en"


@pytest.mark.full
def test_what_would_be_sent_is_a_page_of_the_console(
    as_user: Callable[..., Client], study: Any
) -> None:
    memory = ProjectMemory.objects.get(project=study.project)
    page = as_user("admin").get(SENT).content.decode()
    assert 'id="nav-sidebar-apps"' in page
    assert SENT in change_page(as_user("admin"), memory)
    assert as_user("zhangyi").get(SENT).status_code == 404
    assert SENT not in change_page(as_user("zhangyi"), memory)


@pytest.mark.full
def test_a_site_reads_no_figures_of_the_study_in_a_report(
    as_user: Callable[..., Client], study: Any
) -> None:
    """design.md 9.7: only their site, in statistics too."""
    report = WeeklyReport.objects.filter(project=study.project).latest("week_number")
    report.metrics = {"enrolled": 2, "enrolled_total": 71700717, "target": 934}
    report.summary += "\n\n### 进度\n- 累计入组:71700717 / 934 例\n- 全中心入组 71700717 例"
    report.save()
    for url in ("/admin/memory/weeklyreport/", f"/admin/memory/weeklyreport/{report.pk}/change/"):
        assert "71700717" in words_of(as_user("zhangyi").get(url))
        assert "71700717" not in words_of(as_user("crc_b").get(url))
    for name, is_found in (("zhangyi", True), ("crc_b", False)):
        found = as_user(name).get("/admin/memory/weeklyreport/", {"q": "71700717"})
        assert (str(report.pk) in found.content.decode()) is is_found
        row = as_user(name).get(f"/api/v1/weekly-reports/{report.pk}/").json()
        assert ("71700717" in str(row)) is is_found


def words_of(answer: Any) -> set[str]:
    """What is read on a page: keys and tokens stand in its tags."""
    body = re.sub(r"<script.*?</script>|<[^>]+>", " ", answer.content.decode(), flags=re.DOTALL)
    return set(re.findall(r"\w+", html.unescape(body)))


def test_a_memory_names_its_field_as_the_profile_does(
    as_user: Callable[..., Client], study: Any
) -> None:
    for field, content in (("study_duties", "负责:随访"), ("statement", "我喜欢表格")):
        UserMemory.objects.create(
            project=study.project,
            user_id="wanghushi",
            memory_type=UserMemory.Kind.FACT,
            field=field,
            content=content,
            value=content,
            importance=70,
        )
    page = as_user("wanghushi").get("/admin/memory/usermemory/").content.decode()
    assert "研究职责" in page
    assert "in their own words" in page
    assert "study_duties" not in page


@pytest.mark.full
def test_what_a_rule_read_is_told_in_words(
    as_user: Callable[..., Client], run_a: TaskRun, study: Any
) -> None:
    finding = PendingAction.objects.get(task_run=run_a)
    read = json.loads(finding.detail)[0]
    page = change_page(as_user("admin"), finding).split('data-test="grounds"')[1]
    assert re.search(rf"年龄[^<]* <strong>{read['raw']}", page)
    assert read["event"] not in page
    assert "&quot;raw&quot;" not in page


@pytest.mark.full
def test_the_ticked_codes_of_a_checkbox_are_read_out(
    as_user: Callable[..., Client], study: Any
) -> None:
    skill = Skill.objects.get(project=study.project, skill_type="qc_process")
    run = sop.start(
        project=study.project, skill=skill, record_id="P022", triggered_by="zhangyi", wake=False
    )
    sop.drive(run.pk)
    finding = PendingAction.objects.get(task_run=run, field="exclusion")
    assert re.fullmatch(r"\d(, \d)*", finding.value)
    assert "[&#x27;" not in change_page(as_user("admin"), finding)


@pytest.mark.parametrize("hour", [1, 20])
def test_a_title_carries_the_day_of_the_reader(study: Any, hour: int) -> None:
    at = datetime(2026, 3, 4, hour, tzinfo=ZoneInfo("UTC"))
    skill = Skill.objects.filter(project=study.project).first()
    batch = Batch(project=study.project, skill=skill, created_at=at)
    assert str(batch).endswith(f"{at.astimezone(ZoneInfo('Asia/Shanghai')):%Y-%m-%d}")


@pytest.mark.full
def test_a_converted_value_is_shown_beside_the_raw_one(
    as_user: Callable[..., Client], run_a: TaskRun
) -> None:
    finding = PendingAction.objects.get(task_run=run_a)
    one = {"var": "glu", "raw": "126", "label": None, "value": 6.993783, "unit": "mmol/L"}
    finding.detail = json.dumps([one])
    finding.save()
    page = change_page(as_user("admin"), finding)
    assert re.search(r"<strong>126[^<]* = 6\.9938 mmol/L</strong>", page)
