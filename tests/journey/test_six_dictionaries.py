"""Seven kinds of REDCap project, from the first connection to answers: nothing tells when anybody was born."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from engines.sop.checks import switch
from projects.models import Member, Person, Project
from study import dictionary, readings, records, services
from study.design import design_of
from study.door import ask_all
from study.identity import Answer
from study.models import Dictionary, FieldRole, Subject, SyncState
from study.query.errors import NotSetError, QueryError
from study.setup import plan
from tests.engines.chat.kit import ask
from tests.support.dictionaries import KINDS, TOKEN, Kind, spellings
from tests.support.stand_ins import StandIns

pytestmark = pytest.mark.django_db
PAGES = (
    "admin:projects_project_setup",
    "admin:projects_project_change",
)
CHECKS = {
    kind: {}
    for kind in ("required", "range", "type", "choice", "hidden", "calc", "consent", "duplicate")
}
LISTS = (
    "admin:study_subject_changelist",
    "admin:engines_pendingaction_changelist",
    "admin:study_fieldrole_propose",
    "admin:skills_fieldmapping_changelist",
    "visit_board",
)


@pytest.fixture(
    params=[pytest.param(name, marks=pytest.mark.slow if name == "large" else ()) for name in KINDS]
)
def kind(request: pytest.FixtureRequest) -> Kind:
    return KINDS[request.param]()


@pytest.fixture
def redcap(kind: Kind, tmp_path: Path) -> Iterator[StandIns]:
    servers = StandIns(kind.write(tmp_path / kind.name))
    rights = {"token": TOKEN, "user": "api", "export": "full", "dag": None, "logging": True}
    servers.post("configure", {"redcap": {"tokens": [rights]}})
    yield servers
    servers.stop()


@pytest.fixture
def project(kind: Kind, stand_ins: StandIns, redcap: StandIns) -> Project:
    """Connected and read, with somebody who may see everything."""
    made = Project.objects.create(
        code="SIX",
        name="第六项研究",
        start_date=date(2026, 1, 1),
        enrolment_field=kind.started,
        redcap_url=f"{redcap.url}/redcap/api/",
        redcap_token=TOKEN,
    )
    user = User.objects.create_user("chief", password="a-good-long-word", is_staff=True)
    person = Person.objects.create(wecom_userid="chief", user=user)
    Member.objects.create(project=made, person=person, role="ADMIN", wecom_userid="chief")
    dictionary.refresh(made)
    readings.read_all(made)
    return made


def member_of(project: Project) -> Member:
    return Member.objects.get(project=project)


def client_of(project: Project) -> Client:
    client = Client()
    client.cookies["django_language"] = "zh-hans"
    user = member_of(project).person.user
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def told(text: str) -> list[str]:
    return [one for one in spellings() if one in text]


def answer(project: Project, kind: Kind, said: Answer) -> None:
    answers = dict.fromkeys(kind.doubtful, said.value)
    dictionary.store_date_answers(project=project, answers=answers, actor="chief")
    readings.read_all(project)


def questions(project: Project, kind: Kind) -> list[dict[str, Any]]:
    """Every form of the first subject, every field of all, rows of all by date."""
    design = design_of(project)
    forms: list[dict[str, Any]] = [
        {"select": [form], "subjects": list(kind.filled)} for form in design.shown_forms
    ]
    term = kind.term[0]
    return [
        *forms[:8],
        {"select": [term], "rows": "all"},
        {"select": [term], "period": {"from": "1930-01-01", "to": "2030-01-01"}},
        {"select": ["@age"]},
    ]


def test_what_tells_a_birth_is_decided_once(kind: Kind) -> None:
    found = kind.metadata.identity
    assert (found.births, {*found.asked}) == (kind.births, kind.doubtful)
    assert found.closed == kind.births | kind.doubtful


def test_a_date_beside_the_sex_is_asked_about_where_its_form_repeats() -> None:
    kind = replace(
        KINDS["rescreened"](),
        repeating=[{"event_name": "screening_arm_1", "form_name": "demographics"}],
    )
    assert kind.metadata.identity.asked == ("dm_dt",)


@pytest.mark.full
def test_nothing_is_kept_told_or_proposed_of_a_birth(project: Project, kind: Kind) -> None:
    closed = kind.births | kind.doubtful
    design = design_of(project)
    assert not closed & {*design.form_dates.values()}
    assert not closed & {
        name for row in readings.current_rows(project, design.metadata).values() for name in row[0]
    }
    answers = ask_all(project, member_of(project), questions(project, kind))
    assert all(one.facts for one in answers[-2:-1])
    assert told(str(answers)) == []
    for name in closed:
        with pytest.raises(QueryError) as refused:
            ask_all(project, member_of(project), [{"select": [name]}])
        assert name not in refused.value.nearest


@pytest.mark.full
def test_no_page_list_or_file_tells_a_birth(project: Project, kind: Kind) -> None:
    client = client_of(project)
    addresses = [reverse(name, args=[project.pk]) for name in PAGES]
    addresses += [reverse(name) for name in LISTS]
    subjects = Subject.objects.filter(project=project)
    addresses += [reverse("subject_page", args=[subject.pk]) for subject in subjects]
    addresses += [f"/api/v1/visits/?project={project.code}", "/api/v1/schema/"]
    for address in addresses:
        page = client.get(address, follow=True)
        assert page.status_code in (200, 404), address
        assert told(page.content.decode()) == [], address


@pytest.mark.full
def test_no_answer_or_prompt_tells_a_birth(
    project: Project, kind: Kind, stand_ins: StandIns
) -> None:
    record, (_field, label) = kind.filled[0], kind.term
    first = next(iter(kind.instruments.values()))
    for text in (
        f"受试者{record}的{label}",
        f"受试者{record}的{first}表里都填了什么",
        f"受试者{record}什么时候出生的",
        f"受试者{record}的既往史",
        "谁的年龄最大,分别是哪天出生的",
    ):
        assert told(ask(member_of(project).wecom_userid, text).text) == [], text
    assert told(json.dumps(stand_ins.requests("llm"), ensure_ascii=False)) == []


@pytest.mark.full
def test_a_form_that_was_never_begun_has_no_findings(project: Project, kind: Kind) -> None:
    read = records.read_records(project=project, record_ids=[kind.empty])
    assert [one.record_id for one in read] == [kind.empty]
    metadata = dictionary.load(project)
    found = switch.preview(project=project, checks=CHECKS, records=read, metadata=metadata)
    assert [(one.seen.rule_key, one.seen.outcome) for one in found] == []


@pytest.mark.full
def test_the_preview_of_the_checks_tells_no_birth(project: Project, kind: Kind) -> None:
    metadata = dictionary.load(project)
    read = records.read_records(project=project)
    found = switch.preview(project=project, checks=CHECKS, records=read, metadata=metadata)
    assert told(str([(one.seen.value, one.seen.message) for one in found])) == []
    assert [
        one for one in found if one.record_id in kind.filled and one.seen.outcome == "ERROR"
    ] == []


@pytest.mark.parametrize("kind", [KINDS["classic"]()], ids=["classic"])
def test_a_choice_is_told_as_a_person_reads_it(project: Project, kind: Kind) -> None:
    (found,) = ask_all(project, member_of(project), [{"select": ["alt_why"]}])
    assert [fact.text for fact in found.facts[:2]] == ["<24 h 复查", "A|B 型"]


@pytest.mark.full
@pytest.mark.parametrize("kind", [KINDS["classic"]()], ids=["classic"])
@pytest.mark.parametrize("field", ["", "no_such_field"])
def test_a_setting_that_is_missing_is_told_as_that(
    project: Project, kind: Kind, field: str
) -> None:
    Project.objects.filter(pk=project.pk).update(enrolment_field=field)
    for text in ("入组了多少人", "受试者1入组了吗", "每个月入组多少人"):
        assert "未设置入组日期字段" in ask("chief", text).text, text
    project.refresh_from_db()
    for name in ("@enrolled", "@status"):
        with pytest.raises(NotSetError):
            ask_all(project, member_of(project), [{"select": [name]}])


@pytest.mark.full
@pytest.mark.parametrize("kind", [KINDS["classic"]()], ids=["classic"])
def test_a_study_without_redcap_is_no_outage(project: Project, kind: Kind) -> None:
    Project.objects.filter(pk=project.pk).update(redcap_token="")
    Dictionary.objects.all().delete()
    SyncState.objects.all().delete()
    client = client_of(project)
    assert "尚未设置 REDCap" in ask("chief", "受试者1的体重").text
    answer = client.get(f"/api/v1/visits/?project={project.code}")
    assert answer.status_code == 409
    assert answer.json()["code"] == "not_configured"


@pytest.mark.full
@pytest.mark.parametrize("kind", [KINDS["classic"]()], ids=["classic"])
def test_a_number_is_an_id_only_where_nothing_else_can_stand(project: Project, kind: Kind) -> None:
    for text in ("2的谷丙转氨酶", "查一下受试者2的谷丙转氨酶", "2号患者的谷丙转氨酶"):
        found = ask("chief", text)
        assert found.record_ids == ["2"], text
        assert "46" in found.text, text
    assert ask("chief", "谷丙转氨酶大于2的有谁").record_ids == []
    client = client_of(project)
    url = reverse("admin:projects_project_setup", args=[project.pk])
    assert 'value="[1-9]\\d{0,2}"' in client.get(url).content.decode()
    sent = {"do": "identity", "record_id_pattern": r"[1-9]\d{0,2}", "answer-dm_dt2": "nobody"}
    assert client.post(url, sent).status_code == 302
    project.refresh_from_db()
    assert project.record_id_pattern == r"[1-9]\d{0,2}"
    assert dictionary.load(project).answers == {"dm_dt2": "nobody"}
    assert ask("chief", "2的谷丙转氨酶").record_ids == ["2"]


@pytest.mark.full
@pytest.mark.parametrize("kind", [KINDS["classic"]()], ids=["classic"])
def test_a_setting_that_names_a_birth_dates_nothing(project: Project, kind: Kind) -> None:
    row = FieldRole(project=project, role="form_date", of="baseline", field="dm_dt")
    with pytest.raises(ValidationError):
        services.check_setting(row)
    row.save()  # as it was taken over from the proposals of an earlier version
    assert design_of(project).form_dates["baseline"] == "icf_dt"
    page = client_of(project).post(
        reverse("admin:projects_project_setup", args=[project.pk]),
        {"do": "plan", "anchor": "dm_dt"},
    )
    assert page.context["plan_errors"]


@pytest.mark.full
@pytest.mark.parametrize("kind", [KINDS["classic"]()], ids=["classic"])
def test_what_was_answered_opens_or_closes(project: Project, kind: Kind) -> None:
    assert {row.field for row in plan.doubtful_dates(project)} == kind.doubtful
    answer(project, kind, Answer.NOBODY)
    assert not kind.doubtful & dictionary.load(project).identifier_fields
    answer(project, kind, Answer.BIRTH)
    assert kind.doubtful <= dictionary.load(project).identity.births


@pytest.mark.full
def test_the_command_tells_no_birth(
    project: Project, kind: Kind, capsys: Any, monkeypatch: Any
) -> None:
    lines = "\n".join(json.dumps(one) for one in questions(project, kind))
    monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
    call_command("query", "--user", "chief", "--project", project.code)
    assert told(capsys.readouterr().out) == []
