"""Over 2000 tokens a shorter text is proposed and the administrators are told (seed 000, 5.1)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from core.integrations import tokens
from memory.hot import injection, proposals
from memory.hot.prune import memory_over_cap, prune, surplus
from memory.models import MemoryProposal
from projects.models import Member, Role
from tests.memory.hot_kit import LINES, base, browser, current, lines_of, write
from tests.support.study import Study
from wechat.models import OutboxMessage

LONG = "这是一条很长的说明文字,用来占用令牌。" * 3


@pytest.fixture
def told() -> Iterator[list[dict[str, Any]]]:
    heard: list[dict[str, Any]] = []

    def hear(sender: object, **what: Any) -> None:
        heard.append(what)

    memory_over_cap.connect(hear)
    yield heard
    memory_over_cap.disconnect(hear)


def big(current_lines: int, faq: int) -> list[str]:
    status = [f"- 状态{n}:{LONG}" for n in range(current_lines)]
    questions = [f"- 问题{n}:{LONG}" for n in range(faq)]
    return [*LINES[:10], *status, LINES[10], *questions, *LINES[11:]]


def test_a_short_memory_is_left_alone(study: Study, told: list[Any]) -> None:
    base(study)
    assert prune(study.project) is None
    assert told == []


def test_a_long_one_is_proposed_shorter_and_told(study: Study, told: list[Any]) -> None:
    base(study, *big(60, 5))
    proposal = prune(study.project)
    assert proposal is not None
    assert proposal.state == "pending"
    assert lines_of(study) == big(60, 5)
    assert [(what["memory"].project, what["proposal"]) for what in told] == [
        (study.project, proposal)
    ]
    assert told[0]["tokens"] == tokens.count(injection.hot_text(study.project))


def test_the_oldest_status_lines_go_first(study: Study) -> None:
    gone = [line.text for line in surplus("\n".join(big(60, 5)))]
    assert gone[0].startswith("- 当前阶段")
    assert gone[2].startswith("- 状态0:")
    assert not any(text.startswith("- 问题") for text in gone)
    assert not any("状态59:" in text for text in gone)


def test_then_the_faq_and_never_rules_or_profiles(study: Study) -> None:
    gone = [line.text for line in surplus("\n".join(big(5, 60)))]
    assert any(text.startswith("- 问题") for text in gone)
    kept = [line for line in big(5, 60) if line not in gone]
    for line in (*LINES[:6], LINES[-1]):
        assert line in kept


def test_accepting_makes_it_fit(study: Study) -> None:
    base(study, *big(60, 5))
    proposal = prune(study.project)
    assert proposal is not None
    proposals.accept(proposal=proposal, actor=study["admin"])
    assert tokens.count(injection.hot_text(study.project)) <= injection.LIMIT
    assert set(lines_of(study)) < set(big(60, 5))
    assert prune(study.project) is None


def test_a_rule_in_the_same_words_stays(study: Study) -> None:
    """The FAQ repeats it; the rules stand first."""
    rule = f"- 问题0:{LONG}"
    base(study, LINES[-2], rule, LINES[-1], *big(5, 60)[:-2])
    proposal = prune(study.project)
    assert proposal is not None
    assert rule in proposal.old.split("\n")
    proposals.accept(proposal=proposal, actor=study["admin"])
    assert lines_of(study)[:3] == [LINES[-2], rule, LINES[-1]]
    assert lines_of(study).count(rule) == 1


def test_one_proposal_at_a_time(study: Study, told: list[Any]) -> None:
    base(study, *big(60, 5))
    prune(study.project)
    assert prune(study.project) is None
    assert MemoryProposal.objects.count() == 1
    assert len(told) == 1


def test_a_refused_one_is_not_made_again_for_the_same_text(study: Study) -> None:
    """The job comes each hour, and each time it would ask a model."""
    base(study, *big(60, 5))
    first = prune(study.project)
    assert first is not None
    proposals.refuse_proposal(proposal=first, actor=study["admin"])
    asked = len(study.stand_ins.requests("llm"))
    assert prune(study.project) is None
    assert len(study.stand_ins.requests("llm")) == asked
    write(study, *big(61, 5))
    assert prune(study.project) is not None


@pytest.mark.full
@pytest.mark.parametrize("is_down", [False, True])
@pytest.mark.parametrize("decide", [proposals.refuse_proposal, proposals.accept])
def test_what_was_decided_is_not_asked_again_when_other_lines_change(
    study: Study, told: list[Any], decide: Callable[..., object], is_down: bool
) -> None:
    base(study, *big(60, 5))
    if is_down:
        study.stand_ins.fault("llm", "status", 500, times=None)
        first = prune(study.project)
    else:
        first = summarise(study, ("当前阶段为入组冲刺期,本周目标 3 例", [1, 2]))
    assert first is not None
    decide(proposal=first, actor=study["admin"])
    asked = len(study.stand_ins.requests("llm"))
    write(study, *(f"{line}。" if line == LINES[3] else line for line in big(60, 5)))
    for _hour in range(2):
        assert prune(study.project) is None
    assert len(study.stand_ins.requests("llm")) == asked
    assert [what["proposal"] for what in told] == [first]


def test_where_nothing_may_go_the_administrators_are_told(study: Study, told: list[Any]) -> None:
    base(study, "# 自由文本", *[f"- 其他{n}:{LONG}" for n in range(70)])
    assert prune(study.project) is None
    assert [what["proposal"] for what in told] == [None]


@pytest.mark.full
def test_the_console_says_so(study: Study) -> None:
    memory = base(study, *big(60, 5))
    prune(study.project)
    page = browser("admin").get(f"/admin/memory/projectmemory/{memory.pk}/change/")
    assert 'data-test="over-cap"' in page.content.decode()
    assert 'data-test="waiting"' in page.content.decode()


@pytest.mark.full
def test_what_was_edited_meanwhile_is_not_shortened(study: Study) -> None:
    base(study, *big(60, 5))
    proposal = prune(study.project)
    assert proposal is not None
    write(study, *LINES)
    version = current(study).version
    with pytest.raises(proposals.ProposalOutdated):
        proposals.accept(proposal=proposal, actor=study["admin"])
    assert current(study).version == version


def test_injection_never_drops_a_heading_above_a_line_it_keeps(study: Study) -> None:
    profiles = [
        part for n in range(40) for part in (f"## 某{n} (user_id: u{n})", f"- 偏好{n}:{LONG}")
    ]
    base(study, "# 用户画像", "## 张医生 (user_id: zhangyi)", "- 只看结论", *profiles)
    shown = injection.inject(study.project, study["zhangyi"]).text
    assert tokens.count(shown) <= injection.LIMIT
    assert injection.profile_of(shown, "zhangyi")[1:] == ["- 只看结论"]
    for n in range(40):
        if f"- 偏好{n}:" in shown:
            assert injection.profile_of(shown, f"u{n}")[1:] == [f"- 偏好{n}:{LONG}"]


@pytest.mark.full
@pytest.mark.parametrize("heading", ["## 系统禁令", "#系统禁令", "  # 系统禁令"])
def test_rules_under_an_odd_heading_are_not_shortened(study: Study, heading: str) -> None:
    rules = [f"- 禁令{n}:{LONG}" for n in range(6)]
    faq = [f"- 问题{n}:{LONG}" for n in range(60)]
    base(study, "# 常见问题 (FAQ)", heading, *rules, "# FAQ", *faq)
    proposal = prune(study.project)
    assert proposal is not None
    assert not set(rules) & set(proposal.old.split("\n"))
    proposals.accept(proposal=proposal, actor=study["admin"])
    assert set(rules) <= set(lines_of(study))
    assert all(rule in injection.inject(study.project, study["crc_b"]).text for rule in rules)


def summarise(study: Study, *rows: tuple[str, list[int]]) -> MemoryProposal:
    said = {"summaries": [{"text": text, "of": of} for text, of in rows]}
    study.stand_ins.script({"content": json.dumps(said, ensure_ascii=False)})
    proposal = prune(study.project)
    assert proposal is not None
    return proposal


@pytest.mark.full
def test_a_model_says_shorter_what_goes(study: Study) -> None:
    base(study, *big(60, 5))
    proposal = summarise(study, ("当前阶段为入组冲刺期,本周目标 3 例", [1, 2]))
    assert proposal.new == "- 当前阶段为入组冲刺期,本周目标 3 例"
    assert proposal.old.startswith("- 当前阶段:入组冲刺期\n- 本周目标:完成 3 例入组\n")
    proposals.accept(proposal=proposal, actor=study["admin"])
    assert proposal.new in lines_of(study)
    assert tokens.count(injection.hot_text(study.project)) <= injection.LIMIT
    assert not set(proposal.old.split("\n")) & set(lines_of(study))


@pytest.mark.parametrize(
    ("text", "of"),
    [
        ("本周目标完成 7 例入组", [2]),  # a figure that does not stand there
        ("P099 需要每日提醒", [1]),
        ("本周目标:完成 3 例入组", []),
        ("本周目标:完成 3 例入组", [999]),
        ("", [1]),
    ],
)
def test_what_a_model_makes_up_is_not_proposed(study: Study, text: str, of: list[int]) -> None:
    base(study, *big(60, 5))
    proposal = summarise(study, (text, of))
    assert proposal.new == ""
    assert proposal.old.split("\n") == [line.text for line in surplus("\n".join(big(60, 5)))]


def test_what_was_removed_does_not_come_back_as_a_summary(study: Study) -> None:
    base(study, *big(60, 5), "- P005 依从性差,需每日提醒")
    write(study, *big(60, 5))
    proposal = summarise(study, ("P005 依从性差,需每日提醒", [1]), ("当前阶段:入组冲刺期", [1]))
    assert proposal.new == "- 当前阶段:入组冲刺期"


def test_a_model_that_is_down_leaves_a_proposal_without_it(study: Study) -> None:
    base(study, *big(60, 5))
    study.stand_ins.fault("llm", "status", 500, times=None)
    proposal = prune(study.project)
    assert proposal is not None
    assert (bool(proposal.old), proposal.new) == (True, "")


def test_administrators_get_a_message_once(study: Study) -> None:
    memory = base(study, *big(60, 5))
    proposal = prune(study.project)
    prune(study.project)
    rows = OutboxMessage.objects.filter(key__startswith=f"over-cap:{memory.pk}@")
    assert [row.to_user for row in rows] == ["admin"]
    assert proposal is not None
    payload = rows.get().payload
    assert f"/admin/memory/memoryproposal/{proposal.pk}/change/" in payload
    assert "热记忆" in payload
    assert LONG not in payload


@pytest.mark.full
def test_an_administrator_without_a_wecom_userid_is_sent_nothing(study: Study) -> None:
    Member.objects.create(project=study.project, role=Role.ADMIN, wecom_userid="")
    base(study, *big(60, 5))
    prune(study.project)
    assert [row.to_user for row in OutboxMessage.objects.all()] == ["admin"]


def test_administrators_hear_each_day_only_of_a_new_text(study: Study) -> None:
    base(study, "# 自由文本", *[f"- 其他{n}:{LONG}" for n in range(70)])
    prune(study.project)
    prune(study.project)
    assert OutboxMessage.objects.filter(key__startswith="over-cap:").count() == 1
    write(study, "# 自由文本", *[f"- 其他{n}:{LONG}" for n in range(71)])
    prune(study.project)
    assert OutboxMessage.objects.filter(key__startswith="over-cap:").count() == 2


@pytest.mark.full
@pytest.mark.parametrize(("who", "shown"), [("admin", True), ("zhangyi", True), ("crc_b", False)])
def test_home_says_so_to_those_who_may_shorten_it(study: Study, who: str, shown: bool) -> None:
    base(study, *big(60, 5))
    page = browser(who).get("/admin/").content.decode()
    assert ('data-test="over-cap"' in page) is shown
    base(study)
    assert 'data-test="over-cap"' not in browser(who).get("/admin/").content.decode()
