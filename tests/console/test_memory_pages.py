"""Hot memory, weekly reports and the editor's preview."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from core.house.markdown import LONGEST
from memory.models import MemoryProposal, ProjectMemory, WeeklyReport
from study.models import ProtocolDocument
from wechat.models import Answer

PREVIEW = "/admin/markdown-preview/"


@pytest.fixture
def memory(study: Any) -> ProjectMemory:
    return ProjectMemory.objects.get(project=study.project)


def edit(client: Client, memory: ProjectMemory, content: str, base: int) -> Any:
    url = f"/admin/memory/projectmemory/{memory.pk}/change/"
    plan = {"versions-TOTAL_FORMS": "0", "versions-INITIAL_FORMS": "0"}
    return client.post(url, plan | {"content": content, "base_version": str(base)})


def test_the_pi_edits(as_user: Callable[..., Client], memory: ProjectMemory) -> None:
    content = memory.content + "\n- 新的一行\n"
    assert edit(as_user("zhangyi"), memory, content, memory.version).status_code == 302
    memory.refresh_from_db()
    assert "- 新的一行" in memory.content
    assert (memory.last_updated_by, memory.version) == ("zhangyi", 2)
    assert memory.versions.count() == 2


@pytest.mark.full
def test_the_versions_tab_shows_every_version(
    as_user: Callable[..., Client], memory: ProjectMemory
) -> None:
    client = as_user("zhangyi")
    edit(client, memory, "# 当前状态\n- 后来的\n", memory.version)
    answer = client.get(f"/admin/memory/projectmemory/{memory.pk}/change/")
    tab = next(iter(answer.context["inline_admin_formsets"]))
    assert [form.instance.version for form in tab.formset.forms] == [2, 1]


@pytest.mark.full
def test_the_later_of_two_writers_is_told(
    as_user: Callable[..., Client], memory: ProjectMemory
) -> None:
    edit(as_user("zhangyi"), memory, "# 当前状态\n- 甲写的\n", 1)
    answer = edit(as_user("admin"), memory, "# 当前状态\n- 乙写的\n", 1)
    page = answer.content.decode()
    assert answer.status_code == 200
    assert "Somebody changed the memory meanwhile" in page
    assert "甲写的" in page
    assert "乙写的" in page
    memory.refresh_from_db()
    assert "甲写的" in memory.content
    assert 'name="base_version" value="2"' in page.replace("'", '"')


def test_too_long_rules_are_refused(as_user: Callable[..., Client], memory: ProjectMemory) -> None:
    answer = edit(as_user("admin"), memory, "# 系统禁令 (Rules)\n" + "- 严禁删除数据\n" * 400, 1)
    assert "1200" in answer.content.decode()
    memory.refresh_from_db()
    assert memory.version == 1


@pytest.mark.full
@pytest.mark.parametrize("name", ["wanghushi", "auditor"])
def test_others_only_read(as_user: Callable[..., Client], memory: ProjectMemory, name: str) -> None:
    client = as_user(name)
    page = client.get(f"/admin/memory/projectmemory/{memory.pk}/change/").content.decode()
    assert "<textarea" not in page
    assert edit(client, memory, "# x", 1).status_code == 403


@pytest.mark.full
def test_lines_of_other_sites_are_left_out(
    as_user: Callable[..., Client], memory: ProjectMemory
) -> None:
    url = f"/admin/memory/projectmemory/{memory.pk}/change/"
    ours = as_user("wanghushi").get(url).content.decode()
    theirs = as_user("crc_b").get(url).content.decode()
    assert "P005" in ours
    assert "P005" not in theirs
    assert "系统禁令" in theirs


@pytest.mark.full
def test_a_site_bound_pi_does_not_edit(
    as_user: Callable[..., Client], study: Any, memory: ProjectMemory
) -> None:
    member = study["zhangyi"]
    member.site = "site_b"
    member.save()
    client = as_user("zhangyi")
    page = client.get(f"/admin/memory/projectmemory/{memory.pk}/change/").content.decode()
    assert "P005" not in page
    assert edit(client, memory, "# x", 1).status_code == 403


@pytest.mark.full
def test_reports_and_their_search_keep_to_the_site(
    as_user: Callable[..., Client], study: Any
) -> None:
    report = WeeklyReport.objects.filter(project=study.project).first()
    assert report is not None
    report.summary += "\n- P005 依从性差\n- 全体培训"
    report.save()
    url = f"/admin/memory/weeklyreport/{report.pk}/change/"
    assert "P005 依从性差" in as_user("wanghushi").get(url).content.decode()
    page = as_user("crc_b").get(url).content.decode()
    assert "依从性差" not in page
    assert "全体培训" in page
    found = as_user("crc_b").get("/admin/memory/weeklyreport/", {"q": "依从性差"})
    assert str(report.pk) not in found.content.decode()
    found = as_user("wanghushi").get("/admin/memory/weeklyreport/", {"q": "依从性差"})
    assert str(report.pk) in found.content.decode()


def test_the_preview_is_cleaned(as_user: Callable[..., Client]) -> None:
    text = (
        "# 标题\n<img src=x onerror=alert(1)> <script>alert(1)</script> [x](javascript:alert(1)) **b** "
        "![i](http://example.org/i.png)"
    )
    html = as_user("zhangyi").post(PREVIEW, {"content": text}).content.decode()
    assert "<h1>标题</h1>" in html
    assert "<strong>b</strong>" in html
    for bad in ("<img", "<script", "javascript:", "onerror=alert(1)>"):
        assert bad not in html, bad


def test_the_preview_is_for_members(as_user: Callable[..., Client], study: Any) -> None:
    assert Client().post(PREVIEW, {"content": "x"}).status_code == 302
    assert as_user("charlie").post(PREVIEW, {"content": "x"}).status_code == 403
    assert as_user("zhangyi").get(PREVIEW).status_code == 405
    assert as_user("zhangyi").post(PREVIEW).status_code == 400
    assert Client(enforce_csrf_checks=True).post(PREVIEW, {"content": "x"}).status_code == 403


def test_nothing_can_be_uploaded(as_user: Callable[..., Client]) -> None:
    for url in ("/markdownx/upload/", "/markdownx/markdownify/"):
        assert as_user("admin").post(url).status_code == 404


@pytest.mark.full
@pytest.mark.parametrize(
    ("choice", "state"), [("accept_proposals", "applied"), ("refuse_proposals", "refused")]
)
def test_a_proposal_is_decided_on_its_page(
    as_user: Callable[..., Client], memory: ProjectMemory, choice: str, state: str
) -> None:
    proposal = MemoryProposal.objects.create(
        project=memory.project,
        action=MemoryProposal.Action.ADD,
        section="current",
        new="- 提议的一行",
        author="system_daily_job",
        key="one",
    )
    client = as_user("zhangyi")
    url = f"/admin/memory/memoryproposal/{proposal.pk}/change/"
    page = client.get(url).content.decode()
    assert "当前状态 (Active Context)" in page
    form = page[page.index('data-test="decide"') :]
    assert f'name="action" value="{choice}"' in form
    assert f'name="_selected_action" value="{proposal.pk}"' in form
    client.post(
        "/admin/memory/memoryproposal/", {"action": choice, "_selected_action": proposal.pk}
    )
    proposal.refresh_from_db()
    memory.refresh_from_db()
    assert (proposal.state, proposal.decided_by) == (state, "zhangyi")
    assert ("- 提议的一行" in memory.content) is (state == "applied")
    assert 'data-test="decide"' not in client.get(url).content.decode()


TOO_LONG = "[" * (LONGEST + 1)


@pytest.mark.full
def test_a_text_too_long_to_render_is_refused_with_the_reason(
    as_user: Callable[..., Client], memory: ProjectMemory
) -> None:
    client = as_user("admin")
    answer = client.post(PREVIEW, {"content": TOO_LONG}, headers={"accept-language": "en"})
    assert (answer.status_code, answer["Content-Type"]) == (400, "text/plain; charset=utf-8")
    assert answer.content.decode() == f"A text has at most {LONGEST} characters."
    assert client.post(PREVIEW, {"content": TOO_LONG[1:]}).status_code == 200
    for base in (memory.version, memory.version + 1):
        page = edit(client, memory, TOO_LONG, base).content.decode()
        assert f"A text has at most {LONGEST} characters." in page
    memory.refresh_from_db()
    assert memory.version == 1


@pytest.mark.full
def test_texts_too_long_to_render_are_shown_as_typed(
    as_user: Callable[..., Client], study: Any, memory: ProjectMemory
) -> None:
    ProjectMemory.objects.filter(pk=memory.pk).update(content=TOO_LONG)
    report = WeeklyReport.objects.filter(project=study.project).first()
    assert report is not None
    WeeklyReport.objects.filter(pk=report.pk).update(summary=TOO_LONG)
    document = ProtocolDocument.objects.create(project=study.project, name="长", text=TOO_LONG)
    answer = Answer.objects.create(text=TOO_LONG, to_user="auditor", project=study.project)
    for url in (
        f"/admin/memory/projectmemory/{memory.pk}/change/",
        f"/admin/memory/weeklyreport/{report.pk}/change/",
        f"/admin/study/protocoldocument/{document.pk}/change/",
        f"/wechat/answers/{answer.pk}/",
    ):
        page = as_user("auditor").get(url)
        assert page.status_code == 200, url
        assert f"<pre>{TOO_LONG}</pre>" in page.content.decode(), url
