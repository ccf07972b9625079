"""The workflow editor: problems at their lines, the drawing, the schema (issue B, SOP)."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from projects.models import Member, Project
from skills.graph import schema
from skills.models import Skill
from skills.outline import outline
from skills.validation import validate
from tests.console.conftest import CONFIG
from tests.support.study import Study

pytestmark = pytest.mark.django_db
CHECK = "/admin/skills/skill/check/"


def checked(client: Client, config: object, study: Study | None = None) -> str:
    text = config if isinstance(config, str) else json.dumps(config, indent=2, ensure_ascii=False)
    project = str(study.project.pk) if study else ""
    answer = client.post(CHECK, {"config": text, "project": project})
    return answer.content.decode() if answer.status_code == 200 else str(answer.status_code)


def broken() -> dict[str, Any]:
    config: dict[str, Any] = json.loads(json.dumps(CONFIG))
    config["nodes"]["check"]["on_fail"] = "nowhere"
    config["nodes"]["check"]["rules"][0]["field"] = "no_such_field"
    return config


def test_a_problem_names_path_and_line(as_user: Callable[..., Client], study: Study) -> None:
    config = broken()
    page = checked(as_user("admin"), config, study)
    text = json.dumps(config, indent=2, ensure_ascii=False).split("\n")
    found = validate(config, study.project)
    assert len(found) >= 2
    for problem in found:
        assert f"<code>{problem.path}</code>" in page
    shown = re.search(r'data-line="(\d+)".{0,60}?<code>nodes\.check\.on_fail<', page, re.DOTALL)
    assert shown
    assert '"on_fail"' in text[int(shown[1]) - 1]
    field = re.search(
        r'data-line="(\d+)".{0,60}?<code>nodes\.check\.rules\.0\.field<', page, re.DOTALL
    )
    assert field
    assert "no_such_field" in text[int(field[1]) - 1]


def test_the_drawing_shows_nodes_edges_and_what_is_missing(
    as_user: Callable[..., Client], study: Study
) -> None:
    page = checked(as_user("admin"), broken(), study)
    assert "<svg" in page
    assert "nowhere" in page
    assert "does not exist" in page
    assert page.count("is-bad") >= 2
    good = checked(as_user("admin"), CONFIG, study)
    assert "is-bad" not in good
    assert "No problems" in good
    assert good.count("data-line") == 0


def test_text_that_is_no_json_is_placed(as_user: Callable[..., Client]) -> None:
    client = as_user("admin")
    assert "line 2, column" in checked(client, '{\n "a": ,}')
    assert "too deeply" in checked(client, "[" * 100_000)


def test_checking_stores_nothing(as_user: Callable[..., Client], study: Study) -> None:
    before = Skill.objects.count()
    checked(as_user("admin"), CONFIG, study)
    assert Skill.objects.count() == before


@pytest.mark.parametrize("who", ["zhangyi", "wanghushi", "auditor", "charlie"])
def test_only_who_may_write_is_answered(
    who: str, as_user: Callable[..., Client], study: Study
) -> None:
    assert checked(as_user(who), CONFIG, study) == "403"
    assert as_user("admin").get(CHECK).status_code == 405


def test_another_study_is_not_looked_into(as_user: Callable[..., Client], study: Study) -> None:
    """The check would tell which fields the other study's dictionary has."""
    other = Project.objects.create(code="OTHER-1", name="Another study", start_date="2026-01-01")
    Member.objects.create(project=other, person=study["zhangyi"].person, role="ADMIN")
    client = as_user("zhangyi")
    assert checked(client, CONFIG, study) == "403"
    assert client.post(CHECK, {"config": "{}", "project": "no uuid"}).status_code == 403
    assert "<svg" in checked(client, CONFIG)


@pytest.mark.full
def test_readers_see_the_drawing_of_the_saved_workflow(
    as_user: Callable[..., Client], study: Study
) -> None:
    skill = Skill.objects.filter(project=study.project, skill_type="qc_process").get()
    page = as_user("wanghushi").get(f"/admin/skills/skill/{skill.pk}/change/").content.decode()
    assert "<svg" in page
    for key in skill.config["nodes"]:
        assert f'<span class="iit-code-word">{key}</span>' in page
    assert "style=" not in re.findall(r"<svg.*?</svg>", page, re.DOTALL)[-1]


@pytest.mark.full
def test_the_refused_form_shows_the_drawing_of_what_was_sent(
    as_user: Callable[..., Client], study: Study
) -> None:
    form = {
        "project": str(study.project.pk), "skill_type": "qc_process:new", "name": "x",
        "trigger_type": "webhook", "cron_schedule": "", "config": json.dumps(broken()),
        "versions-TOTAL_FORMS": "0", "versions-INITIAL_FORMS": "0",
    }  # fmt: skip
    page = as_user("admin").post("/admin/skills/skill/add/", form).content.decode()
    assert "nodes.check.on_fail" in page
    assert not Skill.objects.filter(skill_type="qc_process:new").exists()


@pytest.mark.full
def test_the_schema_is_the_one_of_the_validation(as_user: Callable[..., Client]) -> None:
    answer = as_user("wanghushi").get("/admin/skills/skill/schema/")
    assert answer.headers["Content-Type"] == "application/schema+json"
    assert answer.json() == schema()
    assert as_user("charlie").get("/admin/skills/skill/schema/").status_code == 403
    page = as_user("admin").get("/admin/skills/skill/add/").content.decode()
    for kind in ("hard_rule", "soft_instruction", "human_review"):
        assert f"<code>{kind}</code>" in page


def test_what_is_to_start_a_workflow_is_checked_with_it(
    as_user: Callable[..., Client], study: Study
) -> None:
    """The panel said that it can be saved, and saving was refused."""
    client = as_user("admin")

    def told(config: dict[str, Any] = CONFIG, *, of: Any = study.project.pk, **starts: str) -> str:
        body = {"config": json.dumps(config), "project": str(of), "skill_type": "qc_process:new"}
        return html.unescape(client.post(CHECK, body | starts).content.decode())

    assert "this can be saved" in told(trigger_type="webhook", cron_schedule="")
    for of in (study.project.pk, ""):
        assert "An event skill names its event" in told(of=of, trigger_type="event")
    event = CONFIG | {"event": "record_changed"}
    assert "this can be saved" in told(event, trigger_type="event")
    assert "no_such_form" in told(event | {"event_form": "no_such_form"}, trigger_type="event")
    for starts in ({"trigger_type": "cron"}, {"cron_schedule": "every day"}):
        assert "can be saved" not in told(**starts)
    chat = {"system_prompt": "x"}
    assert "A chat skill has no schedule" in told(
        chat, skill_type="general_chat", trigger_type="event"
    )


def test_the_forms_offer_the_tools_that_there_are() -> None:
    nodes = json.loads(outline())["schema"]["$defs"]
    assert "send_message" in nodes["soft_instruction"]["properties"]["tools"]["items"]["enum"]
    assert "enum" not in schema()["$defs"]["soft_instruction"]["properties"]["tools"]["items"]
