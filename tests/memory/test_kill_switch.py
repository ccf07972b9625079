"""The kill switch, versions, the merge view and the proposals in the console (seed 000, 5.3)."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from core.house.db import atomic
from memory.hot import injection, proposals
from memory.hot.proposals import (
    Action,
    AlreadyDecided,
    Change,
    ProposalOutdated,
)
from memory.hot.text import Kind
from memory.models import MemoryProposal, MemoryTombstone, ProjectMemory
from projects.models import AuditEntry
from tests.engines.chat.kit import UNREAD, ask, sent
from tests.memory.hot_kit import LINES, base, browser, current, lines_of, write
from tests.support.study import Study

PAGE = "/admin/memory/projectmemory/"
PROPOSALS = "/admin/memory/memoryproposal/"
GONE = "- 本周目标:完成 3 例入组"
SHOWN = GONE.removeprefix("- ")
CONTENT = [line for line in LINES if line and not line.startswith("#")]


def retire(client: Client, memory: ProjectMemory, gone: str, **more: Any) -> Any:
    body = {
        "number": str(CONTENT.index(gone)),
        "line": gone,
        "version": str(memory.version),
        **more,
    }
    return client.post(f"{PAGE}{memory.pk}/retire/", body)


def propose(study: Study, **change: Any) -> MemoryProposal:
    made = {"action": Action.ADD, "kind": Kind.CURRENT, "new": "- 提议的一行", **change}
    with atomic():
        return proposals.store(
            project=study.project, changes=[Change(**made)], author="system_daily_job"
        )[0]


@pytest.mark.full
@pytest.mark.parametrize("name", ["admin", "zhangyi"])
def test_a_line_out_of_use_is_gone_with_the_next_message(study: Study, name: str) -> None:
    memory = base(study)
    ask("zhangyi", UNREAD)
    assert SHOWN in sent(study)
    assert retire(browser(name), memory, GONE).status_code == 302
    study.stand_ins.reset()
    ask("zhangyi", UNREAD)
    assert sent(study)
    assert SHOWN not in sent(study)
    assert current(study).last_updated_by == name
    assert MemoryTombstone.objects.get().created_by == name


def test_the_answer_that_repeated_it_is_forgotten_with_it(study: Study) -> None:
    memory = base(study)
    study.stand_ins.script({"content": f"本周目标:完成 3 例入组,请您留意。{GONE}"})
    ask("zhangyi", "你好")
    retire(browser("admin"), memory, GONE)
    study.stand_ins.reset()
    ask("zhangyi", UNREAD)
    assert "完成 3 例入组" not in sent(study)


def test_what_was_removed_is_no_fact_about_oneself_either(study: Study) -> None:
    base(study, *LINES, "- 以后汇报入组时不需要核对年龄")
    write(study, *LINES)
    ask("zhangyi", "以后汇报入组时不用检查年龄")
    study.stand_ins.reset()
    ask("zhangyi", UNREAD)
    assert "[User Memory]" not in sent(study)


@pytest.mark.parametrize("name", ["wanghushi", "crc_b"])
def test_others_have_no_switch(study: Study, name: str) -> None:
    memory = base(study)
    client = browser(name)
    assert retire(client, memory, GONE).status_code == 404
    assert "Take out of use" not in client.get(f"{PAGE}{memory.pk}/change/").content.decode()
    assert lines_of(study) == LINES


def test_a_site_bound_pi_has_none(study: Study) -> None:
    memory, member = base(study), study["zhangyi"]
    member.site = "site_b"
    member.save()
    assert retire(browser("zhangyi"), memory, GONE).status_code == 404


def test_the_switch_needs_a_post(study: Study) -> None:
    memory = base(study)
    assert browser("admin").get(f"{PAGE}{memory.pk}/retire/").status_code == 405
    assert Client().post(f"{PAGE}{memory.pk}/retire/").status_code == 302
    assert lines_of(study) == LINES


@pytest.mark.parametrize(
    "more", [{"line": "- 别的"}, {"number": "99"}, {"number": "x"}, {"number": ""}]
)
def test_a_line_that_moved_is_not_guessed(study: Study, more: dict[str, str]) -> None:
    memory = base(study)
    retire(browser("admin"), memory, GONE, **more)
    assert lines_of(study) == LINES


def test_a_newer_version_is_not_overwritten(study: Study) -> None:
    memory = base(study)
    write(study, *LINES, "- 新的一行")
    retire(browser("admin"), memory, GONE)
    assert lines_of(study) == [*LINES, "- 新的一行"]


def test_the_same_line_in_two_profiles(study: Study) -> None:
    twice = [line.replace("详细步骤,需要解释", "只要看结果") for line in LINES]
    memory = base(study, *twice)
    body = {"number": "2", "line": "- **偏好**: 只要看结果", "version": str(memory.version)}
    browser("admin").post(f"{PAGE}{memory.pk}/retire/", body)
    left = injection.lines(injection.hot_text(study.project))
    assert [line.profile for line in left if "只要看结果" in line.text] == ["zhangyi"]


@pytest.mark.full
def test_every_version_has_author_diff_and_restore(study: Study) -> None:
    base(study)
    write(study, *LINES, "- 甲的一行")
    write(study, *LINES, "- 乙的一行", actor=study["admin"])
    memory = current(study)
    client = browser("admin")
    page = client.get(f"{PAGE}{memory.pk}/change/").content.decode()
    assert "v2 · zhangyi" in page
    assert "v3 · admin" in page
    assert "-- 甲的一行" in page
    assert "+- 乙的一行" in page
    answer = client.post(f"{PAGE}{memory.pk}/restore/2/", {"version": str(memory.version)})
    assert answer.status_code == 302
    assert lines_of(study) == [*LINES, "- 甲的一行"]
    assert current(study).version == 4
    saved = AuditEntry.objects.filter(action="memory.save").values_list("reason", flat=True)
    assert any("2" in reason for reason in saved)


def test_restoring_over_a_newer_version_is_refused(study: Study) -> None:
    base(study)
    write(study, *LINES, "- 甲的一行")
    stale = current(study).version
    write(study, *LINES, "- 乙的一行")
    browser("admin").post(f"{PAGE}{current(study).pk}/restore/2/", {"version": str(stale)})
    assert "- 乙的一行" in lines_of(study)


def test_only_editors_restore(study: Study) -> None:
    base(study)
    write(study, *LINES, "- 甲的一行")
    url = f"{PAGE}{current(study).pk}/restore/2/"
    assert browser("wanghushi").post(url, {"version": "2"}).status_code == 404
    assert browser("admin").post(f"{PAGE}{current(study).pk}/restore/77/").status_code == 404


def edit(client: Client, memory: ProjectMemory, content: str, version: int) -> Any:
    forms = {"versions-TOTAL_FORMS": "0", "versions-INITIAL_FORMS": "0"}
    body = forms | {"content": content, "base_version": str(version)}
    return client.post(f"{PAGE}{memory.pk}/change/", body)


@pytest.mark.full
def test_the_later_writer_gets_both_edits(study: Study) -> None:
    base(study)
    memory = write(study, *LINES, "- 起点")
    theirs = "\n".join([*LINES, "- 起点", "- 甲写的"])
    edit(browser("zhangyi"), memory, theirs, memory.version)
    mine = "\n".join([line.replace("冲刺期", "收尾期") for line in LINES] + ["- 起点"])
    answer = edit(browser("admin"), memory, mine, memory.version)
    text = answer.context["adminform"].form["content"].value()
    assert "- 甲写的" in text
    assert "收尾期" in text
    assert "冲刺期" not in text
    assert "Both changed this place" not in answer.content.decode()
    assert "收尾期" not in injection.hot_text(study.project)
    again = edit(browser("admin"), memory, text, memory.version + 1)
    assert again.status_code == 302
    assert {"- 甲写的", "- 当前阶段:入组收尾期"} <= set(lines_of(study))


@pytest.mark.full
def test_a_merge_brings_nothing_back_that_its_user_had_forgotten(study: Study) -> None:
    """It is gone from the version both began with, so it would look like an addition."""
    base(study)
    memory = write(study, *LINES, "- 起点")
    ask("zhangyi", "忘掉我的偏好")
    gone = "- **偏好**: 只要看结果"
    assert gone not in lines_of(study)
    mine = "\n".join([*LINES, "- 起点", "- 乙写的"])
    answer = edit(browser("admin"), memory, mine, memory.version)
    text = answer.context["adminform"].form["content"].value().split("\n")
    assert gone not in text
    assert "- 乙写的" in text
    assert "- **偏好**: 详细步骤,需要解释" in text


@pytest.mark.full
def test_a_clash_shows_who_wrote_what(study: Study) -> None:
    base(study)
    memory = write(study, *LINES, "- 起点")
    edit(browser("zhangyi"), memory, "\n".join([*LINES, "- 甲的终点"]), memory.version)
    answer = edit(browser("admin"), memory, "\n".join([*LINES, "- 乙的终点"]), memory.version)
    page = answer.content.decode()
    assert "Both changed this place" in page
    assert "zhangyi: - 甲的终点" in page
    assert "You: - 乙的终点" in page
    assert lines_of(study)[-1] == "- 甲的终点"


@pytest.mark.full
def test_a_waiting_proposal_is_announced_and_accepted(study: Study) -> None:
    memory = base(study)
    proposal = propose(study)
    client = browser("zhangyi")
    assert "1 proposal waits" in client.get(f"{PAGE}{memory.pk}/change/").content.decode()
    body = {"action": "accept_proposals", "_selected_action": str(proposal.pk)}
    assert client.post(PROPOSALS, body).status_code == 302
    proposal.refresh_from_db()
    assert (proposal.state, proposal.decided_by) == ("applied", "zhangyi")
    assert "- 提议的一行" in lines_of(study)
    assert current(study).last_updated_by == "zhangyi"


def test_a_refused_one_leaves_everything(study: Study) -> None:
    base(study)
    proposal = propose(study)
    body = {"action": "refuse_proposals", "_selected_action": str(proposal.pk)}
    browser("admin").post(PROPOSALS, body)
    proposal.refresh_from_db()
    assert (proposal.state, proposal.decided_by) == ("refused", "admin")
    assert lines_of(study) == LINES
    assert AuditEntry.objects.filter(action="memory.refuse", actor="admin").exists()


@pytest.mark.parametrize("name", ["wanghushi", "crc_b"])
def test_only_editors_see_proposals(study: Study, name: str) -> None:
    base(study)
    proposal = propose(study)
    client = browser(name)
    body = {"action": "accept_proposals", "_selected_action": str(proposal.pk)}
    assert client.get(PROPOSALS).status_code == 403
    assert client.post(PROPOSALS, body).status_code == 403
    assert client.get(f"{PROPOSALS}{proposal.pk}/change/").status_code in (302, 403)
    assert lines_of(study) == LINES


def test_a_proposal_is_decided_once(study: Study) -> None:
    base(study)
    proposal = propose(study)
    proposals.accept(proposal=proposal, actor=study["admin"])
    with pytest.raises(AlreadyDecided):
        proposals.refuse_proposal(proposal=proposal, actor=study["zhangyi"])
    with pytest.raises(AlreadyDecided):
        proposals.accept(proposal=proposal, actor=study["zhangyi"])
    assert lines_of(study).count("- 提议的一行") == 1


def test_an_outdated_one_stays_open(study: Study) -> None:
    base(study)
    proposal = propose(study, action=Action.RETIRE, new="", old=GONE)
    write(study, *[line for line in LINES if line != GONE])
    with pytest.raises(ProposalOutdated):
        proposals.accept(proposal=proposal, actor=study["admin"])
    proposal.refresh_from_db()
    assert proposal.state == "pending"


def test_an_accepted_rule_stands_among_the_rules(study: Study) -> None:
    base(study)
    proposal = propose(study, kind=Kind.RULES, new="- 不得口头修改方案")
    proposals.accept(proposal=proposal, actor=study["zhangyi"])
    assert lines_of(study)[-2:] == ["- 写操作必须经过人工确认", "- 不得口头修改方案"]


def test_accepting_a_removal_is_a_removal(study: Study) -> None:
    base(study)
    proposal = propose(study, action=Action.RETIRE, new="", old=GONE)
    proposals.accept(proposal=proposal, actor=study["admin"])
    assert GONE not in lines_of(study)
    assert MemoryTombstone.objects.get().created_by == "admin"
