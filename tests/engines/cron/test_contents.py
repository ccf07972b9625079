"""What briefing, reminder and report say, and to whom (decisions.md, "cron skills"; design.md 9)."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import translation
from django.utils.translation import gettext

from engines.briefing import CONTENTS
from engines.models import PendingAction, Review, TaskRun
from engines.sop.nodes.notify import renewed
from engines.sop.reviews import reviewer
from memory.models import ProjectMemory, WeeklyReport
from projects.models import Member, Project
from skills.graph import schema
from skills.models import Skill
from skills.validation import validate
from study.models import Subject, VisitPlanEntry
from tests.engines.cron.kit import (
    all_trials,
    at,
    clock,
    configure,
    do_visit,
    fired,
    no_rest,
    rows,
    skill_of,
    texts,
    weekend,
)
from tests.engines.sop.kit import begin, run_of, tell
from tests.support.study import Study

pytestmark = pytest.mark.django_db
KINDS = ("daily_briefing", "visit_reminder", "weekly_report")


@pytest.fixture(autouse=True)
def _rested(study: Study) -> None:
    no_rest(study)


def told(study: Study, kind: str, moment: str = "09:00", days: int = 0) -> dict[str, str]:
    with at(clock(study, moment, days)):
        run = fired(study, kind)
    assert (run.status, run.final_state) == ("COMPLETED", "end_success")
    return texts()


def said(message: str) -> str:
    with translation.override("zh-hans"):
        return gettext(message).split("%(")[0]


def ids(study: Study, site: str) -> list[str]:
    of_site = Subject.objects.filter(project=study.project, site=site)
    return list(of_site.values_list("record_id", flat=True))


def named(message: str, records: list[str]) -> list[str]:
    """Ids in a message; an id of digits only where a line is about a subject."""
    subjects = {line.split()[1] for line in message.splitlines() if line.startswith("- ")}
    return [one for one in records if one in (subjects if one.isdigit() else message)]


def finding(study: Study, record: str, hours_ago: float, key: str, **more: str) -> PendingAction:
    """A finding of a run, found some hours before 8:30 of the demo's day."""
    run = TaskRun.objects.filter(record_id=record).first() or begin(
        study, skill_of(study, "qc_process"), record
    )
    found = PendingAction.objects.create(
        project=study.project,
        task_run=run,
        record_id=record,
        action_type=more.pop("action_type", "violation"),
        message="ECOG>2",
        severity="error",
        skill_type="qc_process",
        node="a",
        rule_key=key,
        open_key=key,
        **more,
    )
    created = clock(study, "08:30") - timedelta(hours=hours_ago)
    PendingAction.objects.filter(pk=found.pk).update(created_at=created)
    return found


def test_the_demos_workflows_are_sound_and_ask_no_person(study: Study) -> None:
    for kind in KINDS:
        skill = skill_of(study, kind)
        assert validate(skill.config, study.project) == []
        assert {node["type"] for node in skill.config["nodes"].values()} == {"notify"}
    assert sorted(CONTENTS) == sorted(schema()["$defs"]["notify"]["properties"]["content"]["enum"])


@pytest.mark.full
def test_no_model_writes_them(study: Study) -> None:
    for kind in KINDS:
        told(study, kind)
    assert study.stand_ins.requests("llm") == []
    assert not Review.objects.exists()


@pytest.mark.full
def test_who_gets_what(study: Study) -> None:
    assert set(told(study, "visit_reminder")) == {"wanghushi", "crc_b"}
    configure(study, "weekly_report", schedule="0 9 * * *")
    with at(clock(study, "09:00", 1)):
        run = fired(study, "weekly_report")
    assert {row.to_user for row in rows() if str(run.pk) in row.key} == {"zhangyi", "admin"}


@pytest.mark.full
def test_people_who_left_or_cannot_be_reached_get_nothing(study: Study) -> None:
    Member.objects.filter(wecom_userid="crc_b").update(is_active=False)
    Member.objects.create(project=study.project, role="CRC", wecom_userid="", site="site_a")
    assert set(told(study, "visit_reminder")) == {"wanghushi"}


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
def test_crc_b_learns_nothing_of_site_a(study: Study, kind: str) -> None:
    for record in ("P004", "P007"):
        finding(study, record, 1, record)
    Skill.objects.filter(skill_type=kind).update(cron_schedule="30 8 * * *")
    configure(study, kind, roles=["CRC", "PI"])
    messages = told(study, kind, "08:30")

    hidden = ids(study, "site_a")
    assert len(hidden) > 10
    assert named(messages["crc_b"], hidden) == []
    assert named(messages["wanghushi"], ids(study, "site_b")) == []
    if kind != "weekly_report":
        assert named(messages["crc_b"], ids(study, "site_b")), "what is theirs they do learn"


@pytest.mark.full
def test_no_message_carries_an_identifier(study: Study) -> None:
    """Names, ID cards, phones, hospital numbers of every subject, and the names of the people."""
    finding(study, "P004", 1, "one")
    for kind in KINDS:
        configure(study, kind, schedule="30 8 * * *", roles=["PI", "CRC", "ADMIN"], days=60)
        told(study, kind, "08:30")
    every = "\n".join(row.payload for row in rows())
    known = {
        value
        for subject in Subject.objects.filter(project=study.project)
        for value in json.loads(subject.identifiers).values()
    }
    assert len(known) > 100
    assert [value for value in known if value in every] == []
    assert not any(member.display_name in every for member in Member.objects.all())


@pytest.mark.full
def test_the_reminder_names_visits_of_the_next_days_only(study: Study) -> None:
    days = {"3": 3, "0": 0}
    found = {}
    for name, number in days.items():
        configure(study, "visit_reminder", days=number)
        found[name] = told(study, "visit_reminder", days=number)["wanghushi"].splitlines()
    today = clock(study, "00:00").date()
    for line in found["0"][2:]:
        _dash, _record, _visit, opens, _to, closes = line.split()
        assert opens <= today.isoformat() <= closes
    assert len(found["3"]) > len(found["0"])


@pytest.mark.full
def test_a_visit_that_is_done_is_not_in_the_next_reminder(study: Study) -> None:
    lines = told(study, "visit_reminder")["wanghushi"].splitlines()
    record, visit = lines[2].split()[1:3]
    do_visit(study, record, visit)

    after = told(study, "visit_reminder", days=1)["wanghushi"]
    assert f"{record} {visit}" in "\n".join(lines)
    assert f"{record} {visit}" not in after


@pytest.mark.full
def test_new_findings_are_those_since_the_last_briefing(study: Study) -> None:
    finding(study, "P004", 1, "new")
    finding(study, "P004", 23, "of this day", action_type="warning")
    finding(study, "P001", 25, "told yesterday")
    finding(study, "P008", 1, "done", state="closed")
    messages = told(study, "daily_briefing", "08:30")

    head = said("New findings: %(number)d (%(kinds)s)")
    (line,) = [line for line in messages["admin"].splitlines() if line.startswith(head)]
    assert "2" in line
    assert "P004" in messages["wanghushi"].partition(head)[2]
    assert head not in messages["crc_b"]


def announced(message: str) -> bool:
    return said("New findings: %(number)d (%(kinds)s)") in message


@pytest.mark.full
def test_what_was_found_while_the_house_was_down_is_new(study: Study) -> None:
    assert not announced(told(study, "daily_briefing", "08:30")["admin"])
    finding(study, "P004", -30, "on the second day")
    assert announced(told(study, "daily_briefing", "08:30", days=4)["admin"])
    assert not announced(told(study, "daily_briefing", "08:30", days=5)["admin"])


@pytest.mark.full
def test_what_was_found_on_days_off_is_new_on_the_next_working_day(study: Study) -> None:
    """Messages of the days off wait, and each replaces the one before."""
    Project.objects.filter(pk=study.project.pk).update(quiet_weekends=True)
    friday = weekend(study) - 1
    told(study, "daily_briefing", "08:30", days=friday)
    finding(study, "P004", -24 * friday - 3, "on Friday")
    for days in (1, 2):
        told(study, "daily_briefing", "08:30", days=friday + days)
    assert announced(told(study, "daily_briefing", "08:30", days=friday + 3)["admin"])
    assert not announced(told(study, "daily_briefing", "08:30", days=friday + 4)["admin"])


@pytest.mark.full
def test_a_message_of_a_day_off_is_told_before_the_next_week(study: Study) -> None:
    """It waits for the first working day, long before the next one is due."""
    configure(study, "daily_briefing", schedule="0 9 * * 6")
    Project.objects.filter(pk=study.project.pk).update(quiet_weekends=True)
    saturday = weekend(study)
    finding(study, "P004", -24 * saturday + 3, "on Saturday")
    weeks = [told(study, "daily_briefing", days=saturday + 7 * week)["admin"] for week in range(3)]
    assert [announced(message) for message in weeks] == [True, False, False]


@pytest.mark.full
def test_what_a_reader_was_not_told_is_new_to_them(study: Study) -> None:
    """The message of eight o'clock waits for a reader's best time, and the one of 16:00 replaces it."""
    configure(study, "daily_briefing", schedule="0 8,16 * * *")
    content = "# 用户画像\n\n## 某人 (user_id: admin)\n- **最佳通知时间**: 17:00"
    ProjectMemory.objects.filter(project=study.project).update(content=content)
    finding(study, "P004", 1.5, "at seven")
    assert announced(told(study, "daily_briefing", "08:00")["wanghushi"])
    messages = told(study, "daily_briefing", "16:00")
    assert announced(messages["admin"])
    assert not announced(messages["wanghushi"]), "who was told in the morning"
    assert announced(told(study, "daily_briefing", "08:00", days=1)["admin"]) is False


@pytest.mark.full
def test_what_waited_over_the_holidays_is_new_after_them(study: Study) -> None:
    """At ten in the evening before a holiday: not of a day of rest, and yet nobody is told."""
    evening = "22:00"
    configure(study, "daily_briefing", schedule="0 22 * * *")
    Project.objects.filter(pk=study.project.pk).update(
        quiet_from="21:00", quiet_until="07:30", quiet_weekends=True
    )
    friday = weekend(study) - 1
    told(study, "daily_briefing", evening, days=friday - 1)
    finding(study, "P004", -24 * friday - 3, "on Friday")
    for days in (0, 1, 2):
        messages = told(study, "daily_briefing", evening, days=friday + days)
    assert announced(messages["admin"])


@pytest.mark.full
def test_reviews_wait_for_those_who_decide(study: Study) -> None:
    run = begin(study, skill_of(study, "qc_process"), "P004")
    for roles, record in ((["CRC"], "P004"), (["PI"], "P004"), ([], "P004")):
        Review.objects.create(
            project=study.project,
            task_run=run,
            record_id=record,
            node="a",
            question="?",
            reviewers=roles,
            seen="x",
        )
    messages = told(study, "daily_briefing", "08:30")

    numbers = [f"#{pk}" for pk in Review.objects.order_by("pk").values_list("pk", flat=True)]
    seen = {name: [n for n in numbers if n in text] for name, text in messages.items()}
    assert seen == {
        "wanghushi": numbers[:1],
        "zhangyi": numbers[1:2],
        "admin": numbers,
        "crc_b": [],
    }
    for name in messages:
        may = [r for r in Review.objects.order_by("pk") if reviewer(study[name], r)]
        assert [f"#{review.pk}" for review in may] == seen[name], name


@pytest.mark.full
@pytest.mark.parametrize("line", ["**禁令**: 回复不超过 100 字", "**偏好**: 简洁汇报"])
def test_a_reader_who_wants_it_short_gets_the_heads(study: Study, line: str) -> None:
    long = told(study, "daily_briefing", "08:30")["zhangyi"]
    memory = ProjectMemory.objects.get(project=study.project)
    memory.content = f"# 用户画像\n\n## 张医生 (user_id: zhangyi)\n- {line}"
    memory.save()
    short = told(study, "daily_briefing", "08:30", days=1)["zhangyi"]

    assert "P005 V3" in long
    assert "P005 V3" not in short
    assert short.splitlines()[2].startswith(said("Visits overdue: %(number)d"))


@pytest.mark.full
@pytest.mark.parametrize("line", ["**偏好**: 别太简短", "**偏好**: 以后周报不超过 100 字"])
def test_a_reader_who_does_not_gets_all_of_it(study: Study, line: str) -> None:
    memory = ProjectMemory.objects.get(project=study.project)
    memory.content = f"# 用户画像\n\n## 张医生 (user_id: zhangyi)\n- {line}"
    memory.save()
    assert "P005 V3" in told(study, "daily_briefing", "08:30")["zhangyi"]


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS[:2])
@pytest.mark.parametrize("fault", [503, 403])
def test_an_unreadable_redcap_is_said_and_never_looks_like_nothing_to_do(
    study: Study, kind: str, fault: int
) -> None:
    study.stand_ins.fault("redcap", "status", fault, times=None)
    with at(clock(study, "09:00")):
        run = all_trials(fired(study, kind))

    assert (run.status, run.final_state) == ("COMPLETED", "end_success")
    unread = said(
        "REDCap could not be read: enrolment and visits are unknown. Please check them there."
    )
    assert texts()
    for message in texts().values():
        assert unread in message
        assert said("Nothing to do today.") not in message


@pytest.mark.full
def test_an_outage_that_passes_leaves_no_trace_in_the_message(study: Study) -> None:
    study.stand_ins.fault("redcap", "status", 503, times=None)
    with at(clock(study, "09:00")):
        run = fired(study, "visit_reminder")
        assert (run.status, rows()) == ("RUNNING", [])
        study.stand_ins.post("faults", [])
        study.stand_ins.post("reset")
        run = all_trials(run)
    assert run.final_state == "end_success"
    assert "REDCap" not in texts()["wanghushi"]


@pytest.mark.full
def test_hidden_data_are_said(study: Study) -> None:
    token = study.run["redcap_tokens"]["deidentified"]
    Project.objects.filter(pk=study.project.pk).update(redcap_token=token)
    messages = told(study, "visit_reminder")

    hidden = said("REDCap did not show all data: the list may be incomplete.")
    assert all(hidden in message for message in messages.values())
    assert len(messages) == 2


@pytest.mark.full
def test_an_empty_redcap_where_subjects_are_known_is_an_outage(study: Study) -> None:
    empty: dict[str, Any] = {
        "service": "redcap",
        "path": "",
        "kind": "body",
        "value": [],
        "times": None,
    }
    study.stand_ins.post("faults", [empty | {"body_contains": "content=record"}])
    with at(clock(study, "09:00")):
        all_trials(fired(study, "visit_reminder"))
    assert all("REDCap" in message for message in texts().values())
    assert texts()


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS[:2])
def test_a_plan_that_nobody_can_follow_is_no_outage(study: Study, kind: str) -> None:
    """The one who can mend it is sent to the console, and enrolment, which needs no plan, is told."""
    VisitPlanEntry.objects.filter(project=study.project, visit="V1").update(day=0)
    messages = told(study, kind)
    unknown = said(
        "The visit plan cannot be followed: visits are unknown. "
        "Please have it corrected in the console."
    )
    enrolled = said(
        "Enrolled%(place)s: %(number)d%(target)s, %(recent)d of them in the last 7 days"
    )
    assert messages
    for userid, message in messages.items():
        assert unknown in message
        assert "REDCap" not in message
        assert (enrolled in message) is (kind == "daily_briefing")
        run = TaskRun.objects.get()
        with at(clock(study, "09:30")):
            assert unknown in renewed(run.pk, run.config["start_node"], userid)


@pytest.mark.full
@pytest.mark.parametrize(
    ("kind", "when_empty", "said_so"),
    [
        ("visit_reminder", None, False),
        ("visit_reminder", "say", True),
        ("daily_briefing", "say", True),
        ("daily_briefing", "silent", False),
    ],
)
def test_nothing_to_do(study: Study, kind: str, when_empty: str | None, said_so: bool) -> None:
    VisitPlanEntry.objects.filter(project=study.project).delete()
    more = {"when_empty": when_empty} if when_empty else {}
    configure(study, kind, schedule="0 9 * * *", **more)
    messages = told(study, kind)

    nothing = {
        "daily_briefing": said("Nothing to do today."),
        "visit_reminder": said("No visit is due in the next %(days)d days."),
    }[kind]
    assert bool(messages) is said_so
    assert all(nothing in message for message in messages.values())


def test_the_weekly_report_is_announced_with_figures_and_address(study: Study) -> None:
    configure(study, "weekly_report", schedule="0 9 * * *")
    Member.objects.filter(wecom_userid="admin").update(site="site_b")
    newest = WeeklyReport.objects.order_by("-week_number").first()
    assert newest
    assert newest.metrics
    newest.summary = newest.summary + "\n- 测试张三 电话 13800000001"
    newest.save()
    messages = told(study, "weekly_report")

    assert f"Week {newest.week_number} (" in messages["zhangyi"]
    assert str(newest.metrics["enrolled_total"]) in messages["zhangyi"].splitlines()[1]
    assert f"/weeklyreport/{newest.pk}/" in messages["zhangyi"]
    assert "测试张三" not in messages["zhangyi"], "a person's text stays in the console"
    assert f"/weeklyreport/{newest.pk}/" in messages["admin"]
    assert len(messages["admin"].splitlines()) == 2, "the figures are those of the whole study"


def test_figures_that_the_report_could_not_read_are_said(study: Study) -> None:
    configure(study, "weekly_report", schedule="0 9 * * *")
    unread = {"enrolled": None, "enrolled_total": 3, "unread": ["enrolled"]}
    WeeklyReport.objects.update(metrics=unread)
    lines = told(study, "weekly_report")["zhangyi"].splitlines()
    assert "3" in lines[1]
    assert lines[2].startswith(said("Could not be read: %(figures)s"))


def test_the_running_weeks_report_is_not_announced(study: Study) -> None:
    """Somebody asked for it on the way; it is not whole yet."""
    configure(study, "weekly_report", schedule="0 9 * * *")
    newest = WeeklyReport.objects.order_by("-week_number").first()
    assert newest
    WeeklyReport.objects.create(
        project=study.project,
        week_number=newest.week_number + 1,
        week_start=newest.week_end,
        week_end=newest.week_end + timedelta(days=7),
        summary="",
        created_by="zhangyi",
    )
    assert f"Week {newest.week_number} (" in told(study, "weekly_report")["zhangyi"]


@pytest.mark.full
def test_a_missing_weekly_report_is_said(study: Study) -> None:
    configure(study, "weekly_report", schedule="0 9 * * *")
    told(study, "weekly_report")
    before = texts()["zhangyi"]
    after = told(study, "weekly_report", days=7)["zhangyi"]
    missing = said("There is no report of week %(week)d yet.")
    assert (missing in before, missing in after) == (False, True)


@pytest.mark.full
def test_a_node_may_follow_a_node(study: Study) -> None:
    """Two messages in one run: each its own step and key."""
    skill = configure(study, "visit_reminder")
    node = skill.config["nodes"]["remind"]
    skill.config = {
        **skill.config,
        "start_node": "a",
        "nodes": {
            "a": {**node, "on_pass": "b"},
            "b": {"type": "notify", "content": "daily_briefing", "roles": ["CRC"]},
        },
    }
    skill.save()
    with at(clock(study, "09:00")):
        run = run_of(study, skill, None)
        tell()
    assert run.final_state == "end_success"
    assert [row.to_user for row in rows()] == ["crc_b", "wanghushi"] * 2
