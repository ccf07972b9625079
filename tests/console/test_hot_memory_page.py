"""The page of hot memory: where a line comes from, what was taken out, how full it is (seed 000, 5.3)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import Page, expect

from memory.hot import injection, past
from memory.hot.text import Kind, Line, put_back
from memory.models import MemoryProposal, MemoryTombstone, ProjectMemory
from tests.console.conftest import log_in
from tests.engines.chat.kit import UNREAD, ask, sent
from tests.memory.hot_kit import LINES, base, current, kill, lines_of, said, without, write
from tests.support.study import Study

PAGE = "/admin/memory/projectmemory/"
METER = "/admin/hot-memory-meter/"
GONE = "- 本周目标:完成 3 例入组"


def shown(client: Client, study: Study) -> str:
    return client.get(f"{PAGE}{current(study).pk}/change/").content.decode()


def origin_of(page: str, line: str) -> str:
    found = re.search(rf"<br>{re.escape(line)}\s*<br>(.*?)</li>", page, re.DOTALL)
    assert found, line
    return found[1]


def take_back(client: Client, study: Study, **more: str) -> Any:
    memory = current(study)
    row = past.removed(memory, past.newest_versions(memory))[0]
    body = {"number": str(row.number), "line": row.line.text, "version": str(memory.version)}
    return client.post(f"{PAGE}{memory.pk}/return/{row.last}/", body | more)


@pytest.mark.full
def test_what_was_asked_to_be_remembered_waits_at_once_and_acts_when_accepted(
    study: Study, as_user: Callable[..., Client]
) -> None:
    ask("wanghushi", "请记住:周三的例会改为线上")
    proposal = MemoryProposal.objects.get()
    assert (proposal.state, proposal.author) == ("pending", "wanghushi")
    assert "例会改为线上" in proposal.new
    body = {"_selected_action": str(proposal.pk), "action": "accept_proposals"}
    as_user("zhangyi").post("/admin/memory/memoryproposal/", body)
    assert proposal.new in lines_of(study)
    study.stand_ins.reset()
    ask("zhangyi", UNREAD)
    assert "例会改为线上" in sent(study)
    told = origin_of(shown(as_user("admin"), study), proposal.new)
    assert "proposed by wanghushi, written by zhangyi" in told
    assert "wanghushi: " in told


@pytest.mark.full
def test_what_is_said_twice_or_stands_there_is_proposed_once(study: Study) -> None:
    at = LINES.index(GONE)
    base(study, *LINES[:at], "- 请记住:周三的例会改为线上", *LINES[at:])
    for _ in range(2):
        ask("wanghushi", "请记住:周四的例会改为线上")
        ask("wanghushi", "请记住:周三的例会改为线上")
    assert [row.new for row in MemoryProposal.objects.all()] == ["- 请记住:周四的例会改为线上"]


@pytest.mark.full
def test_a_line_tells_who_wrote_it_and_when(study: Study, as_user: Callable[..., Client]) -> None:
    write(study, *LINES, "- 乙的一行")
    write(study, *LINES, "- 乙的一行", "- 甲的一行", actor=study["admin"])
    page = shown(as_user("admin"), study)
    assert "written by admin" in origin_of(page, "- 甲的一行")
    assert "written by zhangyi" in origin_of(page, "- 乙的一行")


@pytest.mark.full
def test_of_a_line_older_than_the_versions_that_are_read_this_is_told(
    study: Study, as_user: Callable[..., Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(past, "MOST", 2)
    for number in range(3):
        write(study, *LINES, f"- 第 {number} 次")
    page = shown(as_user("admin"), study)
    assert "older than" in origin_of(page, GONE)
    assert "written by zhangyi" in origin_of(page, "- 第 2 次")


@pytest.mark.full
def test_what_was_taken_out_comes_back_in_its_place(
    study: Study, as_user: Callable[..., Client]
) -> None:
    write(study, *LINES)
    stones = MemoryTombstone.objects.count()
    kill(study, GONE)
    assert MemoryTombstone.objects.count() == stones + 1
    client = as_user("admin")
    assert "taken out by zhangyi" in shown(client, study)
    assert take_back(client, study).status_code == 302
    assert lines_of(study) == LINES
    assert MemoryTombstone.objects.count() == stones
    assert current(study).last_updated_by == "admin"
    memory = current(study)
    assert GONE not in [row.line.text for row in past.removed(memory, past.newest_versions(memory))]


@pytest.mark.full
@pytest.mark.parametrize("more", [{"line": "- 别的"}, {"number": "x"}, {"version": "1"}])
def test_what_does_not_fit_brings_nothing_back(
    study: Study, as_user: Callable[..., Client], more: dict[str, str]
) -> None:
    write(study, *LINES)
    kill(study, GONE)
    take_back(as_user("admin"), study, **more)
    assert lines_of(study) == without(GONE)


@pytest.mark.full
@pytest.mark.parametrize("name", ["wanghushi", "crc_b", "auditor"])
def test_who_does_not_edit_brings_nothing_back(
    study: Study, as_user: Callable[..., Client], name: str
) -> None:
    write(study, *LINES)
    kill(study, GONE)
    client = as_user(name)
    assert take_back(client, study).status_code == 404
    assert 'data-test="removed"' not in shown(client, study)
    assert lines_of(study) == without(GONE)


@pytest.mark.full
def test_the_page_asks_as_much_for_many_lines_and_versions(
    study: Study, as_user: Callable[..., Client], django_assert_max_num_queries: Any
) -> None:
    for number in range(12):
        said(study, f"第 {number} 条", "wanghushi")
        write(study, *LINES, *(f"- 第 {at} 次" for at in range(number)))
    client = as_user("admin")
    with django_assert_max_num_queries(30):
        shown(client, study)


@pytest.mark.parametrize("section", ["# 我们自己的一节", "# 当前状态 (Active Context)"])
def test_a_line_goes_back_under_its_own_heading(section: str) -> None:
    text = "\n".join(
        ["# 常见问题 (FAQ)", "- 甲", section, "- 乙", "", "# 系统禁令 (Rules)", "- 丙"]
    )
    name = section.lstrip("# ")
    back = put_back(text, Line("- 丁", name, ""))
    assert back == text.replace("- 乙", "- 乙\n- 丁")


def test_a_line_of_a_profile_that_is_gone_gets_it_again() -> None:
    line = Line("- **偏好**: 简洁", "用户画像 (User Profiles)", "crc_b")
    back = put_back("# 系统禁令 (Rules)\n- 丙", line, name="乙护士")
    assert "## 乙护士 (user_id: crc_b)\n- **偏好**: 简洁" in back
    assert line.kind is Kind.PROFILES


def test_the_meter_counts_what_is_written(as_user: Callable[..., Client], study: Study) -> None:
    client = as_user("admin")
    page = client.post(METER, {"content": "# 系统禁令 (Rules)\n" + "- 严禁删除数据\n" * 300})
    text = page.content.decode()
    assert f"of {injection.LIMIT} tokens" in text
    assert "too many" in text
    assert "too many" not in client.post(METER, {"content": "- 一行"}).content.decode()


@pytest.mark.full
def test_the_meter_is_for_those_who_edit(as_user: Callable[..., Client], study: Study) -> None:
    assert Client().post(METER, {"content": "x"}).status_code == 302
    for name in ("wanghushi", "auditor", "charlie"):
        assert as_user(name).post(METER, {"content": "x"}).status_code == 403
    assert as_user("zhangyi").post(METER).status_code == 400
    assert as_user("zhangyi").get(METER).status_code == 405


@pytest.mark.browser
def test_an_admin_kills_a_wrong_line_and_the_next_answer_obeys(page: Page, study: Study) -> None:
    wrong = "- 汇报入组时不需要核对年龄"
    write(study, *LINES, wrong)
    ask("zhangyi", UNREAD)
    assert "不需要核对年龄" in sent(study)
    log_in(page, study, "admin")
    page.goto(f"{PAGE}{current(study).pk}/change/")
    line = page.locator("[data-test=lines] li", has_text="不需要核对年龄")
    expect(line.locator("[data-test=origin]")).to_contain_text("zhangyi")
    line.get_by_role("button", name="停用").click()
    expect(page.get_by_text("该行已停用。")).to_be_visible()
    study.stand_ins.reset()
    ask("zhangyi", UNREAD)
    assert sent(study)
    assert "不需要核对年龄" not in sent(study)
    removed = page.locator("[data-test=removed]")
    removed.locator("summary").click()
    expect(removed).to_contain_text("不需要核对年龄")


@pytest.mark.browser
def test_the_meter_follows_the_keys(page: Page, study: Study) -> None:
    log_in(page, study, "admin")
    page.goto(f"{PAGE}{current(study).pk}/change/")
    box, meter = page.locator("textarea[name=content]"), page.locator(".iit-meter")
    box.fill("")
    expect(meter).to_contain_text(f"0 / {injection.LIMIT}")
    box.fill("- 严禁删除数据\n" * 600)
    expect(meter.locator(".is-over")).to_have_count(1)


@pytest.mark.full
def test_only_who_has_a_study_without_one_is_led_to_add(
    study: Study, as_user: Callable[..., Client]
) -> None:
    """The link was on the page of the app for a study that had one, and led to a page that is closed."""
    client, add = as_user("admin"), f"{PAGE}add/"
    current(study)
    for path in ("/admin/memory/", PAGE):
        assert add not in client.get(path).content.decode()
    assert client.get(add).status_code == 403
    ProjectMemory.objects.all().delete()
    assert add in client.get(PAGE).content.decode()
    assert client.get(add).status_code == 200
