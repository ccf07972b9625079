"""Field mappings proposed from the REDCap dictionary, ticked and stored (issue 3, Tools)."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from projects.models import AuditEntry, Member, Project
from skills.models import FieldMapping
from study.models import Dictionary
from tests.support.study import Study

pytestmark = pytest.mark.django_db
LIST = "/admin/skills/fieldmapping/"
PAGE = f"{LIST}propose/"


def offered(client: Client, **query: str) -> dict[str, str]:
    """{alias: field} of the table."""
    answer = client.get(PAGE, query)
    assert answer.status_code == 200
    rows = re.findall(
        r'name="alias" value="([^"]+)".*?iit-code-word">([^<]+)<',
        answer.content.decode(),
        re.DOTALL,
    )
    return {html.unescape(alias): field for alias, field in rows}


def store(client: Client, *aliases: str, project: str = "LUNG-IIT") -> str:
    answer = client.post(PAGE, {"project": project, "alias": aliases}, follow=True)
    return answer.content.decode() if answer.status_code == 200 else str(answer.status_code)


@pytest.mark.full
def test_what_is_ticked_is_stored_and_audited(as_user: Callable[..., Client], study: Study) -> None:
    client = as_user("admin")
    assert PAGE in client.get(LIST).content.decode()
    rows = offered(client)
    assert rows["gpt"] == "alt"
    before = FieldMapping.objects.count()

    page = store(client, "gpt", "体重")

    assert FieldMapping.objects.count() == before + 2
    assert FieldMapping.objects.get(alias_name="gpt").actual_name == "alt"
    entries = AuditEntry.objects.filter(action="mapping.change", actor="admin")
    assert {entry.new["alias"] for entry in entries} >= {"gpt", "体重"}
    assert "2 field mappings stored." in page
    assert not {"gpt", "体重"} & set(offered(client))


@pytest.mark.full
def test_what_is_not_proposed_is_not_stored(as_user: Callable[..., Client], study: Study) -> None:
    before = FieldMapping.objects.count()
    client = as_user("admin")
    store(client, "姓名", "no such name")
    assert FieldMapping.objects.count() == before
    assert "Nothing was ticked." in store(client)
    assert FieldMapping.objects.count() == before


def test_looking_stores_nothing(as_user: Callable[..., Client], study: Study) -> None:
    before = FieldMapping.objects.count()
    assert len(offered(as_user("admin"))) > 60
    assert FieldMapping.objects.count() == before


@pytest.mark.parametrize("who", ["zhangyi", "wanghushi", "crc_b", "auditor", "charlie"])
def test_only_an_administrator_of_the_study_comes_here(
    who: str, as_user: Callable[..., Client], study: Study
) -> None:
    before = FieldMapping.objects.count()
    client = as_user(who)
    assert client.get(PAGE).status_code == 403
    assert client.post(PAGE, {"project": "LUNG-IIT", "alias": "gpt"}).status_code == 403
    assert FieldMapping.objects.count() == before
    listed = client.get(LIST)
    assert listed.status_code == 403 or PAGE not in listed.content.decode()


@pytest.mark.full
def test_an_administrator_of_one_study_does_not_map_another(
    as_user: Callable[..., Client], study: Study
) -> None:
    other = Project.objects.create(code="OTHER-1", name="Another study", start_date="2026-01-01")
    Member.objects.create(project=other, person=study["zhangyi"].person, role="ADMIN")
    before = FieldMapping.objects.count()
    client = as_user("zhangyi")
    assert client.get(PAGE, {"project": "LUNG-IIT"}).status_code == 403
    assert client.post(PAGE, {"project": "LUNG-IIT", "alias": "gpt"}).status_code == 403
    assert client.get(PAGE, {"project": "NO-SUCH"}).status_code == 403
    page = client.get(PAGE).content.decode()
    offered = page.partition('data-test="switcher"')[2].partition("</form>")[2]
    assert "Another study" in offered
    assert study.project.name not in offered
    assert FieldMapping.objects.count() == before


@pytest.mark.full
def test_several_studies_are_chosen_from(as_user: Callable[..., Client], study: Study) -> None:
    Project.objects.create(code="OTHER-1", name="Another study", start_date="2026-01-01")
    root = study["admin"].user
    assert root is not None
    root.is_superuser = True
    root.save()
    client = as_user("admin")
    assert offered(client, project="LUNG-IIT")["gpt"] == "alt"
    page = client.get(PAGE, {"project": "OTHER-1"}).content.decode()
    assert 'role="alert"' in page, "this study has no REDCap"
    assert 'name="alias"' not in page


@pytest.mark.full
def test_a_redcap_that_is_away_leaves_the_last_dictionary(
    as_user: Callable[..., Client], study: Study
) -> None:
    study.stand_ins.fault("redcap", "status", 500, times=None)
    client = as_user("admin")
    assert offered(client)["gpt"] == "alt"
    assert 'role="alert"' in client.get(PAGE).content.decode()


@pytest.mark.full
def test_a_redcap_that_was_never_read_is_said(as_user: Callable[..., Client], study: Study) -> None:
    Dictionary.objects.all().delete()
    study.stand_ins.fault("redcap", "status", 500, times=None)
    client = as_user("admin")
    page = client.get(PAGE).content.decode()
    assert 'role="alert"' in page
    assert 'name="alias"' not in page
    assert "REDCap could not be read." in store(client, "gpt")
    assert not FieldMapping.objects.filter(alias_name="gpt").exists()


@pytest.mark.full
def test_nothing_left_to_propose(as_user: Callable[..., Client], study: Study) -> None:
    client = as_user("admin")
    store(client, *offered(client))
    page: Any = client.get(PAGE).content.decode()
    assert 'name="alias"' not in page
    assert "suggests no further name" in page
