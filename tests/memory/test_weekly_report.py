"""The weekly report job: figures from data, narrative from the flow log, each week once (issue 4)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils.timezone import now

from core.llm.models import LlmUsage
from engines.tasks import write_report
from memory.log import retention
from memory.models import WeeklyNote, WeeklyReport
from memory.reports import job, report_store, weeks
from projects.models import AuditEntry, Project
from tests.engines.chat.kit import ask, sent
from tests.memory.weekly_kit import (
    DECISION,
    asked,
    claim,
    due_later,
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

KEPT = "维持ECOG 0到2分,不放宽入排标准"


@pytest.mark.full
def test_a_week_is_written_with_figures_and_narrative(study: Study) -> None:
    forget(study)
    said(study, DECISION, "zhangyi", day=1)
    said(study, "自动录入化验单试了又失败,改回人工复核", "wanghushi", day=3)
    said(study, "下周要清理1月份遗留的Query", "wanghushi", day=4)
    study.stand_ins.script(
        told(
            claim("decision", KEPT, 1),
            claim("pitfall", "自动录入化验单失败,改回人工复核", 3, "自动录入化验单试了又失败"),
            claim("todo", "清理1月份遗留的Query", 5),
        )
    )
    write()
    found, week = report(study), last_week(study)
    assert found.summary.startswith(week.title)
    assert found.created_by == "system_scheduler"
    decided = week.first + timedelta(days=1)
    assert section(found, "关键决策") == [f"- {decided}: {KEPT}({study['zhangyi'].display_name})"]
    assert section(found, "踩坑记录") == ["- 自动录入化验单失败,改回人工复核"]
    assert section(found, "待办") == ["- 清理1月份遗留的Query"]
    assert found.metrics["messages"] == 3
    assert found.narrated_at is not None
    assert found.counted_at is not None
    entry = AuditEntry.objects.filter(action="report.save").order_by("number").last()
    assert entry is not None
    assert entry.actor == "system_scheduler"


@pytest.mark.full
def test_running_it_again_makes_nothing_new(study: Study) -> None:
    forget(study)
    said(study, DECISION)
    study.stand_ins.script(told(claim("decision", KEPT, 1)))
    write()
    first, calls = report(study), len(asked(study))
    write()
    finish(study)
    again = report(study)
    assert (again.pk, again.version, again.summary) == (first.pk, first.version, first.summary)
    assert len(asked(study)) == calls == 1
    assert WeeklyReport.objects.filter(week_number=first.week_number).count() == 1
    assert AuditEntry.objects.filter(action="report.save", object_id=str(first.pk)).count() == 2


@pytest.mark.full
@pytest.mark.parametrize("kind", ["status", "reset", "body"])
def test_without_the_model_the_figures_stand_and_the_narrative_follows(
    study: Study, kind: str
) -> None:
    forget(study)
    said(study, DECISION)
    study.stand_ins.fault("llm", kind, 500 if kind == "status" else "<html>", times=None)
    write()
    found = report(study)
    assert found.narrated_at is None
    assert found.metrics["messages"] == 1
    assert any("待整理" in line for line in section(found, "关键决策"))
    assert LlmUsage.objects.filter(purpose="weekly", ok=False).exists()
    study.stand_ins.reset()
    study.stand_ins.script(told(claim("decision", KEPT, 1)))
    assert last_number(study) not in job.due_weeks(study.project), "an outage is not hammered"
    assert due_later(study) == [last_number(study)]
    finish(study)
    found = report(study)
    assert found.narrated_at is not None
    assert KEPT in found.summary
    assert "待整理" not in found.summary


@pytest.mark.full
def test_a_model_that_was_away_for_weeks_tells_them_when_it_is_back(study: Study) -> None:
    """After 14 days nobody tried again: the conversations of such a week stayed for good."""
    number = last_number(study) - 3
    forget(study, number)
    said(study, DECISION, back=3)
    study.stand_ins.fault("llm", "status", 500, times=None)
    write()
    began = now() - timedelta(days=20)
    WeeklyReport.objects.filter(pk=report(study, number).pk).update(
        created_at=began, tried_at=began
    )
    write()
    assert report(study, number).narrated_at is None
    assert job.due_weeks(study.project) == [], "once a day is enough"
    assert number in job.due_weeks(study.project, now() + timedelta(days=1, minutes=1))
    study.stand_ins.reset()
    study.stand_ins.script(told(claim("decision", KEPT, 1)))
    WeeklyReport.objects.filter(pk=report(study, number).pk).update(tried_at=began)
    write()
    found = report(study, number)
    assert KEPT in found.summary
    assert found.narrated_at is not None
    kept = timedelta(days=study.project.flow_log_days)
    assert retention.purge(study.project, found.narrated_at + kept) == 2


@pytest.mark.full
@pytest.mark.parametrize(
    "content", ["", "没有", "[]", '{"entries": 3}', '{"entries": [{"section"', "{}"]
)
def test_a_useless_answer_is_no_narrative(study: Study, content: str) -> None:
    forget(study)
    said(study, DECISION)
    study.stand_ins.script(*[{"content": content}] * 4)
    write()
    assert report(study).narrated_at is None
    assert not WeeklyNote.objects.exists()


@pytest.mark.full
def test_entries_that_are_no_entries_are_left_out(study: Study) -> None:
    forget(study)
    said(study, DECISION)
    study.stand_ins.script(
        {"content": '{"entries": [1, null, {"section": "decision"}, {"row": "x"}]}'}
    )
    write()
    found = report(study)
    assert found.narrated_at is not None
    assert section(found, "关键决策") == []


@pytest.mark.full
def test_a_week_without_a_talk_asks_no_model(study: Study) -> None:
    forget(study)
    write()
    assert report(study).narrated_at is not None
    assert report(study).metrics["messages"] == 0
    assert asked(study) == []


@pytest.mark.full
def test_missed_weeks_are_made_up_for_oldest_first_and_bounded(study: Study) -> None:
    last = last_number(study)
    assert last > job.BACK_FILL + 2
    missed = range(last - job.BACK_FILL - 1, last + 1)
    forget(study, *missed)
    assert job.due_weeks(study.project) == list(missed)[: job.BACK_FILL]
    write()
    assert job.due_weeks(study.project) == list(missed)[job.BACK_FILL :]
    write()
    assert job.due_weeks(study.project) == []
    rows = WeeklyReport.objects.filter(week_number__in=missed)
    assert rows.count() == len(missed)


@pytest.mark.full
def test_a_missed_week_is_counted_as_of_its_own_days(study: Study) -> None:
    """P001 was enrolled on 2026-02-05, in week 5; in all there were fewer then than now."""
    kept = report(study, 5)
    forget(study, 5)
    write_report(str(study.project.pk), 5)
    found = report(study, 5)
    for name in ("enrolled", "enrolled_total", "target"):
        assert found.metrics[name] == kept.metrics[name], name
    assert found.metrics["enrolled"] >= 1
    assert found.metrics["enrolled_total"] < report(study).metrics["enrolled_total"]


def test_weeks_to_come_and_before_the_first_are_nobodys(study: Study) -> None:
    before = WeeklyReport.objects.count()
    for number in (0, -1, last_number(study) + 1, 10**9):
        write_report(str(study.project.pk), number)
    write_report("00000000-0000-0000-0000-000000000000", 1)
    assert WeeklyReport.objects.count() == before


@pytest.mark.full
@pytest.mark.parametrize(
    ("status", "written"),
    [("active", True), ("paused", True), ("planning", False), ("closed", False)],
)
def test_whose_weeks_are_reported(study: Study, status: str, written: bool) -> None:
    forget(study)
    Project.objects.filter(pk=study.project.pk).update(status=status)
    write()
    assert WeeklyReport.objects.filter(week_number=last_number(study)).exists() is written


@pytest.mark.full
def test_a_closed_study_is_reported_to_its_last_conversation(study: Study) -> None:
    """Else its log could never go (memory.log.retention)."""
    forget(study, last_number(study), last_number(study) - 1)
    said(study, "本周关闭研究", back=1)
    Project.objects.filter(pk=study.project.pk).update(status="closed")
    write()
    written = WeeklyReport.objects.values_list("week_number", flat=True)
    assert last_number(study) - 1 in written
    assert last_number(study) not in written


@pytest.mark.full
def test_what_could_not_be_read_is_unknown_and_said(study: Study) -> None:
    forget(study)
    study.stand_ins.fault("redcap", "status", 503, times=None)
    write()
    found = report(study)
    for name in ("enrolled", "enrolled_total", "completion", "visits_done", "visits_overdue"):
        assert found.metrics[name] is None, name
    assert found.metrics["complete"] is False
    assert found.metrics["target"] == 30
    assert "- 本周新入组:未知 例" in section(found, "进度")
    assert "新入组:0 例" not in found.summary
    assert "未能完整读取" in found.summary
    assert found.counted_at is None
    study.stand_ins.reset()
    assert due_later(study) == [last_number(study)]
    finish(study)
    found = report(study)
    assert found.metrics["complete"] is True
    assert "未知" not in found.summary
    assert found.counted_at is not None


@pytest.mark.full
def test_a_field_the_token_does_not_show_is_unknown(study: Study) -> None:
    forget(study)
    study.project.redcap_token = study.run["redcap_tokens"]["deidentified"]
    study.project.save()
    write()
    found = report(study)
    assert found.metrics["enrolled"] is None
    assert found.metrics["findings_opened"] is not None
    assert "累计入组:未知 / 30 例" in found.summary


@pytest.mark.full
@pytest.mark.parametrize("field", ["", "no_such_field"])
def test_a_setting_that_is_missing_is_told_as_that(study: Study, field: str) -> None:
    """Nothing is down: the report is complete, and says what an administrator has to set."""
    forget(study)
    Project.objects.filter(pk=study.project.pk).update(enrolment_field=field)
    write()
    found = report(study)
    assert (found.metrics["enrolled"], found.metrics["unread"]) == ("未设置", [])
    assert found.metrics["visits_done"] is not None
    assert "累计入组:未设置 / 30 例" in found.summary
    assert "未设置入组日期字段" in found.summary
    assert "未知" not in found.summary


@pytest.mark.full
def test_the_current_week_is_in_progress_and_finished_later(study: Study) -> None:
    reply = ask("zhangyi", "生成本周周报")
    number = last_number(study) + 1
    running = report(study, number)
    assert f"Week {number}" in reply.text
    assert running.created_by == "zhangyi"
    assert "进行中" in running.summary
    assert asked(study) == []
    assert job.due_weeks(study.project) == []
    end = weeks.bounds(study.project, weeks.week(study.project, number))[1]
    assert job.due_weeks(study.project, end) == [number]


@pytest.mark.full
def test_a_missed_week_on_demand_gets_its_narrative_from_the_job(study: Study) -> None:
    forget(study)
    said(study, DECISION)
    ask("zhangyi", "生成上周周报")
    found = report(study)
    assert found.created_by == "zhangyi"
    assert "进行中" not in found.summary
    study.stand_ins.script(told(claim("decision", KEPT, 1)))
    finish(study)
    found = report(study)
    assert KEPT in found.summary
    assert found.created_by == "zhangyi"
    ask("wanghushi", "生成上周周报")
    assert KEPT in report(study).summary


@pytest.mark.full
def test_a_report_that_people_wrote_is_left_alone(study: Study) -> None:
    number = last_number(study)
    forget(study)
    week = weeks.week(study.project, number)
    since, until = weeks.bounds(study.project, week)
    WeeklyReport.objects.create(
        project=study.project,
        week_number=number,
        week_start=since,
        week_end=until,
        summary="手写",
        created_by="zhangyi",
    )
    said(study, DECISION)
    write()
    write_report(str(study.project.pk), number)
    ask("zhangyi", "生成上周周报")
    found = report(study)
    assert (found.summary, found.metrics, found.narrated_at) == ("手写", None, None)


@pytest.mark.full
def test_a_large_week_is_read_in_parts_and_nothing_is_left_out(
    study: Study, monkeypatch: Any
) -> None:
    from memory.reports import narrative

    monkeypatch.setattr(narrative, "PART_TOKENS", 250)
    forget(study)
    marks = [f"第{n:03d}条记录:本周讨论了排班和物资安排" for n in range(60)]
    for n, mark in enumerate(marks):
        said(study, mark, ("zhangyi", "wanghushi")[n % 2], day=n % 7)
    study.stand_ins.script(*[told()] * 60)
    write()
    parts = asked(study)
    assert len(parts) > 4
    for mark in marks:
        assert sum(mark in text for text in parts) == 1, mark
    assert WeeklyNote.objects.count() == len(parts)
    assert sum(note.rows for note in WeeklyNote.objects.all()) == 120
    assert report(study).narrated_at is not None


@pytest.mark.full
def test_an_outage_in_the_middle_costs_one_part(study: Study, monkeypatch: Any) -> None:
    from memory.reports import narrative

    monkeypatch.setattr(narrative, "PART_TOKENS", 200)
    forget(study)
    for n in range(20):
        said(study, f"第{n:03d}条记录:本周讨论了排班和物资安排", day=n % 7)
    study.stand_ins.script(told(), told(), {"content": "坏"}, {"content": "坏"})
    write()
    assert WeeklyNote.objects.count() == 2
    assert report(study).narrated_at is None
    before = len(asked(study))
    study.stand_ins.script(*[told()] * 40)
    finish(study)
    assert report(study).narrated_at is not None
    later = "\n".join(asked(study)[before:])
    assert "第000条" not in later


@pytest.mark.full
def test_beyond_the_cap_the_rest_is_said_to_be_unread(study: Study, monkeypatch: Any) -> None:
    from memory.reports import narrative

    monkeypatch.setattr(narrative, "PART_TOKENS", 100)
    monkeypatch.setattr(narrative, "MOST_PARTS", 2)
    forget(study)
    for n in range(12):
        said(study, f"第{n:03d}条记录:本周讨论了排班和物资安排", day=n % 7)
    study.stand_ins.script(*[told()] * 9)
    write()
    assert len(asked(study)) == 2
    assert "条未整理" in report(study).summary


@pytest.mark.full
def test_a_very_long_message_is_shown_whole(study: Study) -> None:
    forget(study)
    said(study, "长" * 4000 + "尾巴到此为止")
    study.stand_ins.script(told())
    write()
    (text,) = asked(study)
    assert text.count("长") == 4000
    assert "尾巴到此为止" in text


@pytest.mark.full
def test_only_this_job_sends_what_the_log_holds(study: Study) -> None:
    forget(study)
    marker = "金丝雀九九三一"
    said(study, f"{marker},{DECISION}", answer=f"{marker}回答")
    study.stand_ins.script(told())
    write()
    (text,) = asked(study)
    assert marker in text
    for question in ("上周PI会议定了什么?", "我们之前为什么不放宽标准", "回顾下上周的进展"):
        ask("zhangyi", question)
    wire = sent(study)
    assert wire.count(marker) == text.count(marker)


@pytest.mark.full
def test_nothing_that_identifies_a_subject_leaves(study: Study) -> None:
    from tests.engines.liar.kit import bodies, identifiers, squeezed

    forget(study)
    people = list(study.project.subjects.order_by("record_id")[:6])
    for n, subject in enumerate(people):
        said(study, f"{subject.identifiers}这位的依从性要注意", day=n, answer=subject.identifiers)
    study.stand_ins.script(told())
    write()
    assert asked(study)
    wire = bodies(study, "llm")
    narrow = squeezed(wire)
    assert [v for v in identifiers() if v in wire or squeezed(v) in narrow] == []
    assert "zhangyi" not in asked(study)[0]


@pytest.mark.full
def test_temperature_zero_and_a_small_schema(study: Study) -> None:
    from tests.engines.chat.kit import prompts

    forget(study)
    said(study, DECISION)
    study.stand_ins.script(told())
    write()
    (body,) = prompts(study)
    assert body["temperature"] == 0
    assert body["response_format"]["type"] == "json_schema"
    usage = LlmUsage.objects.get(purpose="weekly")
    assert (usage.prompt_version, usage.model_purpose) == ("weekly.v1", "engines")


@pytest.mark.full
def test_no_line_is_stored_twice_when_parts_repeat_it(study: Study, monkeypatch: Any) -> None:
    from memory.reports import narrative

    monkeypatch.setattr(narrative, "PART_TOKENS", 60)
    forget(study)
    for hour in (1, 2, 3):
        said(study, DECISION, day=hour)
    study.stand_ins.script(*[told(claim("decision", KEPT, 1))] * 8)
    write()
    assert len(section(report(study), "关键决策")) == 1
    assert report_store.is_machine_made(report(study))
