"""When a message reaches its reader, and what becomes of one that waits (issue C, proactivity)."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from engines import sop
from engines.models import RunEvent, TaskRun
from engines.sop.nodes.notify import deliver_at
from memory.models import ProjectMemory
from projects.models import Member, Project
from skills.services import save_skill
from tests.engines.cron.kit import (
    ZONE,
    Status,
    at,
    clock,
    configure,
    delivered,
    do_visit,
    fired,
    no_rest,
    rows,
    skill_of,
    text,
    today,
)
from tests.engines.cron.test_contents import announced, finding
from tests.engines.sop.kit import begin, go, new_skill, soft, tell
from tests.support.study import Study
from tests.support.tasks import drain
from wechat.models import Alert, OutboxMessage
from wechat.outbound import sender
from wechat.outbound.outbox import enqueue
from wechat.tasks import sweep

pytestmark = pytest.mark.django_db
CRC = "wanghushi"


@pytest.fixture(autouse=True)
def _rested(study: Study) -> None:
    no_rest(study)


def profile(study: Study, userid: str, best: str) -> None:
    content = f"# 用户画像\n\n## 某人 (user_id: {userid})\n- **最佳通知时间**: {best}"
    ProjectMemory.objects.filter(project=study.project).update(content=content)


def remind(study: Study, moment: datetime | None = None, kind: str = "visit_reminder") -> TaskRun:
    with at(moment or clock(study, "09:00")):
        return fired(study, kind)


def sweep_at(moment: datetime) -> None:
    """What the workers do by then."""
    with at(moment):
        sweep()
        drain()


def mine(status: str | None = None) -> list[OutboxMessage]:
    return [row for row in rows(status) if row.to_user == CRC]


@pytest.mark.full
def test_at_each_members_best_time(study: Study) -> None:
    profile(study, CRC, "下午6点")
    remind(study)
    sweep_at(clock(study, "17:59"))
    assert set(delivered(study)) == {"crc_b"}, (
        "computed for all, delivered to who waits for no time"
    )
    sweep_at(clock(study, "18:00"))
    assert len(delivered(study)[CRC]) == 1
    sweep_at(clock(study, "18:05"))
    assert len(delivered(study)[CRC]) == 1


@pytest.mark.full
def test_an_answer_passes_what_waits(study: Study) -> None:
    profile(study, CRC, "18:00")
    remind(study)
    with at(clock(study, "10:00")):
        enqueue(to_user=CRC, project=study.project, kind="text", content="在组 15 例", key="a")
        assert sender.send_lane(CRC) is None
    assert delivered(study) == {CRC: ["在组 15 例"]}


@pytest.mark.full
@pytest.mark.parametrize(
    ("fired_at", "told_at"), [("22:00", "07:30"), ("03:00", "07:30"), ("12:00", "12:00")]
)
def test_not_in_the_quiet_hours(study: Study, fired_at: str, told_at: str) -> None:
    Project.objects.update(quiet_from="21:00", quiet_until="07:30")
    configure(study, "visit_reminder", schedule=f"{fired_at[3:]} {fired_at[:2]} * * *")
    remind(study, clock(study, fired_at))

    (row,) = mine()
    assert f"{row.available_at.astimezone(ZONE):%H:%M}" == told_at
    assert row.status == (Status.PENDING if fired_at == told_at else Status.HELD)


@pytest.mark.full
@pytest.mark.parametrize(("urgent", "day"), [(False, "2026-10-08"), (True, "2026-10-02")])
def test_not_on_public_holidays_unless_urgent(study: Study, urgent: bool, day: str) -> None:
    Project.objects.update(quiet_holidays=True, quiet_from="21:00", quiet_until="07:30")
    configure(study, "daily_briefing", urgent=urgent)
    remind(study, datetime(2026, 10, 2, 9, tzinfo=ZONE), "daily_briefing")
    assert {f"{row.available_at.astimezone(ZONE):%Y-%m-%d}" for row in rows()} == {day}


@pytest.mark.full
def test_after_the_holidays_there_is_one_message(study: Study) -> None:
    Project.objects.update(quiet_holidays=True, quiet_from="21:00", quiet_until="07:30")
    for day in range(1, 8):
        remind(study, datetime(2026, 10, day, 9, tzinfo=ZONE), "daily_briefing")
    assert len(mine(Status.WITHDRAWN)) == 6
    assert len(mine(Status.HELD)) == 1
    sweep_at(datetime(2026, 10, 8, 7, 31, tzinfo=ZONE))
    (message,) = delivered(study)[CRC]
    assert "2026-10-08" in message.splitlines()[0], "and it is of the day it is read"


@pytest.mark.full
def test_one_message_tells_what_the_replaced_ones_found(study: Study) -> None:
    configure(study, "daily_briefing", schedule="0 8,16 * * *")
    profile(study, CRC, "17:00")
    finding(study, "P004", 1.5, "at seven")
    for moment in ("08:00", "16:00"):
        remind(study, clock(study, moment), "daily_briefing")
    sweep_at(clock(study, "17:00"))
    (message,) = delivered(study)[CRC]
    assert announced(message)


@pytest.mark.full
def test_a_visit_done_meanwhile_is_not_reminded_of(study: Study) -> None:
    profile(study, CRC, "18:00")
    remind(study)
    lines = [line.split()[1:3] for line in text(mine()[0]).splitlines()[2:]]
    do_visit(study, *lines[0])
    sweep_at(clock(study, "18:00"))

    (message,) = delivered(study)[CRC]
    assert [f"{record} {visit} " in message for record, visit in lines] == [False] + [True] * (
        len(lines) - 1
    )


@pytest.mark.full
def test_when_all_is_done_nothing_is_sent(study: Study) -> None:
    profile(study, CRC, "18:00")
    remind(study)
    for line in text(mine()[0]).splitlines()[2:]:
        do_visit(study, *line.split()[1:3])
    sweep_at(clock(study, "18:00"))

    assert CRC not in delivered(study)
    assert [row.status for row in mine()] == [Status.WITHDRAWN]


@pytest.mark.full
def test_who_withdrew_is_not_reminded_of(study: Study) -> None:
    from tests.engines.sop.kit import change
    from tests.engines.sop.test_findings_life import rows_of

    profile(study, CRC, "18:00")
    remind(study)
    record = text(mine()[0]).splitlines()[2].split()[1]
    field = study.project.withdraw_field
    places = [str(row["redcap_event_name"]) for row in rows_of(study, record) if field in row]
    change(study, record, places[0], **{field: "2026-01-01"})
    sweep_at(clock(study, "18:00"))

    assert f"- {record} " not in delivered(study)[CRC][0]


@pytest.mark.full
@pytest.mark.parametrize("what", ["left", "other role", "other site", "switched off"])
def test_who_may_not_know_it_any_more_is_not_told(study: Study, what: str) -> None:
    profile(study, CRC, "18:00")
    remind(study)
    before = text(mine()[0])
    if what == "switched off":
        skill = skill_of(study, "visit_reminder")
        skill.is_active = False
        save_skill(skill=skill, actor="admin")
    else:
        changes: dict[str, dict[str, Any]] = {
            "left": {"is_active": False},
            "other role": {"role": "AUDITOR"},
            "other site": {"site": "site_b"},
        }
        Member.objects.filter(wecom_userid=CRC).update(**changes[what])
    sweep_at(clock(study, "18:00"))

    told = "".join(delivered(study).get(CRC, []))
    records = {line.split()[1] for line in before.splitlines()[2:]}
    assert not any(f"- {record} " in told for record in records)
    assert bool(told) is (what == "other site")


@pytest.mark.full
def test_what_cannot_be_checked_is_sent_and_says_so(study: Study) -> None:
    profile(study, CRC, "18:00")
    remind(study)
    before = text(mine()[0])
    study.stand_ins.fault("redcap", "status", 503, times=None)
    sweep_at(clock(study, "18:00"))

    (message,) = delivered(study)[CRC]
    assert message.startswith(f"{before}\n")
    assert "REDCap" in message.removeprefix(before)


@pytest.mark.full
def test_what_may_have_arrived_is_sent_again_as_it_was(study: Study) -> None:
    """A resend is identical JSON, so that WeCom can drop it (decisions.md, "resend after …")."""
    remind(study)
    before = mine()[0]
    OutboxMessage.objects.filter(pk=before.pk).update(is_ambiguous=True, attempts=1)
    do_visit(study, *text(before).splitlines()[2].split()[1:3])
    with at(clock(study, "11:00")):
        sender.send_lane(CRC)
    assert delivered(study)[CRC] == [text(before)]


@pytest.mark.full
def test_what_wecom_did_not_take_is_checked_again_before_it_goes(study: Study) -> None:
    remind(study)
    first = text(mine()[0])
    done = first.splitlines()[2].split()[1:3]
    do_visit(study, *done)
    with at(clock(study, "11:00")):
        sender.send_lane(CRC)
    assert " ".join(done) not in delivered(study)[CRC][0]


@pytest.mark.full
def test_one_that_cannot_be_checked_any_more_holds_up_no_answer(study: Study) -> None:
    """Whatever stands in the way of its check: it is given up and told, and what waits behind it is sent."""
    remind(study)
    [reminder] = mine()
    TaskRun.objects.filter(pk=(reminder.notice or {})["run"]).update(config={"nodes": "none"})
    enqueue(to_user=CRC, project=None, kind="text", content="answer", key="answer")
    turn = clock(study, "11:00")
    for _ in range(30):
        with at(turn):
            turn = sender.send_lane(CRC) or turn
    assert delivered(study)[CRC] == ["answer"]
    [reminder] = mine()
    assert (reminder.status, reminder.error) == (Status.DEAD, "ValidationError")
    assert Alert.objects.get(code=Alert.Code.SWEEP).subject == "outbox"


@pytest.mark.full
def test_what_is_fresh_is_sent_as_it_was_computed(study: Study) -> None:
    remind(study)
    count = len(study.stand_ins.requests("redcap"))
    with at(clock(study, "09:01")):
        sender.send_lane(CRC)
    assert delivered(study)[CRC] == [text(mine()[0])]
    assert len(study.stand_ins.requests("redcap")) == count


@pytest.mark.full
def test_one_that_is_told_late_replaces_nothing_newer(study: Study) -> None:
    profile(study, CRC, "18:00")
    older, newer = clock(study, "09:00"), clock(study, "09:00", 1)
    with at(older):
        run = sop.fire(skill_of(study, "visit_reminder"))
        assert run
        go(run)
        RunEvent.objects.filter(run=run).update(available_at=newer + timedelta(minutes=1))
    remind(study, newer)
    assert [row.status for row in mine()] == [Status.HELD]
    with at(newer + timedelta(minutes=1)):
        tell()
    assert not RunEvent.objects.filter(run=run, told_at=None).exists()
    [row] = mine()
    assert (row.status, (row.notice or {})["run"] == str(run.pk)) == (Status.HELD, False)


@pytest.mark.full
def test_catching_up_on_all_replaces_nothing(study: Study) -> None:
    with at(clock(study, "08:00", -1)):
        configure(study, "visit_reminder", catch_up="all")
    profile(study, CRC, "18:00")
    remind(study, clock(study, "09:00", 1))
    for run in TaskRun.objects.all():
        with at(clock(study, "09:00", 1)):
            go(run)
            tell()
    assert len(mine(Status.HELD)) == 3


SEND = {
    "tool_calls": [
        {
            "id": "c1",
            "function": {"name": "send_message", "arguments": '{"roles": ["CRC"], "text": "请看"}'},
        }
    ]
}
VERDICT = '{"reason": "已通知", "evidence": ["\\"sent\\": 2"], "passed": true, "confidence": 0.9}'


@pytest.mark.full
@pytest.mark.parametrize(
    ("schedule", "urgent", "held"),
    [("0 9 * * *", False, True), ("0 9 * * *", True, False), (None, False, False)],
)
def test_send_message_waits_where_nobody_asked_for_it(
    study: Study, schedule: str | None, urgent: bool, held: bool
) -> None:
    profile(study, CRC, "18:00")
    trigger = {"trigger_type": "cron", "cron_schedule": schedule} if schedule else {}
    nodes = {"tell": soft(tools=["send_message"])}
    skill = new_skill(study, nodes, "tell", urgent=urgent, **trigger)
    study.stand_ins.script(SEND, {"content": VERDICT})
    with at(clock(study, "09:00")):
        run = fired(study, "tell") if schedule else go(begin(study, skill, None))
        tell()
    assert run.final_state == "end_success"
    sent = OutboxMessage.objects.filter(key__startswith="notify:")
    found = {row.to_user: row.status for row in sent}
    assert found == {CRC: Status.HELD if held else Status.PENDING, "crc_b": Status.PENDING}


@pytest.mark.full
@pytest.mark.parametrize(
    ("change", "told"),
    [({}, True), ({"is_active": False}, False), ({"site": "site_b"}, False)],
    ids=["nothing", "left", "other site"],
)
def test_a_held_message_goes_to_who_may_still_know_it(
    study: Study, change: dict[str, Any], told: bool
) -> None:
    profile(study, CRC, "18:00")
    skill = new_skill(study, {"tell": soft(tools=["send_message"])}, "tell")
    study.stand_ins.script(SEND, {"content": VERDICT})
    with at(clock(study, "09:00")):
        go(begin(study, skill, cause=f"cron:{clock(study, '09:00').isoformat()}"))
        tell()
    assert [row.to_user for row in OutboxMessage.objects.filter(status=Status.HELD)] == [CRC]
    Member.objects.filter(wecom_userid=CRC).update(**change)
    sweep_at(clock(study, "18:00"))
    assert delivered(study).get(CRC, []) == ["请看"] * told


def test_the_time_is_the_members_not_the_recipients_list(study: Study) -> None:
    profile(study, CRC, "18:00")
    with at(clock(study, "09:00")):
        assert deliver_at(study["crc_b"]) == clock(study, "09:00")
        assert deliver_at(study[CRC]) == clock(study, "18:00")
        assert deliver_at(study[CRC], urgent=True) == clock(study, "09:00")


@pytest.mark.full
def test_held_messages_are_not_swept_away_and_withdrawn_ones_are(study: Study) -> None:
    from wechat import retention

    profile(study, CRC, "18:00")
    remind(study)
    long_ago = today(study) - timedelta(days=400)
    OutboxMessage.objects.update(created_at=long_ago)
    OutboxMessage.objects.filter(to_user="crc_b").update(status=Status.WITHDRAWN)
    with at(clock(study, "10:00")):
        retention.forget()
    assert [row.to_user for row in rows()] == [CRC]
