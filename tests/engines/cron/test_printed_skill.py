"""The cron skill of seed 002 (V2.9), word for word: imported, fired, and told to whom it concerns."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engines.assistant.tools import ToolContext
from engines.assistant.tools.study_query import list_due_visits
from engines.models import TaskRun
from memory.models import ProjectMemory
from projects.models import Member
from skills.models import Skill
from skills.skill_exchange import import_text
from study.identities import gate_for
from study.models import Subject, VisitPlanEntry
from study.request_cache import Reader
from tests.engines.chat.kit import call, calls, say
from tests.engines.cron.kit import at, clock, fired, no_rest
from tests.engines.sop.kit import begin, go, steps, tell
from tests.support.study import Study
from wechat.models import OutboxMessage
from wechat.outbound.outbox import Payload

pytestmark = pytest.mark.django_db

PRINTED = """
{
  "skillType": "visit_reminder",
  "name": "每日访视提醒",
  "triggerType": "cron",
  "cronSchedule": "0 9 * * *",
  "config": {
    "start_node": "check_upcoming_visits",
    "nodes": {
      "check_upcoming_visits": {
        "type": "soft_instruction",
        "instruction": "查询未来 3 天内到期的访视,生成提醒列表",
        "tools": ["read_clinical_data"],
        "on_pass": "send_reminder",
        "on_fail": "end_no_visits"
      },
      "send_reminder": {
        "type": "soft_instruction",
        "instruction": "根据用户画像选择合适的通知方式和语气,发送提醒",
        "tools": ["send_message"],
        "on_pass": "end_success"
      }
    }
  }
}
"""


@pytest.fixture
def printed(study: Study) -> Skill:
    no_rest(study)
    (skill,) = import_text(project=study.project, text=PRINTED, actor="admin")
    return skill


def sent(run: TaskRun) -> dict[str, str]:
    tell()
    found = {}
    for row in OutboxMessage.objects.filter(key__startswith=f"notify:{run.pk}"):
        message = Payload.model_validate_json(row.payload).message
        found[row.to_user] = str(message[message["msgtype"]]["content"])
    return found


def sure(passed: bool, evidence: str) -> dict[str, Any]:
    judged = {"reason": "已读到", "evidence": [evidence], "passed": passed, "confidence": 0.9}
    return {**say(json.dumps(judged, ensure_ascii=False)), "any_request": True}


def reminds(study: Study, member: Member | None = None, due: bool = True) -> None:
    """The model reads what is due, says so with a line of it, and sends the lines; or there is none."""
    reader = member or Member(project=study.project, role="ADMIN")
    found = list_due_visits(
        ToolContext(study.project, reader, gate_for(Reader(study.project, member))), {}
    )
    lines = found.data["待完成访视"]  # type: ignore[index, call-overload]
    read = {**calls(call("list_due_visits")), "any_request": True}
    if not due:
        study.stand_ins.script(read, sure(False, lines[0]))
        return
    text = "\n".join(f"- {line}" for line in lines)
    told = {**calls(call("send_message", roles=["CRC"], text=text)), "any_request": True}
    study.stand_ins.script(read, sure(True, lines[0]), told, sure(True, lines[0]))


def test_it_stands_as_it_was_printed(printed: Skill) -> None:
    given = json.loads(PRINTED)
    assert (printed.skill_type, printed.name) == (given["skillType"], given["name"])
    assert (printed.trigger_type, printed.cron_schedule) == ("cron", given["cronSchedule"])
    assert printed.config == given["config"]
    assert printed.is_active


@pytest.mark.full
def test_it_reminds_those_whose_subjects_are_due(study: Study, printed: Skill) -> None:
    with at(clock(study, "09:00")):
        reminds(study)
        run = fired(study, "visit_reminder")
    assert (run.status, run.final_state) == ("COMPLETED", "end_success"), run.message
    assert steps(run) == ["check_upcoming_visits pass", "send_reminder pass"]
    told = sent(run)
    assert set(told) == {"wanghushi", "crc_b"}
    for userid, text in told.items():
        site = Member.objects.get(wecom_userid=userid).site
        of_others = Subject.objects.filter(project=study.project).exclude(site=site)
        ids = {one for one in of_others.values_list("record_id", flat=True) if not one.isdigit()}
        assert not [one for one in ids if one in text]
        assert " ~ " in text


@pytest.mark.full
def test_the_model_is_told_the_day_the_roster_and_what_the_step_before_read(
    study: Study, printed: Skill
) -> None:
    with at(clock(study, "09:00")):
        reminds(study)
        run = fired(study, "visit_reminder")
    asked = [json.loads(request["body"]) for request in study.stand_ins.requests("llm")]
    first, last = asked[0], asked[-1]
    text = "\n".join(str(message["content"]) for message in first["messages"])
    assert study.run["demo_today"] in text
    assert "P001" in text
    assert {tool["function"]["name"] for tool in first["tools"]} >= {
        "read_clinical_data",
        "list_due_visits",
    }
    assert {tool["function"]["name"] for tool in last["tools"]} == {"send_message"} | (
        {"give_verdict"} & {tool["function"]["name"] for tool in last["tools"]}
    )
    handed = run.steps.get(node="check_upcoming_visits").result["read"]
    assert handed
    line = next(iter(sent(run).values())).splitlines()[-1].removeprefix("- ")
    assert any(line in str(message["content"]) for message in last["messages"])


@pytest.mark.full
def test_nothing_due_ends_without_a_word(study: Study, printed: Skill) -> None:
    VisitPlanEntry.objects.filter(project=study.project).delete()
    with at(clock(study, "09:00")):
        reminds(study, due=False)
        run = fired(study, "visit_reminder")
    assert (run.status, run.final_state) == ("COMPLETED", "end_no_visits")
    assert sent(run) == {}


@pytest.mark.full
def test_who_orders_it_reads_with_their_own_eyes(study: Study, printed: Skill) -> None:
    ProjectMemory.objects.filter(project=study.project).update(content="")
    with at(clock(study, "09:00")):
        reminds(study, study["crc_b"])
        run = go(begin(study, printed, None, triggered_by="crc_b"))
        told_to = set(sent(run))
    told = run.steps.get(node="check_upcoming_visits").result["read"]
    of_a = Subject.objects.filter(project=study.project, site="site_a")
    ids = {one for one in of_a.values_list("record_id", flat=True) if not one.isdigit()}
    assert not [one for one in ids if any(one in text for text in told)]
    assert told_to == {"crc_b"}


def test_a_model_that_is_down_leaves_it_to_a_person(study: Study, printed: Skill) -> None:
    study.stand_ins.fault("llm", "status", 500, times=None)
    with at(clock(study, "09:00")):
        run = fired(study, "visit_reminder")
    assert run.status == TaskRun.Status.SUSPENDED
    assert sent(run) == {}


def test_an_unreadable_redcap_is_not_taken_for_nothing_due(study: Study, printed: Skill) -> None:
    study.stand_ins.fault("redcap", "status", 503, times=None)
    with at(clock(study, "09:00")):
        run = fired(study, "visit_reminder")
    assert run.final_state != "end_no_visits"
    assert sent(run) == {}
