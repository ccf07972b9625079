"""What people change in a report stays; the machine's text waits beside it (issue 4, "editable by a human")."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from engines import work
from memory.models import WeeklyReport
from memory.reports import job, report_store
from memory.reports.text import join_sections, merged, sections
from projects.models import AuditEntry
from tests.engines.chat.kit import ask
from tests.memory.hot_kit import browser
from tests.memory.weekly_kit import (
    DECISION,
    claim,
    finish,
    forget,
    last_number,
    last_week,
    report,
    said,
    section,
    told,
    write,
)
from tests.support.study import Study
from tests.support.tasks import drain

KEPT = "维持ECOG 0到2分,不放宽入排标准"

BODIES = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=12
).map(lambda text: f"- {text}".strip() if text.strip() else "")
NAMES = st.sampled_from(["", "### 进度", "### 关键决策", "### 待办", "### 我的一节"])
TEXTS = st.dictionaries(NAMES, BODIES, max_size=5).map(
    lambda d: join_sections(sections(join_sections(d)))
)


@given(TEXTS)
def test_sections_lose_nothing(text: str) -> None:
    assert join_sections(sections(text)) == text


@given(TEXTS, TEXTS)
def test_an_untouched_text_becomes_the_new_one(base: str, composed: str) -> None:
    assert merged(base, base, composed) == composed


@given(TEXTS, TEXTS, TEXTS)
def test_a_changed_section_stays_word_for_word(current: str, base: str, composed: str) -> None:
    now, was = sections(current), sections(base)
    after = sections(merged(current, base, composed))
    for name, body in now.items():
        if body != was.get(name) and (name or body):
            assert after.get(name, "") == body
    for name in was.keys() - now.keys():
        if name:
            assert name not in after, "a section that was removed stays away"


def page(found: WeeklyReport) -> str:
    return f"/admin/memory/weeklyreport/{found.pk}/change/"


def save(client: Client, found: WeeklyReport, text: str, version: int | None = None) -> Any:
    sent = {"summary": text, "base_version": version or found.version}
    return client.post(page(found), sent)


def running(study: Study) -> WeeklyReport:
    """The report of the current week, as the machine began it."""
    ask("zhangyi", "生成本周周报")
    return report(study, last_number(study) + 1)


def waiting(study: Study) -> WeeklyReport:
    """Last week's report, without its narrative: the model was down."""
    forget(study)
    said(study, DECISION)
    study.stand_ins.fault("llm", "status", 500, times=None)
    write()
    study.stand_ins.reset()
    return report(study)


@pytest.mark.full
def test_an_edited_section_survives_the_narrative(study: Study) -> None:
    found = waiting(study)
    text = found.summary.replace("### 待办", "### 待办\n- 周五前交数据快照")
    assert save(browser("zhangyi"), found, text).status_code == 302
    study.stand_ins.script(told(claim("decision", KEPT, 1), claim("todo", "维持ECOG 0到2分", 1)))
    from django.core.cache import cache

    cache.clear()
    finish(study)
    found = report(study)
    assert section(found, "待办") == ["- 周五前交数据快照"]
    assert KEPT in section(found, "关键决策")[0]
    kinds = list(found.versions.order_by("version").values_list("kind", flat=True))
    assert kinds == ["composed", "edited", "proposed", "merged"]
    proposed = found.versions.get(kind="proposed")
    assert "- 维持ECOG 0到2分" in proposed.content
    write()
    finish(study)
    assert report(study).version == found.version


@pytest.mark.full
def test_a_proposal_can_be_taken_over(study: Study) -> None:
    test_an_edited_section_survives_the_narrative(study)
    found = report(study)
    proposed = found.versions.get(kind="proposed")
    client = browser("zhangyi")
    assert "Restore" in client.get(page(found)).content.decode()
    url = f"/admin/memory/weeklyreport/{found.pk}/restore/{proposed.version}/"
    client.post(url, {"version": found.version})
    again = report(study)
    assert again.summary == proposed.content
    assert again.version == found.version + 1
    entry = AuditEntry.objects.filter(action="report.edit").order_by("number").last()
    assert entry is not None
    assert entry.actor == "zhangyi"


@pytest.mark.full
def test_figures_go_on_in_sections_that_nobody_touched(study: Study) -> None:
    found = running(study)
    text = found.summary.replace("### 待办", "### 待办\n- 我写的")
    save(browser("admin"), found, text)
    ask("wanghushi", "P001 入组了吗?")
    ask("zhangyi", "生成本周周报")
    again = report(study, found.week_number)
    assert section(again, "待办") == ["- 我写的"]
    assert again.metrics["messages"] > found.metrics["messages"]
    assert f"消息 {again.metrics['messages']} 条" in again.summary


@pytest.mark.full
def test_a_report_without_news_keeps_a_persons_text_to_the_letter(study: Study) -> None:
    found = waiting(study)
    draft = job.so_far(study.project, last_week(study), work.week_figures)
    report_store.store(project=study.project, draft=draft, author="zhangyi")
    found.refresh_from_db()
    text = found.summary.replace("### 待办", "\n\n### 待办\n\n- 我写的")
    save(browser("admin"), found, text)
    edited = report(study)
    WeeklyReport.objects.filter(pk=found.pk).update(metrics={})
    kept = edited.summary
    report_store.store(project=study.project, draft=draft, author="zhangyi")
    again = report(study)
    assert again.metrics
    assert (again.summary, again.version) == (kept, edited.version)


def test_every_edit_is_a_version_with_its_author_and_an_entry(study: Study) -> None:
    found = report(study)
    save(browser("zhangyi"), found, found.summary + "\n- 补充")
    again = report(study)
    assert again.version == found.version + 1
    version = again.versions.get(version=again.version)
    assert (version.author, version.kind, version.content) == ("zhangyi", "edited", again.summary)
    entry = AuditEntry.objects.get(action="report.edit")
    assert entry.actor == "zhangyi"
    assert entry.new["diff"] == ["+- 补充"]


def test_the_later_of_two_writers_sees_both_texts(study: Study) -> None:
    found = report(study)
    save(browser("admin"), found, found.summary + "\n- 来自admin")
    answer = save(browser("zhangyi"), found, found.summary + "\n- 来自PI", found.version)
    assert answer.status_code == 200
    shown = answer.content.decode()
    assert "来自admin" in shown
    assert "来自PI" in shown
    assert "来自PI" not in report(study).summary


@pytest.mark.parametrize("name", ["wanghushi", "crc_b"])
def test_who_may_not_edit_reads(study: Study, name: str) -> None:
    found, client = report(study), browser(name)
    assert "<textarea" not in client.get(page(found)).content.decode()
    assert save(client, found, "x").status_code == 403
    url = f"/admin/memory/weeklyreport/{found.pk}/restore/1/"
    assert client.post(url, {"version": found.version}).status_code == 404
    assert report(study).summary == found.summary


def test_an_editor_of_one_site_does_not_edit(study: Study) -> None:
    member = study["zhangyi"]
    member.site = "site_b"
    member.save()
    assert save(browser("zhangyi"), report(study), "x").status_code == 403


def test_a_report_from_before_versions_keeps_its_text(study: Study) -> None:
    found = report(study)
    found.versions.all().delete()
    save(browser("zhangyi"), found, "新的")
    again = report(study)
    texts = list(again.versions.order_by("version").values_list("content", flat=True))
    assert texts == [found.summary, "新的"]


def test_an_endless_text_is_refused(study: Study) -> None:
    found = report(study)
    assert save(browser("zhangyi"), found, "长" * 100_001).status_code == 200
    assert report(study).summary == found.summary


@pytest.mark.full
def test_the_list_says_what_is_still_to_come_and_completes_it(
    study: Study, django_capture_on_commit_callbacks: Any
) -> None:
    found = waiting(study)
    client = browser("zhangyi")
    assert "summary of talks to come" in client.get("/admin/memory/weeklyreport/").content.decode()
    from django.core.cache import cache

    cache.clear()
    study.stand_ins.script(told(claim("decision", KEPT, 1)))
    with django_capture_on_commit_callbacks(execute=True):
        client.post(
            "/admin/memory/weeklyreport/",
            {"action": "write_again", "index": "0", "_selected_action": [str(found.pk)]},
        )
    drain()
    assert KEPT in report(study).summary


def test_the_api_serves_the_new_columns(study: Study, client: Client) -> None:
    user = User.objects.get(username="zhangyi")
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    row = client.get(f"/api/v1/weekly-reports/{report(study).pk}/").json()
    assert row["version"] == 1
    assert row["narrated_at"]
    assert row["metrics"]["target"] == 30
    for page in ("weeklynote", "feedbacktally"):
        user = User.objects.get(username="admin")
        client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
        assert client.get(f"/admin/memory/{page}/").status_code == 200
