"""What a reader typed comes back as typed, whether the gate knows it or not: else it told who is in a study."""

from __future__ import annotations

import json

import pytest
from django.contrib.auth.models import User
from django.test import Client

from engines.mcp_server import tools
from projects.models import ApiToken, Project
from study.models import Subject
from tests.engines.chat.kit import ask
from tests.engines.mcp.kit import token
from tests.support.study import Study

FIELD = "hospital_no"


@pytest.fixture
def numbers(study: Study) -> tuple[str, str]:
    """The hospital number of a subject of another site, and one of nobody."""
    rows = Subject.objects.filter(project=study.project, is_present=True)
    held = {json.loads(row.identifiers).get(FIELD, ""): row.site for row in rows}
    known = next(one for one, site in held.items() if one and site == "site_a")
    digits = (f"{known[:-1]}{last}" for last in range(10))
    return known, next(one for one in digits if one not in held)


@pytest.mark.parametrize("back", ["我刚才问了什么?", "你还记得我刚才说了什么吗"])
@pytest.mark.parametrize("question", ["{}的ALT是多少", "{}咋样呀"])
def test_the_last_question_is_told_as_typed(
    numbers: tuple[str, str], question: str, back: str
) -> None:
    told = []
    for number in numbers:
        ask("crc_b", question.format(number))
        once = ask("crc_b", back).text
        assert number in once
        told.append([text.replace(number, "X") for text in (once, ask("crc_b", "再说一遍").text)])
    assert told[0] == told[1]


@pytest.mark.full
@pytest.mark.parametrize("limit", [0, 5])
def test_a_refusal_of_a_program_holds_its_words(
    study: Study, numbers: tuple[str, str], limit: int
) -> None:
    Project.objects.update(small_cell=limit)
    token("crc_b")
    mine = ApiToken.objects.select_related("user").latest("created_at")
    told = []
    for number in numbers:
        asked = {"aggregate": "count", "by": [number]}
        refused = [
            tools.call(mine, "query_study", asked),
            tools.call(mine, "query_study", {"aggregate": "count", number: 1}),
            tools.call(mine, "check_visit_window", {"record_id": "P005", "visit": number}),
        ]
        assert all(one.is_error for one in refused)
        assert number in refused[0].text
        told.append([one.text.replace(number, "X") for one in refused])
    assert told[0] == told[1]


@pytest.mark.full
def test_what_would_be_sent_is_shown_to_who_sees_all_sites(study: Study) -> None:
    client = Client()
    client.force_login(
        User.objects.get(username="admin"),
        backend="django.contrib.auth.backends.ModelBackend",
    )
    assert client.get("/admin/what-would-be-sent/").status_code == 200
    admin = study["admin"]
    admin.site = "site_b"
    admin.save(update_fields=["site"])
    assert client.get("/admin/what-would-be-sent/").status_code == 404
