"""An administrator drops files on the page, watches them being read, looks at one and puts it in force."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from core.house import clock
from skills.models import Skill
from study.models import ProtocolDocument, ProtocolUpload
from study.protocol import uploads
from study.tasks import follow_uploads
from tests.console.conftest import log_in
from tests.console.test_accessible import GRAVE, STANDARD, is_whole_on_a_phone
from tests.support import papers
from tests.support.tasks import drain, purge

pytestmark = [pytest.mark.browser, pytest.mark.full]

UPLOAD = "/admin/study/protocoldocument/upload/"
NOTES = "# 补充说明\n\n## 4.1 停车\n\n停车费每次报销 37 元。\n\n| 项目 | 金额 |\n|---|---|\n| 餐费 | 20 元 |\n"
DROPPED = """(files) => {
  const carried = new DataTransfer();
  for (const [name, text] of files) {
    const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
    carried.items.add(new File([bytes], name));
  }
  return carried;
}"""


def drop(page: Page, files: dict[str, bytes]) -> None:
    """Let go of the files over the field, and wait until the page has sent them all."""
    told = [[name, base64.b64encode(raw).decode()] for name, raw in files.items()]
    carried = page.evaluate_handle(DROPPED, told)
    page.dispatch_event("#drop", "dragover", {"dataTransfer": carried})
    expect(page.locator("#drop.is-over")).to_have_count(1)
    with page.expect_navigation():
        page.dispatch_event("#drop", "drop", {"dataTransfer": carried})


def look(page: Page, name: str) -> None:
    """No grave fault of access, nothing out of sight on a phone; a picture where somebody wants to look."""
    if folder := os.environ.get("IIT_PICTURES"):
        for width in (390, 1440):
            page.set_viewport_size({"width": width, "height": 900})
            page.screenshot(path=Path(folder) / f"upload-{name}-{width}.png", full_page=True)
    found = Axe().run(page, options=STANDARD).response["violations"]
    assert [one["id"] for one in found if one["impact"] in GRAVE] == []
    assert is_whole_on_a_phone(page)


def row(page: Page, name: str) -> Any:
    return page.locator("[data-test=uploads] li", has_text=name)


@pytest.fixture
def protocol(study: Any) -> ProtocolDocument:
    found: ProtocolDocument = ProtocolDocument.objects.get(
        project=study.project, name__contains="研究方案"
    )
    purge()
    return found


def test_files_are_dropped_read_looked_at_rehearsed_and_put_in_force(
    page: Page, study: Any, protocol: ProtocolDocument, monkeypatch: pytest.MonkeyPatch
) -> None:
    amended = protocol.text.replace("18～75 周岁", "18～80 周岁").replace("Day 84±7", "Day 84±3")
    log_in(page, study, "admin")
    page.goto(UPLOAD)
    expect(page.get_by_text("还没有文件")).to_be_visible()
    look(page, "empty")
    drop(
        page,
        {
            "停车说明.pdf": papers.as_pdf(NOTES),
            f"{protocol.name}.docx": papers.as_docx(amended),
            "补充说明.md": NOTES.encode(),
            "扫描件.pdf": papers.pages(2),
            "操作手册.pdf": papers.pages(20, "受试者在访视当天完成检查"),
        },
    )
    expect(page.locator("[data-test=uploads] li")).to_have_count(5)
    said = uploads._said_by_reader

    def watched(kind: str, raw: bytes) -> Iterator[dict[str, Any]]:
        for one in said(kind, raw):
            yield one
            if one.get("page") == 10 and one.get("pages") == 20:
                expect(row(page, "操作手册.pdf")).to_contain_text("已读 10 / 20 页")
                expect(row(page, "操作手册.pdf").locator("progress")).to_have_attribute(
                    "value", "10"
                )
                look(page, "reading")

    monkeypatch.setattr(uploads, "_said_by_reader", watched)
    drain()
    # The list is shown anew by itself.
    for name in ("停车说明.pdf", f"{protocol.name}.docx", "补充说明.md", "操作手册.pdf"):
        expect(row(page, name).locator(".iit-tag")).to_have_text("已读取，待查看")
    expect(row(page, "扫描件.pdf")).to_contain_text("扫描件")
    expect(row(page, "扫描件.pdf").locator(".iit-tag")).to_have_text("无法读取")
    look(page, "read")
    _searched_and_put_in_force(page, "停车说明")
    page.goto(UPLOAD)
    row(page, f"{protocol.name}.docx").get_by_role("link").click()
    _rehearsed_and_scheduled(page, study, protocol)


def _searched_and_put_in_force(page: Page, name: str) -> None:
    row(page, f"{name}.pdf").get_by_role("link").click()
    page.fill("#asked", "停车费报销多少")
    page.locator("[data-test=try-search] button").click()
    found = page.locator("[data-test=try-search] details").first
    expect(found.locator("summary")).to_contain_text("4.1 停车")
    expect(found).to_contain_text("停车费每次报销 37 元。")
    page.locator("[data-test=sections] summary").first.click()
    look(page, "preview")
    page.locator("[name=document]").select_option("new")
    page.fill("[name=version]", "1.0")
    page.locator("button[name=publish]").click()
    expect(page.get_by_text("已生效").first).to_be_visible()
    document = ProtocolDocument.objects.get(name=name)
    assert (document.version, document.is_active) == ("1.0", True)


def _rehearsed_and_scheduled(page: Page, study: Any, protocol: ProtocolDocument) -> None:
    page.locator("[data-test=publish] a").click()
    expect(page.locator("[data-test=rules]")).to_contain_text("EL02")
    expect(page.locator("[data-test=windows]")).to_contain_text("V4 (Day 84 -7/+7)")
    look(page, "rehearsal")
    page.go_back()
    today = clock.today(study.project.timezone)
    page.locator("[name=document]").select_option(f"of {protocol.name}")
    page.fill("[name=version]", "V9")
    page.fill("[name=effective_on]", str(today + timedelta(days=1)))
    page.locator("button[name=publish]").click()
    expect(page.locator("[data-test=read] .iit-tag")).to_have_text("到期生效")
    assert ProtocolDocument.objects.get(pk=protocol.pk).is_active
    ProtocolUpload.objects.filter(state="scheduled").update(effective_on=today)
    follow_uploads()
    for path in ("study/visitplanentry/", f"skills/skill/{_quality_control(study)}/change/"):
        page.goto(f"/admin/{path}")
        expect(page.locator("[data-test=flags] li").first).to_contain_text("V9 已修改")
        look(page, f"flagged-{path.split('/')[1]}")
    page.goto("/admin/")
    page.locator("[data-test=amendments] a").click()
    expect(page.locator("[data-test=rules]")).to_contain_text("EL02")
    look(page, "flags")
    page.get_by_role("button", name=re.compile("EL02")).click()
    expect(page.get_by_role("button", name=re.compile("EL02"))).to_have_count(0)
    expect(page.get_by_role("button", name=re.compile("EL01"))).to_have_count(1)


def _quality_control(study: Any) -> Any:
    return Skill.objects.get(project=study.project, skill_type="qc_process").pk


def test_chosen_files_are_sent_and_a_large_one_is_refused_in_words(
    page: Page, study: Any, protocol: ProtocolDocument, tmp_path: Path
) -> None:
    """Choosing raised an error of Unfold's script, which the page's fixture would report."""
    large, small = tmp_path / "扫描方案.pdf", tmp_path / "补充说明.md"
    with large.open("wb") as file:
        file.truncate(uploads.MAX_FILE + 1)
    small.write_text(NOTES, "utf-8")
    log_in(page, study, "admin")
    page.goto(UPLOAD)
    page.set_input_files("#files", [large, small])
    with page.expect_navigation():
        page.locator("#upload-form button").click()
    expect(page.get_by_text("扫描方案.pdf: 文件大于 30 MB")).to_be_visible()
    expect(row(page, "补充说明.md")).to_be_visible()
    expect(page.locator("[data-test=uploads] li")).to_have_count(1)
    look(page, "refused")


def test_choosing_a_file_of_mappings_raises_no_error(
    page: Page, study: Any, tmp_path: Path
) -> None:
    file = tmp_path / "mappings.csv"
    file.write_text("a,b\n", "utf-8")
    log_in(page, study, "admin")
    page.goto("/admin/skills/fieldmapping/lines/")
    page.set_input_files("#id_file", file)
    expect(page.locator("#id_file")).to_have_value(re.compile("mappings.csv"))
