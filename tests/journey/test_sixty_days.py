"""Sixty days of a study of thirty subjects: what each day told equals what is worked out at the end `as_of` it.

Data are entered, corrected and taken back as a CRC would, behind the stand-in REDCap; the house's own jobs read
them, run the rules again, remind of visits. At the end each day is worked out anew from the versions that were
kept: its findings by running the rules over them, its due list by the query, its reminders from that list.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import time_machine

from engines import sop
from engines import tasks as jobs
from engines.models import PendingAction, VisitReminder
from engines.sop import finding_life, visit_reminders
from engines.sop.study import Study
from projects.models import Member, Project
from skills.models import Skill
from skills.services import save_skill
from study import tasks, versions
from study.design import StudyDesign
from study.door import ask_all
from study.models import Reading, SyncState
from study.visits import due
from study.visits.calendar import is_to_do
from tests.hospital import LOG, SCREENING, V1, V2, Hospital, open_hospital, person
from tests.projects.studies import member, plan, study
from tests.support.tasks import drain

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

ZONE = ZoneInfo("Asia/Shanghai")
FIRST = date(2026, 3, 2)
DAYS, SUBJECTS, THERE = 60, 30, 18
AHEAD = 3
"""Days that a reminder looks ahead."""
State = PendingAction.State
SITES = ("site_a", "site_b")
Finding = tuple[str, str, str, str]
Visit = tuple[str, str, str, str]
Place = tuple[str, str]

RULES: list[dict[str, Any]] = [
    {
        "id": "W",
        "field": "weight",
        "logic": {"<=": [40, {"var": "weight"}, 120]},
        "message": "体重",
    },
    {"id": "S", "field": "sex", "logic": {"in": [{"var": "sex"}, ["1", "2"]]}, "message": "性别"},
    {
        "id": "D",
        "field": "first_dose_date",
        "logic": {"<=": [{"var": "enroll_date"}, {"var": "first_dose_date"}]},
        "message": "用药早于入组",
    },
    {
        "id": "A",
        "field": "ae_serious",
        "logic": {"==": [{"var": "ae_serious"}, "0"]},
        "message": "严重不良事件",
    },
]


@dataclass
class Told:
    """What the house said on one day."""

    findings: set[Finding]
    due: list[Visit]
    reminders: dict[str, set[Place]]
    reread_at: datetime


@dataclass
class Crc:
    """Who enters data: everything random comes from the seed."""

    hospital: Hospital
    dice: random.Random
    present: list[str] = field(default_factory=list)
    events: Counter[str] = field(default_factory=Counter)

    def begin(self, names: list[str], today: date) -> list[dict[str, Any]]:
        rows = [self._newcomer(name, today) for name in names]
        self.present += names
        return rows

    def work(self, today: date) -> None:
        """One day at REDCap; on some nothing happens."""
        rows: list[dict[str, Any]] = []
        if len(self.present) < SUBJECTS and self.dice.random() < 0.4:
            rows += self.begin([f"P{len(self.present) + 1:03}"], today)
        for name in self.dice.sample(self.present, k=self.dice.choice([0, 1, 3, 5])):
            rows.append(self._change(name, today))
        if rows:
            self.hospital.save(rows)

    def _newcomer(self, name: str, today: date) -> dict[str, Any]:
        number = int(name[1:])
        enrolled = today - timedelta(days=self.dice.randint(0, 20))
        dose = enrolled + timedelta(days=self.dice.choice([-1, 0, 1, 3, 9]))
        return person(
            name,
            SITES[number % 2],
            f"受试者{number}号",
            f"1380000{number:04}",
            sex=self.dice.choice(["1", "2", ""]),
            weight=self._weight(),
            enroll_date=str(enrolled),
            first_dose_date=str(dose),
        )

    def _weight(self) -> str:
        return self.dice.choice(["", "UNK", "38", "52.5", "61", "74", "131"])

    def _change(self, name: str, today: date) -> dict[str, Any]:
        kind = self.dice.choice(["weight", "sex", "dose", "visit", "visit", "ae", "left"])
        self.events[kind] += 1
        day = str(today - timedelta(days=self.dice.randint(-4, 4)))
        site = SITES[int(name[1:]) % 2]
        row: dict[str, Any] = {"record": name, "event": SCREENING, "dag": site}
        if kind == "weight":
            return row | {"values": {"weight": self._weight()}}
        if kind == "sex":
            return row | {"values": {"sex": self.dice.choice(["1", "2", ""])}}
        if kind == "dose":
            return row | {"values": {"first_dose_date": self.dice.choice([day, ""])}}
        if kind == "left":
            return row | {"values": {"withdraw_date": self.dice.choice([day, "", ""])}}
        if kind == "visit":
            values = {"visit_date": self.dice.choice([day, day, ""])}
            return row | {"event": self.dice.choice([V1, V2]), "values": values}
        values = {"ae_term": "恶心", "ae_serious": self.dice.choice(["0", "1", ""])}
        number = self.dice.choice([1, 2])
        return row | {"event": LOG, "instrument": "ae", "instance": number, "values": values}


@pytest.fixture
def dice() -> random.Random:
    seed = int(os.environ.get("SIXTY_SEED") or random.SystemRandom().randrange(10**6))
    print(f"SIXTY_SEED={seed}")
    return random.Random(seed)


@pytest.fixture
def crc(tmp_path: Path, dice: random.Random) -> Iterator[Crc]:
    made = Crc(None, dice)  # type: ignore[arg-type]
    people = made.begin([f"P{n:03}" for n in range(1, THERE + 1)], FIRST)
    with time_machine.travel(_at(FIRST, 7)), open_hospital(tmp_path, people=people) as hospital:
        made.hospital = hospital
        yield made


def test_each_day_is_what_it_was_told_to_be(crc: Crc) -> None:
    project, skill = _set_up(crc.hospital)
    days: dict[date, Told] = {}
    expected_quiet = Quiet()
    for number in range(DAYS):
        today = FIRST + timedelta(days=number)
        with time_machine.travel(_at(today, 8)):
            if number:
                crc.work(today)
            _read(project)
        with time_machine.travel(_at(today, 9)):
            _remind()
            days[today] = _told(project, today)
        with time_machine.travel(_at(today, 15)):
            if crc.dice.random() < 0.4:
                crc.work(today)
            _read(project)
            _decide(project, crc.dice)
            expected_quiet.answer(project, today, crc.dice)
        with time_machine.travel(_at(today, 23)):
            days[today].findings = _open(project)
            days[today].due = _listed(due.schedule(project, None))

    assert sum(len(told.findings) for told in days.values()) > DAYS
    assert sum(len(told.due) for told in days.values()) > DAYS
    assert sum(len(some) for told in days.values() for some in told.reminders.values()) > DAYS / 3
    assert Reading.objects.filter(project=project, is_current=False).count() > DAYS
    with time_machine.travel(_at(FIRST + timedelta(days=DAYS), 12)):
        _read(project)
        for today, told in days.items():
            assert told.findings == _found(project, skill, today), f"findings of {today}"
            assert told.due == _listed(_as_of(project, today, str(today))), f"due list of {today}"
            morning = _as_of(project, today, told.reread_at.isoformat())
            again = expected_quiet.reminders(project, morning)
            assert told.reminders == again, f"reminders of {today}"


# --- the days -------------------------------------------------------------------------------------


def _set_up(hospital: Hospital) -> tuple[Project, Skill]:
    project = study(hospital, timezone=str(ZONE), quiet_holidays=False, start_date=FIRST)
    plan(project)
    for site in SITES:
        member(project, site)
    checks = {"type": "hard_rule", "rules": RULES, "on_pass": "end", "on_fail": "end"}
    _skill(project, "qc_process", {"check": checks}, trigger_type=Skill.Trigger.WEBHOOK)
    remind = {
        "type": "notify",
        "content": "visit_reminder",
        "roles": ["CRC"],
        "days": AHEAD,
        "on_pass": "end_success",
    }
    _skill(
        project,
        "visit_reminder",
        {"remind": remind},
        trigger_type=Skill.Trigger.CRON,
        cron_schedule="0 9 * * *",
    )
    tasks.read_studies()
    drain()
    skill = Skill.objects.select_related("project").get(skill_type="qc_process")
    for record_id in [f"P{n:03}" for n in range(1, THERE + 1)]:
        sop.start(project=project, skill=skill, record_id=record_id, triggered_by="zhangyi")
    _read(project)
    return project, skill


def _skill(project: Project, kind: str, nodes: dict[str, Any], **more: Any) -> None:
    config = {"name": kind, "start_node": next(iter(nodes)), "nodes": nodes}
    skill = Skill(project=project, skill_type=kind, name=kind, config=config, **more)
    save_skill(skill=skill, actor="admin")


def _at(day: date, hour: int) -> datetime:
    return datetime.combine(day, time(hour), ZONE)


def _read(project: Project) -> None:
    """The jobs of every four minutes: what changed is read, then followed up."""
    tasks.read_studies()
    drain()
    state = SyncState.objects.get(project=project)
    assert (state.cause, state.is_incomplete) == ("", False)
    assert not Reading.objects.filter(project=project, is_followed=False).exists()


def _remind() -> None:
    jobs.fire_missed_skills()
    jobs.sweep_runs()
    drain()


def _told(project: Project, today: date) -> Told:
    rows = VisitReminder.objects.filter(project=project, asked_on=today)
    found: dict[str, set[Place]] = {}
    for row in rows.select_related("member"):
        found.setdefault(row.member.wecom_userid, set()).add((row.record_id, row.visit))
    return Told(set(), [], found, _now())


def _now() -> datetime:
    return datetime.now(ZONE)


def _decide(project: Project, dice: random.Random) -> None:
    """The PI confirms what data changes have resolved, on some days."""
    for finding in PendingAction.objects.filter(project=project, state=State.DATA_CHANGED):
        if dice.random() < 0.5:
            finding_life.move(finding=finding, step="accept", actor="zhangyi")


def _open(project: Project) -> set[Finding]:
    rows = PendingAction.objects.filter(project=project).exclude(
        state__in=(State.DATA_CHANGED, State.CLOSED, State.REJECTED)
    )
    keys = [(row.record_id or "", row.rule_key, row.event, row.instance) for row in rows]
    assert len(keys) == len(set(keys)), "a finding is open twice"
    return set(keys)


def _listed(told: due.Schedule) -> list[Visit]:
    """The due list of a week, with what is overdue."""
    found = told.due(told.today, told.today + timedelta(days=7), overdue=True)
    return [(one.subject, one.visit, str(one.open), str(one.close)) for one in found]


# --- the same, worked out at the end ----------------------------------------------------------------


def _found(project: Project, skill: Skill, today: date) -> set[Finding]:
    """The rules over the records as they were known that day."""
    known = Study.load(project)
    moment = versions.time_of(project, str(today))
    assert moment is not None
    rules = known.compiled(skill.config["nodes"]["check"]["rules"])
    return {
        (
            data.record_id,
            seen.rule,
            seen.event or "",
            "" if seen.instance is None else str(seen.instance),
        )
        for data in versions.records_at(project, known.metadata, None, None, moment)
        for seen in rules.evaluate(data.record_id, [*data.rows], today)
        if seen.outcome not in ("PASS", "NOT_APPLICABLE")
    }


def _as_of(project: Project, today: date, as_of: str) -> due.Schedule:
    designs: list[StudyDesign] = []

    def asked(design: StudyDesign) -> list[dict[str, Any]]:
        designs.append(design)
        return [one | {"as_of": as_of} for one in due.schedule_queries(design)]

    answers = ask_all(project, None, asked)
    return due.schedule_from(designs[0], today, answers)


@dataclass
class Quiet:
    """What members answered, kept beside the house: until when nobody is asked for a visit again."""

    until: dict[Place, list[tuple[date, date]]] = field(default_factory=dict)
    promised: dict[tuple[str, date], set[Place]] = field(default_factory=dict)

    def answer(self, project: Project, today: date, dice: random.Random) -> None:
        rows = VisitReminder.objects.filter(project=project, asked_on=today, answer="")
        for row in rows.select_related("member", "project").order_by("pk"):
            given = dice.choice([*visit_reminders.Answer.values, *[""] * 9])
            if given:
                visit_reminders.keep_answer(reminder=row, actor=row.member, given=given)
                rest = visit_reminders.QUIET[visit_reminders.Answer(given)]
                place = (row.record_id, row.visit)
                self.until.setdefault(place, []).append((today, today + rest))
                if given == visit_reminders.Answer.TOMORROW:
                    tomorrow = (row.member.wecom_userid, today + timedelta(days=1))
                    self.promised.setdefault(tomorrow, set()).add(place)

    def reminders(self, project: Project, told: due.Schedule) -> dict[str, set[Place]]:
        """What each member is asked that day: what is due soon, and what "tomorrow" was promised of."""
        found, today = {}, told.today
        soon = told.due(today, today + timedelta(days=AHEAD))
        to_do = {(one.subject, one.visit) for one in told.visits if is_to_do(one, today)}
        for one in Member.objects.filter(project=project):
            mine = [(v.subject, v.visit) for v in soon if v.site == one.site]
            asked = [place for place in mine if not self._is_quiet(place, today)]
            promised = self.promised.get((one.wecom_userid, today), set())
            if places := {*asked[: visit_reminders.MOST], *(promised & to_do)}:
                found[one.wecom_userid] = places
        return found

    def _is_quiet(self, place: Place, today: date) -> bool:
        return any(given < today <= until for given, until in self.until.get(place, []))
