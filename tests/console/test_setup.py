"""Setting a study up: each step with its state and its test, proposals to tick, the first reading at once."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from core.house import clock
from demo.simulators.study import METADATA_COLUMNS
from projects.models import Member, Project
from study.models import Subject
from study.setup import steps
from tests.support.forms import sent
from tests.support.stand_ins import StandIns
from tests.support.study import Study
from tests.support.tasks import drain

pytestmark = pytest.mark.django_db
TOKEN, BARE = "5" * 32, "6" * 32
FIELDS = [
    ("sn", "enrol", "受试者编号", ""),
    ("consent_on", "enrol", "签署知情同意日期", "date_ymd"),
    ("start_on", "enrol", "入组日期", "date_ymd"),
    ("weight", "enrol", "体重", "number"),
    ("week4_on", "week4", "第4周随访日期", "date_ymd"),
    ("hb", "week4", "血红蛋白", "number"),
]


def write(directory: Path, today: date) -> Path:
    """A classic study: no events, no groups, ids like S-01; S-02 is due for week 4."""
    root = directory / "redcap"
    root.mkdir(parents=True)
    with (root / "metadata.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, METADATA_COLUMNS)
        writer.writeheader()
        for name, form, label, kind in FIELDS:
            row = {"field_name": name, "form_name": form, "field_type": "text"}
            validated = {"text_validation_type_or_show_slider_number": kind}
            writer.writerow(row | {"field_label": label} | validated)
    started = [today - timedelta(days=90), today - timedelta(days=27)]
    values = [{"consent_on": str(day), "start_on": str(day), "weight": "61"} for day in started]
    values[0] |= {"week4_on": str(started[0] + timedelta(days=28)), "hb": "131"}
    parts: dict[str, Any] = {
        "project": {
            "project_id": 7,
            "project_title": "Second study",
            "is_longitudinal": 0,
            "has_repeating_instruments_or_events": 0,
            "surveys_enabled": 0,
        },
        "instruments": [
            {"instrument_name": "enrol", "instrument_label": "入组"},
            {"instrument_name": "week4", "instrument_label": "第4周"},
        ],
        "records": [
            {"record": f"S-0{n}", "event": "", "instrument": "", "instance": None, "values": held}
            for n, held in enumerate(values, 1)
        ],
    }
    for name, content in parts.items():
        (root / f"{name}.json").write_text(json.dumps(content), "utf-8")
    return directory


@pytest.fixture
def second(tmp_path: Path) -> Iterator[StandIns]:
    """The REDCap of another study."""
    house = StandIns(write(tmp_path / "second", clock.today("Asia/Shanghai")))
    tokens = [
        {"token": TOKEN, "user": "api", "export": "full", "dag": None, "logging": True},
        {"token": BARE, "user": "bare", "export": "none", "dag": None},
    ]
    house.post("configure", {"redcap": {"tokens": tokens}})
    yield house
    house.stop()


@pytest.fixture
def made(study: Study) -> Project:
    """A study of which nothing is known yet, with an administrator."""
    project = Project.objects.create(code="SECOND", name="第二项研究", start_date=date(2026, 1, 1))
    person = study["admin"].person
    Member.objects.create(
        project=project, person=person, role="ADMIN", wecom_userid=person.wecom_userid or ""
    )
    return project


def page_of(project: Project) -> str:
    return reverse("admin:projects_project_setup", args=[project.pk])


def connect(client: Client, project: Project, second: StandIns, token: str = TOKEN) -> Any:
    sent = {"do": "connect", "redcap_url": f"{second.url}/redcap/api/", "redcap_token": token}
    return client.post(page_of(project), sent)


@pytest.fixture
def start(django_capture_on_commit_callbacks: Any) -> Callable[[Client, Project], None]:
    """ "Read now" is pressed, and its message leaves with the commit."""

    def press(client: Client, project: Project) -> None:
        with django_capture_on_commit_callbacks(execute=True):
            assert client.post(page_of(project), {"do": "read"}).status_code == 302

    return press


Start = Callable[[Client, Project], None]


def states(project: Project) -> dict[str, str]:
    return {one.step.key: one.state.value for one in steps.checklist(project)}


@pytest.mark.full
def test_a_new_study_names_what_is_missing(as_user: Callable[..., Client], made: Project) -> None:
    found = states(made)
    assert tuple(found) == steps.ORDER
    assert {key for key, state in found.items() if state == "missing"} >= {"redcap", "reading"}
    client = as_user("admin")
    project = client.get(f"/admin/projects/project/{made.pk}/change/").content.decode()
    assert 'data-test="missing"' in project
    assert page_of(made) in project
    page = client.get(page_of(made))
    assert page.status_code == 200
    tested = re.findall(r'name="test" value="(\w+)"', page.content.decode())
    assert tested == ["redcap", "reading", "members", "dify", "model"]
    for item in page.context["items"]:
        assert client.get(item.url.partition("#")[0]).status_code == 200, item.step.key


@pytest.mark.full
def test_the_token_says_what_it_may(
    as_user: Callable[..., Client], made: Project, second: StandIns
) -> None:
    client = as_user("admin")
    told = connect(client, made, second)
    lines = [(line.ok, line.text) for line in told.context["lines"]]
    assert all(ok for ok, _text in lines), lines
    text = "\n".join(text for _ok, text in lines)
    for part in ("Second study", "6 fields on 2 forms", "2 records", "one site"):
        assert part in text
    assert TOKEN not in told.content.decode()
    bare = connect(client, made, second, BARE)
    assert [line.ok for line in bare.context["lines"]].count(False) == 1


def shown(page: Any, key: str) -> tuple[str, str, str]:
    """State, what is said of a step, and its panel as the reader sees it."""
    item = next(one for one in page.context["items"] if one.step.key == key)
    panel = page.content.decode().partition(f'data-test="step-{key}"')[2]
    return item.state.value, item.said, panel.partition('data-test="step-')[0]


@pytest.mark.full
@pytest.mark.parametrize("status", [403, 500, 404])
def test_a_connection_that_fails_is_not_done(
    as_user: Callable[..., Client], made: Project, second: StandIns, status: int
) -> None:
    client = as_user("admin", "zh-hans")
    second.fault("redcap", "status", status, times=None)
    for page in (connect(client, made, second), client.get(page_of(made))):
        state, _said, panel = shown(page, "redcap")
        assert state == "failed"
        assert "已完成" not in panel
        assert not re.search(r"Error|Exception|status \d", panel)
    made.refresh_from_db()
    assert "redcap" in [one.step.key for one in steps.missing_steps(made)]
    second.fault("redcap", "status", status, times=0)


@pytest.mark.full
def test_a_wrong_token_and_then_the_right_one(
    as_user: Callable[..., Client], made: Project, second: StandIns
) -> None:
    client = as_user("admin", "zh-hans")
    wrong = connect(client, made, second, "F" * 32)
    assert shown(wrong, "redcap")[0] == "failed"
    assert "拒绝" in shown(wrong, "redcap")[2]
    assert shown(connect(client, made, second), "redcap")[0] == "done"
    made.refresh_from_db()
    assert states(made)["redcap"] == "done"
    # Another token than the one that was tested.
    made.redcap_token = "E" * 32
    made.save()
    assert states(made)["redcap"] == "untested"


@pytest.mark.full
def test_dify_and_the_model_are_not_done_before_a_test(
    as_user: Callable[..., Client], study: Study, stand_ins: StandIns
) -> None:
    client = as_user("admin", "zh-hans")
    assert states(study.project)["dify"] == "untested"
    study.project.dify_key = "wrong"
    study.project.save()
    page = client.post(page_of(study.project), {"test": "dify"})
    assert shown(page, "dify")[0] == "failed"
    assert "Error" not in shown(page, "dify")[2]
    stand_ins.fault("llm", "status", 401, times=None)
    page = client.post(page_of(study.project), {"test": "model"})
    assert shown(page, "model")[0] == "failed"
    assert "Error" not in shown(page, "model")[2]


@pytest.mark.full
def test_a_wrong_address_keeps_the_typed_token(
    as_user: Callable[..., Client], made: Project, second: StandIns
) -> None:
    client = as_user("admin")
    sent = {"do": "connect", "redcap_url": "http://10.0.0.1/api/", "redcap_token": TOKEN}
    refused = client.post(page_of(made), sent)
    assert refused.context["connection"].errors.keys() == {"redcap_url"}
    page = refused.content.decode()
    assert TOKEN not in page
    kept = page.partition('name="redcap_token_kept" value="')[2].partition('"')[0]
    again = {"do": "connect", "redcap_url": f"{second.url}/redcap/api/", "redcap_token": ""}
    assert client.post(page_of(made), again | {"redcap_token_kept": kept}).status_code == 200
    made.refresh_from_db()
    assert made.redcap_token == TOKEN


@pytest.mark.full
def test_the_first_reading_goes_on_until_it_is_there(
    as_user: Callable[..., Client], made: Project, second: StandIns, start: Start
) -> None:
    client = as_user("admin")
    connect(client, made, second)
    progress = f"{page_of(made)}progress/"
    assert client.get(progress).json() == {"goes_on": False}
    start(client, made)
    assert client.get(progress).json() == {"goes_on": True}
    assert progress in client.get(page_of(made)).content.decode()
    drain()
    assert client.get(progress).json() == {"goes_on": False}
    assert states(made)["reading"] == "done"
    assert Subject.objects.filter(project=made).count() == 2


@pytest.mark.full
def test_a_reading_that_fails_says_why(
    as_user: Callable[..., Client], made: Project, second: StandIns, start: Start
) -> None:
    client = as_user("admin")
    connect(client, made, second)
    second.fault("redcap", "status", 403, times=None)
    start(client, made)
    drain()
    assert client.get(f"{page_of(made)}progress/").json() == {"goes_on": False}
    assert states(made)["reading"] == "failed"


@pytest.fixture
def read(as_user: Callable[..., Client], made: Project, second: StandIns, start: Start) -> Project:
    client = as_user("admin")
    connect(client, made, second)
    start(client, made)
    drain()
    made.refresh_from_db()
    return made


@pytest.mark.full
def test_visits_are_planned_from_the_date_fields(
    as_user: Callable[..., Client], read: Project
) -> None:
    client = as_user("admin")
    shown = client.get(page_of(read)).context
    rows = [row["field"] for row in shown["proposed"]]
    assert rows == ["consent_on", "start_on", "week4_on"]
    at, key = rows.index("week4_on"), "week4_on@"
    ticked = {"do": "plan", "anchor": "start_on", f"take-{key}": "on", f"visit-{key}": "W4"}
    right = ticked | {f"day-{key}": "28", f"minus-{key}": "3", f"plus-{key}": "3"}
    cleared: list[dict[str, str]] = [{f"{box}-{key}": ""} for box in ("day", "minus", "plus")]
    for wrong in (*cleared, {f"day-{key}": "soon"}, {f"day-{key}": "0"}):
        refused = client.post(page_of(read), right | wrong)
        assert "W4" in " ".join(refused.context["plan_errors"])
        assert (
            refused.context["proposed"][at]["visit"],
            refused.context["proposed"][at]["taken"],
        ) == (
            "W4",
            True,
        )
    assert not read.visit_plan.exists()
    names = set(re.findall(r'name="([^"]+)"', client.get(page_of(read)).content.decode()))
    assert right.keys() - {"do"} <= names
    assert client.post(page_of(read), right).status_code == 302
    entry = read.visit_plan.get()
    assert (entry.visit, entry.anchor_field, entry.day, entry.plus) == ("W4", "start_on", 28, 3)
    read.refresh_from_db()
    assert read.enrolment_field == "start_on"
    assert "week4_on" not in [row["field"] for row in client.get(page_of(read)).context["proposed"]]


@pytest.mark.full
def test_a_visit_that_is_no_longer_proposed_is_not_taken_for_another(
    as_user: Callable[..., Client], read: Project
) -> None:
    """Somebody planned a date after the page was opened; those behind it moved up."""
    client = as_user("admin")
    typed = {"do": "plan", "anchor": "start_on"}
    for key, day in (("consent_on@", "1"), ("week4_on@", "28")):
        shown = {"take": "on", "visit": key, "day": day, "minus": "0", "plus": "0"}
        typed |= {f"{name}-{key}": value for name, value in shown.items()}
    planned = {"visit": "V0", "anchor_field": "start_on", "date_field": "consent_on", "day": 1}
    read.visit_plan.create(**planned)
    refused = client.post(page_of(read), typed)
    assert refused.context["plan_errors"] == [
        "consent_on is no longer proposed: it was planned meanwhile, or REDCap changed it."
    ]
    assert read.visit_plan.count() == 1


@pytest.mark.full
def test_the_date_of_withdrawal_is_asked(as_user: Callable[..., Client], read: Project) -> None:
    client = as_user("admin", "zh-hans")
    visit = {"visit": "W4", "anchor_field": "start_on", "date_field": "week4_on", "day": 28}
    read.visit_plan.create(**visit)
    assert states(read)["plan"] == "missing"
    for wrong in ("", "nothing", "weight"):
        page = client.post(page_of(read), {"do": "withdrawal", "withdrawal": wrong})
        assert page.context["withdrawal_error"]
    for answer in ("consent_on", "-"):
        client.post(page_of(read), {"do": "withdrawal", "withdrawal": answer})
        read.refresh_from_db()
        assert read.withdraw_field == answer.strip("-")
        assert states(read)["plan"] == "done"
        assert f'value="{answer}" selected' in client.get(page_of(read)).content.decode()


@pytest.mark.full
def test_a_stored_pattern_that_is_not_taken_any_more_is_told(study: Study) -> None:
    pattern = r"(?=P)P\d{3}"
    Project.objects.filter(pk=study.project.pk).update(record_id_pattern=pattern)
    study.project.refresh_from_db()
    (found,) = (one for one in steps.checklist(study.project) if one.step.key == "identity")
    assert found.state == "failed"
    assert pattern in found.said


@pytest.mark.full
def test_a_new_study_opens_its_set_up(study: Study) -> None:
    client = Client()
    root = User.objects.create_superuser("root")
    client.force_login(root, backend="django.contrib.auth.backends.ModelBackend")
    url = "/admin/projects/project/add/"
    typed = sent(client.get(url).context) | {"code": "NEW", "name": "n", "start_date": "2026-01-01"}
    made = client.post(url, typed | {"_save": "1"})
    assert made.status_code == 302
    assert made["Location"] == page_of(Project.objects.get(code="NEW"))


def test_sites_are_picked_and_a_strange_one_is_not_taken(
    as_user: Callable[..., Client], study: Study
) -> None:
    client, crc = as_user("admin"), study["crc_b"]

    def send(chosen: str, was: str) -> str:
        body = {"do": "sites", f"site-{crc.pk}": chosen, f"was-{crc.pk}": was}
        client.post(page_of(study.project), body)
        crc.refresh_from_db()
        return crc.site

    assert send("no_such_site", "site_b") == "site_b"
    shown = client.get(page_of(study.project)).content.decode()
    assert f'name="was-{crc.pk}" value="site_b"' in shown
    for chosen, site in (("site_a", "site_a"), ("", "site_a"), ("*", "")):
        assert send(chosen, crc.site) == site
    said = next(one.said for one in steps.checklist(study.project) if one.step.key == "sites")
    assert crc.display_name in said


def test_an_older_page_gives_nobody_the_sites_back(
    as_user: Callable[..., Client], study: Study
) -> None:
    """What another administrator restricted meanwhile: left alone where untouched, refused where changed."""
    client, crc, other = as_user("admin"), study["crc_b"], study["wanghushi"]
    body = {"do": "sites", f"site-{crc.pk}": "*", f"was-{crc.pk}": "*"}
    body |= {f"site-{other.pk}": "site_b", f"was-{other.pk}": other.site}
    client.post(page_of(study.project), body)
    for member, site in ((crc, "site_b"), (other, "site_b")):
        member.refresh_from_db()
        assert member.site == site
    body |= {f"site-{other.pk}": "*", f"was-{other.pk}": "site_a"}
    told = client.post(page_of(study.project), body, follow=True).content.decode()
    assert "was changed meanwhile" in told
    other.refresh_from_db()
    assert other.site == "site_b"


def test_the_demo_study_lacks_nothing(study: Study) -> None:
    assert {key for key, state in states(study.project).items() if state == "failed"} == set()
    assert not steps.missing_steps(study.project)


@pytest.mark.parametrize("key", ["members", "dify", "model", "redcap", "reading"])
def test_every_test_tells_something(as_user: Callable[..., Client], study: Study, key: str) -> None:
    answer = as_user("admin").post(page_of(study.project), {"test": key})
    assert answer.context["lines"]
    told = answer.context["lines"][:1] if key == "model" else answer.context["lines"]
    assert all(line.ok for line in told), told  # the stand-in model cites nothing


@pytest.mark.full
def test_only_administrators_set_up(as_user: Callable[..., Client], study: Study) -> None:
    url = page_of(study.project)
    for name in ("zhangyi", "wanghushi", "auditor"):
        client = as_user(name)
        assert client.get(url).status_code == 403, name
        assert client.post(url, {"do": "read"}).status_code == 403, name
        assert client.get(f"{url}progress/").status_code == 403, name
        page = client.get(f"/admin/projects/project/{study.project.pk}/change/")
        assert 'data-test="missing"' not in page.content.decode()
    assert as_user("charlie").get(url).status_code in (302, 403, 404)
