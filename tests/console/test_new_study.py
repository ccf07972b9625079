"""Setting up a study: nothing typed is lost, nothing wrong is taken silently, one study stops no other."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from memory.models import ProjectMemory
from projects.models import Member, Project
from skills.models import Skill
from study import tasks as study_tasks
from study.models import Subject, SyncState
from tests.support.tasks import drain

ADD = "/admin/projects/project/add/"


@pytest.fixture
def house(as_user: Callable[..., Client]) -> Callable[..., Client]:
    """Who may make a study: a superuser."""

    def login(name: str, language: str = "en") -> Client:
        User.objects.create_superuser(name)
        return as_user(name, language)

    return login


def fields_of(client: Client, url: str) -> dict[str, Any]:
    form = client.get(url).context["adminform"].form
    given = {name: form[name].value() for name in form.fields}
    return {
        name: value for name, value in given.items() if value is not None and value is not False
    }


def plan(*rows: dict[str, Any]) -> dict[str, Any]:
    sent = {"visit_plan-TOTAL_FORMS": str(len(rows)), "visit_plan-INITIAL_FORMS": "0"}
    for number, row in enumerate(rows):
        blank = {"position": 0, "arm": "", "event": "", "minus": 0, "plus": 0}
        sent |= {f"visit_plan-{number}-{key}": value for key, value in (blank | row).items()}
    return sent


def new(client: Client, *rows: dict[str, Any], **typed: str) -> Any:
    given = fields_of(client, ADD) | {"code": "NEW", "name": "N", "start_date": "2026-11-02"}
    return client.post(ADD, given | plan(*rows) | typed)


def change(client: Client, project: Project, *rows: dict[str, Any], **typed: str) -> Any:
    url = f"/admin/projects/project/{project.pk}/change/"
    return client.post(url, fields_of(client, url) | plan(*rows) | typed)


def hidden(answer: Any) -> dict[str, str]:
    """What the refused page would send along beside what people type."""
    page = answer.content.decode()
    found = re.findall(r'<input type="hidden" name="(\w+_kept)" value="([^"]+)"', page)
    return dict(found)


SECRETS = [
    ("redcap_url", "redcap_token"),
    ("dify_url", "dify_key"),
    ("llm_base_url", "llm_api_key"),
    ("llm_small_base_url", "llm_small_api_key"),
]


@pytest.mark.full
@pytest.mark.parametrize(("address", "secret"), SECRETS)
def test_a_typed_secret_survives_another_wrong_field(
    house: Callable[..., Client], study: Any, address: str, secret: str
) -> None:
    client = house("root")
    url = getattr(study.project, address) or study.project.redcap_url
    typed = {address: url, secret: "typed-once"}
    refused = new(client, **typed, timezone="Asia/Nowhere")
    assert refused.status_code == 200
    assert "typed-once" not in refused.content.decode()
    kept = hidden(refused)
    assert list(kept) == [f"{secret}_kept"]
    again = new(client, **{address: url}, **kept, timezone="Asia/Wrong")  # wrong once more
    assert again.status_code == 200
    done = new(client, **{address: url}, **hidden(again))
    assert done.status_code == 302, done.context["adminform"].form.errors
    assert getattr(Project.objects.get(code="NEW"), secret) == "typed-once"


@pytest.mark.full
def test_what_is_kept_serves_its_own_box_only_and_is_replaced_by_what_is_typed(
    house: Callable[..., Client], study: Any
) -> None:
    client = house("root")
    url = study.project.redcap_url
    refused = new(client, redcap_url=url, redcap_token="one", timezone="x")
    [sealed] = hidden(refused).values()
    other = {"dify_url": study.project.dify_url, "dify_key_kept": sealed}
    assert "dify_key" in new(client, **other).context["adminform"].form.errors
    spoiled = {"redcap_url": url, "redcap_token_kept": f"{sealed[:-4]}AAAA"}
    assert "redcap_token" in new(client, **spoiled).context["adminform"].form.errors
    assert (
        new(client, redcap_url=url, redcap_token_kept=sealed, redcap_token="two").status_code == 302
    )
    assert Project.objects.get(code="NEW").redcap_token == "two"


@pytest.mark.full
@pytest.mark.parametrize(("address", "secret"), SECRETS[:2])
def test_an_address_without_its_secret_is_refused(
    house: Callable[..., Client], study: Any, address: str, secret: str
) -> None:
    answer = new(house("root"), **{address: getattr(study.project, address)})
    assert list(answer.context["adminform"].form.errors) == [secret]
    assert not Project.objects.filter(code="NEW").exists()


WRONG_NAMES = [
    ("anchor_field", "icf_dat", "icf_date"),
    ("date_field", "v2_dat", "v2_date"),
    ("event", "v2_arm_9", "v2_arm_1"),
]


@pytest.mark.full
@pytest.mark.parametrize(("column", "wrong", "near"), WRONG_NAMES)
def test_a_visit_with_a_wrong_name_is_refused_with_the_nearest(
    as_user: Callable[..., Client], study: Any, column: str, wrong: str, near: str
) -> None:
    project = study.project
    project.visit_plan.all().delete()
    right = {
        "visit": "V9",
        "anchor_field": "icf_date",
        "date_field": "v2_date",
        "event": "v2_arm_1",
        "day": 28,
    }
    client = as_user("admin", "zh-hans")
    answer = change(client, project, right | {column: wrong})
    assert answer.status_code == 200
    [errors] = answer.context["inline_admin_formsets"][0].formset.errors
    assert list(errors) == [column]
    assert near in str(errors)
    assert "最接近" in str(errors)
    assert not project.visit_plan.exists()
    done = change(client, project, right)
    assert done.status_code == 302, done.context["inline_admin_formsets"][0].formset.errors
    assert project.visit_plan.get().visit == "V9"


@pytest.mark.full
@pytest.mark.parametrize("column", ["enrolment_field", "withdraw_field"])
def test_a_study_field_that_redcap_does_not_know_is_refused(
    as_user: Callable[..., Client], study: Any, column: str
) -> None:
    answer = change(as_user("admin"), study.project, **{column: "icf_dat"})
    assert column in answer.context["adminform"].form.errors
    assert "icf_date" in str(answer.context["adminform"].form.errors)
    assert change(as_user("admin"), study.project, **{column: "icf_date"}).status_code == 302


@pytest.mark.full
def test_a_site_that_redcap_does_not_know_is_refused_with_the_nearest(
    as_user: Callable[..., Client], study: Any
) -> None:
    client, url = as_user("admin", "zh-hans"), "/admin/projects/member/add/"
    typed = {"project": str(study.project.pk), "role": "CRC", "language": "en", "is_active": "on"}

    def add(userid: str, site: str) -> Any:
        return client.post(
            url, typed | {"wecom_userid": userid, "site": site, "all_sites": "" if site else "on"}
        )

    refused = add("new", "site_q")
    assert list(refused.context["adminform"].form.errors) == ["site"]
    assert "最接近的是：site_" in str(refused.context["adminform"].form.errors)
    assert not Member.objects.filter(wecom_userid="new").exists()
    for userid, site in (("at_a", "site_a"), ("of_all", "")):
        assert add(userid, site).status_code == 302, site


@pytest.mark.full
def test_a_member_of_a_site_that_is_gone_is_changed_all_the_same(
    as_user: Callable[..., Client], study: Any
) -> None:
    row = study["crc_b"]
    Member.objects.filter(pk=row.pk).update(site="site_gone")
    url = f"/admin/projects/member/{row.pk}/change/"
    client = as_user("admin")
    given = fields_of(client, url)
    assert client.post(url, given | {"site": "site_lost"}).status_code == 200
    given.pop("is_active")
    assert client.post(url, given).status_code == 302
    row.refresh_from_db()
    assert (row.site, row.is_active) == ("site_gone", False)


def test_where_nothing_was_read_yet_any_site_is_taken(
    house: Callable[..., Client], study: Any
) -> None:
    made = Project.objects.create(code="UNREAD", name="u", start_date=date(2026, 1, 1))
    typed = {"project": str(made.pk), "role": "CRC", "language": "en", "is_active": "on"}
    sent = house("root").post(
        "/admin/projects/member/add/", typed | {"wecom_userid": "new", "site": "anywhere"}
    )
    assert sent.status_code == 302
    assert Member.objects.get(wecom_userid="new").site == "anywhere"


@pytest.mark.full
def test_before_the_first_reading_every_name_is_taken(
    house: Callable[..., Client], study: Any
) -> None:
    row = {"visit": "V1", "anchor_field": "a", "date_field": "b", "event": "c", "day": 1}
    assert new(house("root"), row).status_code == 302


def skill(study: Any, **values: Any) -> Any:
    from tests.console.conftest import CONFIG

    given = {
        "project": str(study.project.pk),
        "skill_type": "x",
        "name": "x",
        "config": CONFIG,
        "trigger_type": "webhook",
    }
    return given | values


@pytest.mark.full
@pytest.mark.parametrize(
    "wrong",
    [
        {"trigger_type": "event", "config": {"event": "record_chnaged"}},
        {"trigger_type": "event", "config": {"event": "record_changed", "event_field": "alt_x"}},
        {"trigger_type": "event", "config": {"event": "record_changed", "event_form": "labz"}},
        {"trigger_type": "webhook", "cron_schedule": "nonsense"},
        {"trigger_type": "cron", "cron_schedule": "0 25 * * *"},
    ],
)
def test_a_skill_with_a_wrong_event_or_schedule_is_refused_in_console_and_api(
    as_user: Callable[..., Client], study: Any, wrong: dict[str, Any]
) -> None:
    values = skill(study, **wrong)
    values["config"] = skill(study)["config"] | wrong.get("config", {})
    client = as_user("admin")
    page = client.post(
        "/admin/skills/skill/add/", values | {"config": json.dumps(values["config"])}
    )
    assert page.status_code == 200
    sent = client.post("/api/v1/skills/", values | {"project": "DEMO"}, "application/json")
    assert sent.status_code == 400
    assert not Skill.objects.filter(skill_type="x").exists()


@pytest.mark.full
def test_one_study_that_is_set_up_half_stops_no_other(study: Any) -> None:
    half = dict.fromkeys(("redcap_token", "llm_api_key"), "")
    url = study.project.redcap_url
    made = {"start_date": date(2026, 1, 1), "redcap_url": url}
    without = Project.objects.create(code="A1", name="a", **made, **half)
    wrong = Project.objects.create(code="A2", name="a", **made, redcap_token="0" * 32)
    nowhere = Project.objects.create(
        code="A3",
        name="a",
        start_date=date(2026, 1, 1),
        redcap_token="x",
        redcap_url="http://127.0.0.1:9/",
    )
    Subject.objects.filter(project=study.project).delete()
    study_tasks.read_studies()
    drain()
    assert Subject.objects.filter(project=study.project).exists()
    states = {row.project_id: row for row in SyncState.objects.all()}
    for project in (without, wrong, nowhere):
        assert states[project.pk].failed_at is not None, project.code
        assert states[project.pk].roster_at is None
        assert states[project.pk].error
    assert states[study.project.pk].roster_at is not None


@pytest.mark.full
def test_home_says_that_the_first_reading_failed(house: Callable[..., Client], study: Any) -> None:
    made = {"start_date": date(2026, 1, 1), "redcap_url": study.project.redcap_url}
    Project.objects.create(code="A2", name="a", **made, redcap_token="0" * 32)
    study_tasks.read_studies()
    drain()
    page = house("root", "zh-hans").get("/admin/").content.decode()
    [state] = SyncState.objects.filter(project__code="A2")
    assert state.error[:40] in page


@pytest.mark.full
def test_a_study_without_hot_memory_gets_one_in_the_console(
    as_user: Callable[..., Client], study: Any
) -> None:
    url = "/admin/memory/projectmemory/add/"
    ProjectMemory.objects.all().delete()
    client = as_user("zhangyi")
    assert url in client.get("/admin/memory/projectmemory/").content.decode()
    given = fields_of(client, url)
    assert "系统禁令" in given["content"]
    sent = client.post(url, given | {"project": str(study.project.pk)})
    assert sent.status_code == 302
    memory = ProjectMemory.objects.get(project=study.project)
    assert memory.versions.get().author == "zhangyi"
    assert client.get(f"/admin/memory/projectmemory/{memory.pk}/change/").status_code == 200
    assert client.get(url).status_code == 403, "there is one already"


@pytest.mark.parametrize("name", ["wanghushi", "crc_b", "charlie"])
def test_others_make_no_hot_memory(as_user: Callable[..., Client], study: Any, name: str) -> None:
    ProjectMemory.objects.all().delete()
    client = as_user(name)
    assert client.get("/admin/memory/projectmemory/add/").status_code in {302, 403}
    client.post(
        "/admin/memory/projectmemory/add/", {"project": str(study.project.pk), "content": "x"}
    )
    assert not ProjectMemory.objects.exists()
