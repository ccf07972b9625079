"""A workflow is kept as a draft, compared in words, published at once or on its day, and rolled back."""

from __future__ import annotations

import copy
import html
import json
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from core.house import clock
from engines import tasks
from projects.models import AuditEntry
from skills import publish
from skills.models import Skill, SkillDraft
from skills.services import SkillChanged, save_skill
from tests.console.conftest import CONFIG
from tests.console.test_skill_versions import form
from tests.support.study import Study

pytestmark = [pytest.mark.django_db, pytest.mark.full]


@pytest.fixture
def skill(study: Study) -> Skill:
    new = Skill(project=study.project, skill_type="qc_process:draft", name="Draft", config=CONFIG)
    return save_skill(skill=new, actor="test")


def changed() -> dict[str, Any]:
    config: dict[str, Any] = copy.deepcopy(CONFIG)
    config["nodes"]["ask"]["on_reject"] = "end_review_required"
    config["nodes"]["check"]["rules"][0]["logic"] = {"<": [{"var": "age_calculated"}, 100]}
    config["nodes"]["tell"] = {"type": "notify", "content": "daily_briefing", "roles": ["CRC"]}
    config["nodes"]["check"]["on_pass"] = "tell"
    return config


def page(client: Client, skill: Skill, query: str = "") -> str:
    answer = client.get(f"/admin/skills/skill/{skill.pk}/change/{query}")
    assert answer.status_code == 200
    return answer.content.decode()


def in_the_box(shown: str) -> str:
    found = re.search(r'name="config"[^>]*>(.*?)</textarea>', shown, re.DOTALL)
    assert found
    return html.unescape(found[1])


def send(client: Client, skill: Skill, config: object, **more: str) -> Any:
    given = form(client, skill) | {"config": json.dumps(config)} | more
    return client.post(f"/admin/skills/skill/{skill.pk}/change/", given)


def day(study: Study, days: int) -> str:
    return (clock.today(study.project.timezone) + timedelta(days=days)).isoformat()


def running(skill: Skill) -> tuple[int, Any]:
    now = Skill.objects.get(pk=skill.pk)
    return now.version, now.config


def test_a_draft_runs_nothing_until_it_is_saved(
    as_user: Callable[..., Client], skill: Skill
) -> None:
    client = as_user("admin")
    wrong = changed() | {"start_node": "nowhere"}
    assert send(client, skill, wrong, _draft="1").status_code == 302
    assert running(skill) == (1, CONFIG)
    shown = page(client, skill)
    assert "This is a draft; version 1 goes on" in shown
    assert "&quot;start_node&quot;: &quot;nowhere&quot;" in shown
    assert "&quot;start_node&quot;: &quot;nowhere&quot;" not in page(client, skill, "?version=1")
    assert "nowhere" not in page(as_user("wanghushi"), skill)
    assert send(client, skill, wrong).status_code == 200
    assert send(client, skill, changed()).status_code == 302
    assert running(skill) == (2, changed())
    assert not SkillDraft.objects.exists()


def test_the_page_tells_node_by_node_what_would_change(
    as_user: Callable[..., Client], skill: Skill
) -> None:
    body = {"config": json.dumps(changed()), "project": str(skill.project_id), "skill": skill.pk}
    told = as_user("admin").post("/admin/skills/skill/check/", body).content.decode()
    told = told[told.index('data-test="diff"') : told.index("<svg")]
    assert "version 1, which runs" in told
    for part in ("Added:", "Message", "Daily briefing", "Changed:", "Human review"):
        assert part in told
    assert "<del>Rejected</del>" in told
    assert "<ins>Ended, review required</ins>" in told
    assert "&lt; 1;" in told
    assert "&lt; 100;" in told
    same = body | {"config": json.dumps(CONFIG)}
    assert "Nothing." in as_user("admin").post("/admin/skills/skill/check/", same).content.decode()


def test_a_planned_version_takes_effect_on_its_day(
    as_user: Callable[..., Client], study: Study, skill: Skill, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = as_user("admin")
    assert send(client, skill, changed(), effective_on=day(study, 2)).status_code == 302
    tasks.fire_missed_skills()
    assert running(skill) == (1, CONFIG)
    assert f"takes effect on {day(study, 2)}" in client.get("/admin/skills/skill/").content.decode()
    later = clock.now() + timedelta(days=2)
    monkeypatch.setattr(clock, "now", lambda: later)
    tasks.fire_missed_skills()
    assert running(skill) == (2, changed())
    assert not SkillDraft.objects.exists()
    entry = AuditEntry.objects.filter(action="skill.change", object_id=str(skill.pk)).latest("at")
    assert (entry.actor, entry.new["version"]) == ("admin", 2)
    tasks.fire_missed_skills()
    assert running(skill)[0] == 2


def test_a_version_that_came_between_is_not_overwritten(
    as_user: Callable[..., Client], study: Study, skill: Skill, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = as_user("admin")
    assert send(client, skill, changed(), effective_on=day(study, 1)).status_code == 302
    theirs = Skill.objects.get(pk=skill.pk)
    theirs.config = {**CONFIG, "name": "theirs"}
    save_skill(skill=theirs, actor="other")
    later = clock.now() + timedelta(days=3)
    monkeypatch.setattr(clock, "now", lambda: later)
    tasks.fire_missed_skills()
    assert running(skill) == (2, theirs.config)
    draft = SkillDraft.objects.get()
    assert (draft.effective_on, draft.config, bool(draft.refused)) == (None, changed(), True)
    shown = page(client, skill)
    assert "It was not published on its day" in shown
    assert "It was written from version 1" in shown


def test_a_day_needs_a_workflow_that_can_run(
    as_user: Callable[..., Client], study: Study, skill: Skill
) -> None:
    wrong = changed() | {"start_node": "nowhere"}
    answer = send(as_user("admin"), skill, wrong, effective_on=day(study, 1))
    assert answer.status_code == 200
    assert "start_node" in answer.content.decode()
    assert not SkillDraft.objects.exists()


def test_what_does_not_wait_is_saved_beside_a_draft(
    as_user: Callable[..., Client], study: Study, skill: Skill
) -> None:
    client = as_user("admin")
    sent = send(client, skill, changed(), effective_on=day(study, 1), name="Renamed")
    assert sent.status_code == 302
    assert running(skill) == (1, CONFIG)
    assert Skill.objects.get(pk=skill.pk).name == "Renamed"
    assert SkillDraft.objects.get().config == changed()
    assert send(client, skill, changed(), effective_on=day(study, 0)).status_code == 302
    assert running(skill) == (2, changed())


def test_a_day_that_has_passed_publishes_nothing(
    as_user: Callable[..., Client], study: Study, skill: Skill
) -> None:
    for more in ({}, {"_draft": "1"}):
        answer = send(as_user("admin"), skill, changed(), effective_on=day(study, -1), **more)
        assert "This day has passed" in answer.content.decode()
    assert running(skill) == (1, CONFIG)
    assert not SkillDraft.objects.exists()


def test_a_draft_changes_nothing_else(
    as_user: Callable[..., Client], study: Study, skill: Skill
) -> None:
    """What would be saved at once beside a draft is refused where it was typed."""
    client = as_user("admin")
    for name, value in (("name", "Renamed"), ("is_active", ""), ("trigger_type", "event")):
        answer = send(client, skill, changed(), _draft="1", **{name: value})
        assert answer.context["adminform"].form.errors.keys() == {name}
        assert "A draft changes nothing that runs" in answer.content.decode()
    now = Skill.objects.get(pk=skill.pk)
    assert (now.name, now.is_active, now.trigger_type) == ("Draft", True, "webhook")
    assert not SkillDraft.objects.exists()


def test_a_draft_keeps_the_planned_day(
    as_user: Callable[..., Client], study: Study, skill: Skill
) -> None:
    client, planned = as_user("admin"), day(study, 2)
    send(client, skill, changed(), effective_on=planned)
    further = changed() | {"name": "further"}
    assert send(client, skill, further, _draft="1", effective_on=planned).status_code == 302
    draft = SkillDraft.objects.get()
    assert (str(draft.effective_on), draft.config) == (planned, further)
    wrong = changed() | {"start_node": "nowhere"}
    for config, when in ((wrong, planned), (further, day(study, 0))):
        answer = send(client, skill, config, _draft="1", effective_on=when)
        assert "effective_on" in answer.context["adminform"].form.errors
    assert SkillDraft.objects.get().config == further
    assert send(client, skill, wrong, _draft="1").status_code == 302
    assert SkillDraft.objects.get().effective_on is None


def test_an_older_version_is_not_shown_with_the_planned_day(
    as_user: Callable[..., Client], study: Study, skill: Skill
) -> None:
    client = as_user("admin")
    send(client, skill, changed(), effective_on=day(study, 2))
    box = f'value="{day(study, 2)}"'
    assert box in page(client, skill)
    assert box not in page(client, skill, "?version=1")


def test_an_older_version_comes_back_as_a_new_one(
    as_user: Callable[..., Client], skill: Skill
) -> None:
    client = as_user("admin")
    send(client, skill, changed())
    shown = page(client, skill, "?version=1")
    assert "<del>Ended, review required</del>" in shown
    assert 'href="?version=1"' in shown
    send(client, skill, CONFIG)
    assert running(skill) == (3, CONFIG)


def test_a_draft_is_discarded_and_leaves_a_trail(
    as_user: Callable[..., Client], skill: Skill
) -> None:
    client = as_user("admin")
    send(client, skill, changed(), _draft="1")
    stale = form(client, skill) | {"config": json.dumps(CONFIG)}
    assert send(client, skill, {}, _discard="1").status_code == 302
    assert running(skill) == (1, CONFIG)
    assert not SkillDraft.objects.exists()
    trail = AuditEntry.objects.filter(action="skill.draft").order_by("number")
    assert [(one.old is None, one.new is None) for one in trail] == [(True, False), (False, True)]
    # Who read the page with the draft does not publish over what became of it.
    assert client.post(f"/admin/skills/skill/{skill.pk}/change/", stale).status_code == 200


def test_who_read_another_draft_neither_discards_nor_publishes_this_one(
    as_user: Callable[..., Client], skill: Skill
) -> None:
    """Two people have the page open; what the first keeps is not lost to the second, who is told."""
    client = as_user("admin")
    stale = form(client, skill) | {"config": json.dumps(CONFIG)}
    send(client, skill, changed(), _draft="1")
    address = f"/admin/skills/skill/{skill.pk}/change/"
    for more in ({"_discard": "1"}, {"_draft": "1"}, {}):
        told = client.post(address, stale | more, follow=True).content.decode()
        assert "Somebody has changed this workflow meanwhile" in told, more
    assert SkillDraft.objects.get().config == changed()
    assert running(skill) == (1, CONFIG)


def test_a_draft_that_came_between_check_and_write_is_kept(skill: Skill) -> None:
    seen = publish.keep_draft(
        skill=skill, config=changed(), effective_on=None, actor="first", seen=None
    ).saved_at
    mine = Skill.objects.get(pk=skill.pk)
    for write in (publish.publish, publish.discard_draft):
        with pytest.raises(SkillChanged):
            write(skill=mine, actor="second", seen=None)
    kept: dict[str, Any] = {"skill": mine, "config": CONFIG, "effective_on": None}
    with pytest.raises(SkillChanged):
        publish.keep_draft(**kept, actor="second", seen=None)
    assert SkillDraft.objects.get().author == "first"
    publish.publish(skill=mine, actor="second", seen=seen)
    assert not SkillDraft.objects.exists()


def test_a_draft_is_of_the_version_that_its_writer_read(study: Study, skill: Skill) -> None:
    """Another version came while the writer's page was checked: it is not taken for what they started from."""
    mine, theirs = Skill.objects.get(pk=skill.pk), Skill.objects.get(pk=skill.pk)
    theirs.config = {**CONFIG, "name": "theirs"}
    save_skill(skill=theirs, actor="other")
    today = clock.today(study.project.timezone)
    draft = publish.keep_draft(
        skill=mine, config=changed(), effective_on=today, actor="admin", seen=None
    )
    publish.publish_due(draft)
    assert running(skill) == (2, theirs.config)
    assert SkillDraft.objects.get().refused


def test_what_became_of_a_planned_version_counts_on_its_day(study: Study, skill: Skill) -> None:
    """The list of what is due is older than what is published: discarded, put off and written anew."""
    today = clock.today(study.project.timezone)
    kept: dict[str, Any] = {"skill": skill, "config": changed(), "actor": "admin"}
    draft = publish.keep_draft(**kept, effective_on=today, seen=None)
    [listed] = publish.due()
    publish.discard_draft(skill=skill, actor="admin", seen=draft.saved_at)
    publish.publish_due(listed)
    assert running(skill) == (1, CONFIG)
    draft = publish.keep_draft(**kept, effective_on=today + timedelta(days=1), seen=None)
    publish.publish_due(listed)
    assert running(skill) == (1, CONFIG)
    kept["config"] = {**CONFIG, "name": "later"}
    publish.keep_draft(**kept, effective_on=today, seen=draft.saved_at)
    publish.publish_due(listed)
    assert running(skill) == (2, kept["config"])


def test_who_cannot_edit_is_told_of_no_editing(
    as_user: Callable[..., Client], skill: Skill
) -> None:
    """What runs is told as such; a reader saves nothing and opens no version in an editor."""
    publish.publish(skill=skill, actor="admin", seen=None)
    publish.keep_draft(skill=skill, config=changed(), effective_on=None, actor="admin", seen=None)
    theirs = Skill.objects.get(pk=skill.pk)
    theirs.config = {**CONFIG, "name": "theirs"}
    save_skill(skill=theirs, actor="other")
    editing = (
        "Open this version in the editor", "until you save", "this can be saved",
        "read below what it would take back", "which runs</h3>", 'name="_save"',
    )  # fmt: skip
    shown, edited = page(as_user("wanghushi"), skill), page(as_user("admin"), skill)
    assert [text for text in editing if text in shown] == []
    assert [text for text in editing if text not in edited] == []
    assert "version 2, which you see here, goes on until the draft is published" in shown


@pytest.mark.parametrize("who", ["zhangyi", "wanghushi", "auditor"])
def test_only_the_administrator_keeps_a_draft(
    who: str, as_user: Callable[..., Client], skill: Skill
) -> None:
    client = as_user(who)
    assert 'name="_draft"' not in page(client, skill)
    for name in ("_draft", "_discard"):
        sent = client.post(f"/admin/skills/skill/{skill.pk}/change/", {name: "1", "config": "{}"})
        assert sent.status_code == 403
    assert not SkillDraft.objects.exists()


def test_a_new_workflow_opens_from_a_template_or_a_copy(
    as_user: Callable[..., Client], skill: Skill
) -> None:
    client, add = as_user("admin"), "/admin/skills/skill/add/"
    shown = client.get(add).content.decode()
    for name in ("qc_process", "qc_process_example", "visit_reminder"):
        assert f"{add}?template={name}" in shown
    assert "/admin/skills/skill/import/" in shown
    started = client.get(f"{add}?template=qc_process_example").content.decode()
    assert "history_check" in started
    copied = client.get(f"{add}?copy={skill.pk}").content.decode()
    assert 'value="qc_process:2"' in copied
    assert 'value="Draft (copy)"' in copied
    assert "年龄是否已核对?" in copied
    assert client.get(f"{add}?copy=no-uuid").status_code == 200


def test_a_new_workflow_is_kept_as_a_draft_that_is_off(
    as_user: Callable[..., Client], study: Study
) -> None:
    """Half of one could not be put aside; it was saved as a workflow that runs, or lost."""
    client = as_user("admin", "zh-hans")
    half = {"start_node": "tell", "nodes": {"tell": {"type": "notify"}}}
    given = {
        "project": str(study.project.pk), "skill_type": "qc_process:half", "name": "Half",
        "trigger_type": "event", "cron_schedule": "", "is_active": "on", "config": json.dumps(half),
        "versions-TOTAL_FORMS": "0", "versions-INITIAL_FORMS": "0",
    }  # fmt: skip
    assert 'name="_draft"' in client.get("/admin/skills/skill/add/").content.decode()
    assert client.post("/admin/skills/skill/add/", given).status_code == 200
    answer = client.post("/admin/skills/skill/add/", given | {"_draft": "1"})
    skill = Skill.objects.get(skill_type="qc_process:half")
    assert answer.url == f"/admin/skills/skill/{skill.pk}/change/"
    assert (skill.is_active, skill.version, skill.draft.config) == (False, 1, half)
    shown = page(client, skill)
    assert "流程处于停用状态" in shown
    assert json.loads(in_the_box(shown)) == half
    again = client.post("/admin/skills/skill/add/", given | {"_draft": "1"})
    assert again.status_code == 200
    assert Skill.objects.filter(skill_type="qc_process:half").count() == 1

    whole = changed() | {"event": "record_changed"}
    assert send(client, skill, whole, is_active="on").status_code == 302
    skill.refresh_from_db()
    assert (skill.is_active, skill.version, skill.config) == (True, 2, whole)
    assert not SkillDraft.objects.exists()


@pytest.mark.parametrize("config", ["[]", "3", "{"])
def test_what_is_no_configuration_is_no_draft(
    as_user: Callable[..., Client], study: Study, skill: Skill, config: str
) -> None:
    """A number raised an error while it was stored."""
    client = as_user("admin")
    sent = form(client, skill) | {"config": config, "_draft": "1"}
    answer = client.post(f"/admin/skills/skill/{skill.pk}/change/", sent)
    assert (answer.status_code, SkillDraft.objects.exists()) == (200, False)
    given = {
        "project": str(study.project.pk), "skill_type": "qc_process:half", "name": "Half",
        "trigger_type": "webhook", "cron_schedule": "", "config": config, "_draft": "1",
        "versions-TOTAL_FORMS": "0", "versions-INITIAL_FORMS": "0",
    }  # fmt: skip
    assert client.post("/admin/skills/skill/add/", given).status_code == 200
    assert not Skill.objects.filter(skill_type="qc_process:half").exists()
