"""Repeated feedback becomes a line of the profile, with what it rests on (issue 4, "Profiles, feedback")."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils.timezone import now

from memory import tasks
from memory.hot import proposals
from memory.hot.save import MemoryConflict
from memory.log.flow_log import Turn, append
from memory.models import ConversationHistory, MemoryProposal
from memory.people import profiler
from projects.models import AuditEntry
from tests.engines.chat.kit import ask
from tests.memory.hot_kit import LINES, base, browser, current, kill, lines_of, write
from tests.memory.weekly_kit import finish, forget, report
from tests.support.study import Study
from tests.support.tasks import drain

BRIEF = "- **偏好**: 简洁"


def profile_now() -> None:
    """As beat and a worker do."""
    tasks.profile_users()
    drain()


def complain(
    study: Study, reason: str | None, times: int = 2, user: str = "zhangyi", value: str = "down"
) -> list[str]:
    """Answers of which the user said so; returns their ids."""
    found = []
    for n in range(times):
        turn = Turn(f"问题{n}机密", f"回答{n}机密", "general_chat", {"intents": []})
        at = now() - timedelta(hours=2, minutes=n)
        pk = append(project=study.project, user_id=user, turn=turn, at=at)
        ConversationHistory.objects.filter(pk=pk).update(
            feedback=f"thumbs_{value}", feedback_reason=reason
        )
        found.append(str(pk))
    return found


def profile_of(study: Study, user: str) -> list[str]:
    from memory.hot import injection

    return injection.profile_of(injection.hot_text(study.project), user)


def test_twice_too_long_reads_brief(study: Study) -> None:
    base(study)
    ids = complain(study, "too_long")
    profile_now()
    assert BRIEF in profile_of(study, "zhangyi")
    memory = current(study)
    assert memory.last_updated_by == "profiler_job"
    assert memory.versions.get(version=memory.version).author == "profiler_job"
    made = MemoryProposal.objects.get(author="profiler_job")
    assert made.state == "applied"
    assert {item["id"] for item in made.evidence} == set(ids)
    assert "机密" not in str(made.evidence)
    shown = proposals.quotes(made)
    assert len(shown) == 2
    assert all("👎 too_long" in line and "zhangyi" in line for line in shown)


def test_the_console_shows_why(study: Study) -> None:
    base(study)
    ids = complain(study, "too_long")
    profile_now()
    made = MemoryProposal.objects.get(author="profiler_job")
    page = browser("zhangyi").get(f"/admin/memory/memoryproposal/{made.pk}/change/")
    assert all(found in page.content.decode() for found in ids)
    assert "机密" not in page.content.decode()


@pytest.mark.full
def test_through_the_channel(study: Study) -> None:
    base(study)
    for question in ("P001 入组了吗?", "目前有多少位患者入组?"):
        ask("zhangyi", question)
        ask("zhangyi", "太长了")
    profile_now()
    assert BRIEF in profile_of(study, "zhangyi")


@pytest.mark.parametrize(
    ("reason", "times", "value"),
    [
        ("too_long", 1, "down"),
        (None, 5, "down"),
        (None, 5, "up"),
        ("too_long", 2, "up"),
        ("unheard_of", 3, "down"),
    ],
)
def test_less_than_that_changes_nothing(
    study: Study, reason: str | None, times: int, value: str
) -> None:
    base(study)
    complain(study, reason, times, value=value)
    profile_now()
    assert [line for line in lines_of(study) if "反馈统计" not in line] == LINES
    assert not MemoryProposal.objects.exists()


def test_one_each_of_two_people_is_no_repetition(study: Study) -> None:
    base(study)
    complain(study, "too_long", 1)
    complain(study, "too_long", 1, "wanghushi")
    profile_now()
    assert BRIEF not in lines_of(study)


def test_running_it_again_changes_nothing(study: Study) -> None:
    base(study)
    complain(study, "too_long", 2)
    profile_now()
    version, entries = current(study).version, AuditEntry.objects.count()
    profile_now()
    complain(study, "too_long", 3)
    profile_now()
    assert (current(study).version, AuditEntry.objects.count()) == (version, entries)
    assert lines_of(study).count(BRIEF) == 1


def test_what_a_person_removed_is_not_written_again(study: Study) -> None:
    base(study)
    complain(study, "too_long")
    profile_now()
    kill(study, BRIEF)
    complain(study, "too_long", 4)
    profile_now()
    assert BRIEF not in lines_of(study)
    assert MemoryProposal.objects.filter(state="pending").count() == 0


@pytest.mark.parametrize("line", ["- **偏好**: 简短", "- **禁令**: 不要太简洁"])
def test_a_profile_that_speaks_of_it_already_is_left_alone(study: Study, line: str) -> None:
    base(study, *LINES[:4], line, *LINES[4:])
    complain(study, "too_long")
    profile_now()
    assert BRIEF not in lines_of(study)


def test_who_asked_for_detail_is_asked_by_a_person(study: Study) -> None:
    """wanghushi's profile says 详细步骤: feedback alone does not overrule it."""
    base(study)
    complain(study, "too_long", user="wanghushi")
    profile_now()
    assert BRIEF not in profile_of(study, "wanghushi")
    waiting = MemoryProposal.objects.get(state="pending")
    assert (waiting.profile, waiting.new) == ("wanghushi", BRIEF)
    proposals.accept(proposal=waiting, actor=study["admin"])
    assert BRIEF in profile_of(study, "wanghushi")


@pytest.mark.parametrize(("line", "is_asked"), [("别太简短", True), ("不要太详细", False)])
def test_what_a_profile_denies_it_does_not_ask_for(study: Study, line: str, is_asked: bool) -> None:
    base(study, *LINES[:4], f"- **禁令**: {line}", *LINES[4:])
    complain(study, "too_long")
    profile_now()
    assert (BRIEF not in profile_of(study, "zhangyi")) == is_asked
    assert MemoryProposal.objects.filter(state="pending").exists() == is_asked


def test_inaccurate_answers_are_for_people_to_judge(study: Study) -> None:
    base(study)
    complain(study, "inaccurate")
    profile_now()
    profile_now()
    waiting = MemoryProposal.objects.get()
    assert (waiting.state, waiting.author) == ("pending", "profiler_job")
    assert "关注点" in waiting.new
    assert len(waiting.evidence) == 2


def test_unclear_answers_ask_for_clearer_ones(study: Study) -> None:
    base(study)
    complain(study, "unclear")
    profile_now()
    assert any("表述清楚" in line for line in profile_of(study, "zhangyi"))


def test_who_has_no_profile_gets_one(study: Study) -> None:
    base(study)
    complain(study, "too_long", user="crc_b")
    profile_now()
    assert BRIEF in profile_of(study, "crc_b")
    assert [line for line in lines_of(study) if "user_id: crc_b" in line]


def test_the_rules_are_not_its_business(study: Study) -> None:
    base(study)
    complain(study, "too_long")
    complain(study, "unclear", user="wanghushi")
    profile_now()
    rules = lines_of(study)[lines_of(study).index("# 系统禁令 (Rules)") :]
    assert rules == LINES[LINES.index("# 系统禁令 (Rules)") :]


def rare(number: int) -> str:
    """Words that no vocabulary holds as one."""
    return "".join(chr(0x4E00 + (number * 97 + at * 131) % 5000) for at in range(60))


def test_a_full_profile_waits_for_a_person(study: Study) -> None:
    base(study, *LINES[:4], *(f"- 备注{n}: {rare(n)}" for n in range(9)), *LINES[4:])
    complain(study, "too_long")
    profile_now()
    assert BRIEF not in lines_of(study)
    assert MemoryProposal.objects.get().state == "pending"


def statistics(study: Study, user: str) -> list[str]:
    return [line for line in profile_of(study, user) if "反馈统计" in line]


def test_the_statistics_of_a_profile_come_from_data(study: Study) -> None:
    """The demo study starts with 12 and 1 for the PI."""
    base(study)
    complain(study, None, 3, value="up")
    complain(study, None, 1, "wanghushi", value="down")
    complain(study, None, 1, "crc_b", value="down")
    profile_now()
    assert statistics(study, "zhangyi") == ["- **反馈统计**: 👍 15 / 👎 1"]
    assert statistics(study, "wanghushi") == ["- **反馈统计**: 👍 0 / 👎 1"]
    assert "crc_b" not in "\n".join(lines_of(study)), "a count alone makes no profile"


def test_the_statistics_change_once_a_day_and_replace_the_old_line(
    study: Study, monkeypatch: Any
) -> None:
    base(study)
    complain(study, None, 1, value="up")
    profile_now()
    version = current(study).version
    complain(study, None, 1, value="up")
    profile_now()
    assert current(study).version == version
    from core.house.models import CronFiring

    CronFiring.objects.filter(job__startswith="feedback:").delete()
    profile_now()
    assert statistics(study, "zhangyi") == ["- **反馈统计**: 👍 14 / 👎 1"]


def test_statistics_that_a_person_removed_stay_away(study: Study) -> None:
    base(study)
    complain(study, None, 1, value="up")
    profile_now()
    kill(study, "- **反馈统计**: 👍 13 / 👎 1")
    from core.house.models import CronFiring

    CronFiring.objects.filter(job__startswith="feedback:").delete()
    complain(study, None, 2, value="up")
    profile_now()
    assert statistics(study, "zhangyi") == []


@pytest.mark.parametrize("section", ["# 团队成员", "# 当前状态 (Active Context)"])
def test_a_profile_under_another_heading_stops_nothing(study: Study, section: str) -> None:
    """Only a line below 用户画像 could be changed; the job failed over any other for good."""
    base(study, section, "## 张医生 (user_id: zhangyi)", "- **反馈统计**: 👍 1 / 👎 0")
    complain(study, "too_long")
    profiler.profile(study.project)
    assert BRIEF in profile_of(study, "zhangyi")
    assert statistics(study, "zhangyi") == ["- **反馈统计**: 👍 12 / 👎 3"]


@pytest.mark.full
def test_the_weekly_report_counts_feedback_and_what_came_of_it(study: Study) -> None:
    forget(study)
    from tests.memory.weekly_kit import said, told

    base(study)
    for n, (value, reason) in enumerate(
        [("up", None), ("down", "too_long"), ("down", "too_long"), ("down", "unclear")]
    ):
        at = said(study, f"第{n}问", day=n)
        ConversationHistory.objects.filter(created_at=at, role="assistant").update(
            feedback=f"thumbs_{value}", feedback_reason=reason
        )
    profile_now()
    assert BRIEF in profile_of(study, "zhangyi")
    week = report_week(study)
    MemoryProposal.objects.filter(author="profiler_job").update(decided_at=week)
    study.stand_ins.script(told())
    finish(study)
    found = report(study)
    assert found.metrics["feedback_up"] == 1
    assert found.metrics["feedback_down"] == 3
    assert found.metrics["feedback_reasons"] == {"too_long": 2, "unclear": 1}
    assert found.metrics["preferences"] == 1
    assert "反馈 👍 1 / 👎 3(太长 2、不清楚 1);据此更新画像 1 条" in found.summary


def report_week(study: Study) -> Any:
    from memory.reports import weeks
    from tests.memory.weekly_kit import last_week

    return weeks.bounds(study.project, last_week(study))[0] + timedelta(days=1)


def test_somebody_who_saved_in_between_is_read_again(study: Study, monkeypatch: Any) -> None:
    base(study)
    complain(study, "too_long")
    real, calls = profiler.save_memory, []

    def late(**given: Any) -> Any:
        calls.append(1)
        if len(calls) == 1:
            raise MemoryConflict(None)
        return real(**given)

    monkeypatch.setattr(profiler, "save_memory", late)
    profile_now()
    assert len(calls) == 2
    assert lines_of(study).count(BRIEF) == 1


def test_a_job_that_comes_late_sees_a_conflict_whatever_was_changed(study: Study) -> None:
    base(study)
    before = current(study)
    write(study, *LINES, "- 新的禁令")
    with pytest.raises(MemoryConflict):
        profiler.save_memory(
            project=study.project,
            content=before.content,
            actor=profiler.AUTHOR,
            base_version=before.version,
        )


def next_day() -> None:
    from core.house.models import CronFiring

    CronFiring.objects.filter(job__startswith="feedback:").delete()


@pytest.mark.full
def test_statistics_that_their_user_had_forgotten_stay_away(study: Study) -> None:
    """The counts are others every day; so is the line."""
    base(study)
    profile_now()
    assert statistics(study, "zhangyi")
    ask("zhangyi", "忘掉反馈统计")
    assert statistics(study, "zhangyi") == []
    version = current(study).version
    for more in (0, 1, 3):
        next_day()
        complain(study, None, more, value="up")
        profile_now()
        assert statistics(study, "zhangyi") == []
    assert current(study).version == version, "nothing was written"


def test_a_line_that_its_user_had_forgotten_counts_as_none(study: Study) -> None:
    from memory.reports.metrics import preferences

    base(study)
    complain(study, "too_long")
    profile_now()
    ask("zhangyi", f"忘掉{BRIEF[2:]}")
    assert BRIEF not in profile_of(study, "zhangyi")
    version = current(study).version
    complain(study, "too_long", 3)
    profile_now()
    assert BRIEF not in profile_of(study, "zhangyi")
    assert current(study).version == version
    assert not MemoryProposal.objects.filter(author="profiler_job").exists()
    from core.house import clock
    from memory.reports.weeks import period, week_of

    of = week_of(study.project, clock.today(study.project.timezone))
    assert of is not None
    part = period(study.project, of, now() + timedelta(minutes=1))
    assert preferences(study.project, part) == {"preferences": 0}
