"""Orders, several tasks in one message, remembering, feedback, reports (decisions.md, router table)."""

from __future__ import annotations

import re

import pytest

from engines import sop
from engines.assistant import texts
from engines.assistant.chat import record_feedback
from engines.models import PendingAction, TaskRun
from memory.models import ConversationHistory, UserMemory, WeeklyReport
from projects.models import Member
from skills.models import Skill
from study.models import Subject
from tests.engines.chat.kit import ask, mute, prompts, record, sent, trace
from tests.support.study import Study


def test_two_tasks_get_one_numbered_reply_in_order(study: Study) -> None:
    mute(study)
    reply = ask("wanghushi", "帮我查一下 P003 的 ECOG,然后录入今天的访视数据")
    first, second = re.split(r"\n(?=2\. )", reply.text)
    assert first.startswith("1. [")
    assert texts.DONE in first
    assert f"{record(study, 'P003')['ecog_score']}分" in first
    assert second.startswith("2. [")
    assert texts.TO_CONFIRM in second
    assert reply.intents == ["query_record", "data_entry"]


def test_a_write_request_is_guided_and_never_done(study: Study) -> None:
    reply = ask("wanghushi", "把P003的ECOG改成1")
    assert "REDCap" in reply.text
    contents = [str(r["body"]) for r in study.stand_ins.requests("redcap")]
    assert not [body for body in contents if "action=import" in body or "overwriteBehavior" in body]
    assert study.stand_ins.requests("llm") == []
    assert reply.task_run_ids == []


def test_quality_control_of_one_subject(study: Study) -> None:
    reply = ask("zhangyi", "对P001进行入排质控")
    run = TaskRun.objects.get()
    assert reply.task_run_ids == [str(run.pk)]
    assert (run.record_id, run.triggered_by, run.skill.skill_type) == (
        "P001",
        "zhangyi",
        "qc_process",
    )
    assert "P001" in reply.text
    assert study.stand_ins.requests("llm") == []


@pytest.mark.full
def test_quality_control_of_everybody_means_everybody_one_may_see(study: Study) -> None:
    mine = set(
        Subject.objects.filter(project=study.project, site="site_b").values_list(
            "record_id", flat=True
        )
    )
    asked = ask("crc_b", "全部受试者跑一遍质控")
    assert asked.task_run_ids == []
    reply = ask("crc_b", "确认")
    assert set(TaskRun.objects.values_list("record_id", flat=True)) == mine
    assert len(reply.task_run_ids) == len(mine)


def test_quality_control_needs_a_subject_a_skill_and_a_role(study: Study) -> None:
    ask("zhangyi", "跑一下质控")
    Member.objects.filter(wecom_userid="zhangyi").update(role="AUDITOR")
    ask("zhangyi", "对P001进行质控")
    Member.objects.filter(wecom_userid="zhangyi").update(role="PI")
    Skill.objects.filter(project=study.project).update(is_active=False)
    ask("zhangyi", "对P001进行质控")
    assert TaskRun.objects.count() == 0


@pytest.mark.full
def test_a_statement_about_others_is_only_a_proposal(study: Study) -> None:
    first = ask("wanghushi", "以后汇报只看结论").text
    reply = ask("wanghushi", "记一下:王PI下周出差")
    assert reply.text != first
    assert UserMemory.objects.get(category="proposal").evidence == "记一下:王PI下周出差"
    ask("wanghushi", "大家最近都在忙些啥")
    assert "王PI下周出差" not in prompts(study)[-1]["messages"][0]["content"]


def test_a_question_about_memory_stores_nothing(study: Study) -> None:
    ask("zhangyi", "我上次跟你说的那个规矩你记得吗?")
    assert UserMemory.objects.count() == 0


@pytest.mark.parametrize(
    ("text", "feedback", "reason"),
    [
        ("👍", "thumbs_up", None),
        ("👎", "thumbs_down", None),
        ("太长了", "thumbs_down", "too_long"),
        ("这个不对", "thumbs_down", "inaccurate"),
    ],
)
def test_feedback_concerns_the_last_answer(
    study: Study, text: str, feedback: str, reason: str | None
) -> None:
    asked = ask("zhangyi", "P001 入组了吗?")
    ask("zhangyi", text)
    row = ConversationHistory.objects.get(pk=asked.conversation_id)
    assert (row.feedback, row.feedback_reason) == (feedback, reason)


@pytest.mark.full
def test_the_reason_that_follows_a_thumb_down_joins_it(study: Study) -> None:
    asked = ask("zhangyi", "P001 入组了吗?")
    ask("zhangyi", "👎")
    ask("zhangyi", "太长了")
    row = ConversationHistory.objects.get(pk=asked.conversation_id)
    assert (row.feedback, row.feedback_reason) == ("thumbs_down", "too_long")


def test_feedback_of_a_card_names_its_answer_and_its_reader(study: Study) -> None:
    first = ask("zhangyi", "P001 入组了吗?")
    ask("zhangyi", "你好")
    give = {
        "feedback": "thumbs_down",
        "reason": "unclear",
        "conversation_id": first.conversation_id,
    }
    assert not record_feedback(member=study["crc_b"], **give)  # type: ignore[arg-type]
    assert record_feedback(member=study["zhangyi"], **give)  # type: ignore[arg-type]
    assert record_feedback(
        member=study["zhangyi"],
        feedback="thumbs_up",
        reason="unclear",
        conversation_id=first.conversation_id,
    )
    row = ConversationHistory.objects.get(pk=first.conversation_id)
    assert (row.feedback, row.feedback_reason) == ("thumbs_up", None)


def test_feedback_without_an_answer(study: Study) -> None:
    assert not record_feedback(member=study["zhangyi"], feedback="thumbs_up", reason=None)
    assert ask("zhangyi", "👍").text


@pytest.mark.full
def test_a_weekly_report_is_made_once_from_data(study: Study) -> None:
    before = WeeklyReport.objects.count()
    reply = ask("zhangyi", "生成本周周报")
    report = WeeklyReport.objects.get(created_by="zhangyi")
    assert WeeklyReport.objects.count() == before + 1
    assert report.summary.startswith(f"## Week {report.week_number} (")
    assert f"Week {report.week_number}" in reply.text
    assert report.metrics["target"] == 30
    assert report.metrics["enrolled_total"] >= report.metrics["enrolled"]
    WeeklyReport.objects.filter(pk=report.pk).update(summary="改过")
    ask("admin", "生成本周周报")
    report.refresh_from_db()
    assert report.summary == "改过"
    assert WeeklyReport.objects.count() == before + 1
    assert study.stand_ins.requests("llm") == []


@pytest.mark.full
def test_off_topic_gets_a_fixed_text_without_a_call(study: Study) -> None:
    first = ask("zhangyi", "帮我写一首关于春天的诗")
    assert first.text == ask("crc_b", "明天上海下雨不").text
    assert study.stand_ins.requests("llm") == []


def test_quality_control_never_sees_history(study: Study) -> None:
    ask("zhangyi", "对P001进行入排质控")
    assert "[History Context]" not in sent(study)
    assert trace().intent_type == "qc_task"


@pytest.mark.full
def test_a_pronoun_means_the_subject_spoken_of(study: Study) -> None:
    mute(study)
    ask("wanghushi", "P003 入组了吗?")
    reply = ask("wanghushi", "他的 ECOG 是几分")
    assert f"P003 ECOG评分 {record(study, 'P003')['ecog_score']}分" in reply.text


@pytest.mark.full
@pytest.mark.parametrize(
    "text",
    [
        "P004有什么质控问题",
        "P004质控结果怎么样",
        "我的待复核任务",
        "有几个复核在等我",
        "质控全部完成了吗",
        "P004质控通过了吗",
        "P004做过质控没有",
    ],
)
def test_a_question_about_quality_control_starts_none(study: Study, text: str) -> None:
    ask("wanghushi", "P004的ECOG")
    reply = ask("wanghushi", text)
    assert TaskRun.objects.count() == 0
    assert reply.task_run_ids == []
    assert "目标" not in reply.text


def test_the_last_run_and_what_is_open_of_it_are_told(study: Study) -> None:
    ask("wanghushi", "质控P004")
    reply = ask("wanghushi", "P004质控结果怎么样").text
    assert "P004" in reply
    assert TaskRun.objects.get().get_status_display() in reply
    assert TaskRun.objects.count() == 1


@pytest.mark.full
def test_each_of_several_subjects_is_told_with_its_own_findings(study: Study) -> None:
    ask("wanghushi", "质控P004和P001")
    for run in TaskRun.objects.all():
        sop.drive(run.pk)
    reply = ask("wanghushi", "P004、P001和P003的质控结果怎么样").text

    for record_id in ("P004", "P001"):
        rows = PendingAction.objects.filter(project=study.project, record_id=record_id).unclosed()
        assert record_id in reply
        found = ask("wanghushi", f"{record_id}质控有什么问题").text
        assert all(row.message in found for row in rows)
    assert PendingAction.objects.filter(record_id="P004").exists()


@pytest.mark.full
def test_quality_control_of_another_site_reads_like_of_nobody(study: Study) -> None:
    ask("crc_b", "质控P020")
    texts_told = {
        ask("wanghushi", f"{rid}质控结果怎么样").text.replace(rid, "") for rid in ("P020", "P888")
    }
    assert len(texts_told) == 1


@pytest.mark.full
def test_the_last_answer_is_said_again_and_the_last_question(study: Study) -> None:
    ask("wanghushi", "P001的ECOG")
    first = ask("wanghushi", "再说一遍").text
    assert "ECOG" in first
    assert f"{record(study, 'P001')['ecog_score']}分" in first
    ask("wanghushi", "P003的年龄")
    assert ask("wanghushi", "我刚才问了什么?").text == "P003的年龄"


def test_nothing_is_said_again_where_nothing_was(study: Study) -> None:
    assert "P0" not in ask("wanghushi", "再说一遍").text
    assert study.stand_ins.requests("llm") == []


def test_the_order_to_remember_is_not_part_of_what_is_shown(study: Study) -> None:
    ask("wanghushi", "请记住:我喜欢早上8点收到提醒")
    assert "1. 我喜欢早上8点收到提醒" in ask("wanghushi", "你记得我什么").text


def test_an_auditor_has_no_weekly_report_made(study: Study) -> None:
    before = WeeklyReport.objects.count()
    Member.objects.filter(wecom_userid="zhangyi").update(role="AUDITOR")
    reply = ask("zhangyi", "生成本周周报")
    assert WeeklyReport.objects.count() == before
    assert reply.text == "您的角色不能生成周报。"
