"""Parts of fields, reference ranges and synonyms: proposed by the dictionary, refused where they are typed."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client

from projects.models import AuditEntry
from study.design import design_of
from study.models import FieldRole, ReferenceLimit, Synonym
from tests.support.study import Study

ROLES, RANGES, WORDS = (f"/admin/study/{n}/" for n in ("fieldrole", "referencelimit", "synonym"))


def add(client: Client, url: str, study: Study, **fields: Any) -> Any:
    return client.post(f"{url}add/", {"project": str(study.project.pk), **fields}, follow=True)


def nothing_stored() -> bool:
    return not any(model.objects.exists() for model in (FieldRole, ReferenceLimit, Synonym))


@pytest.mark.full
def test_the_dictionary_proposes_and_what_is_ticked_is_kept(
    study: Study, as_user: Callable[..., Client]
) -> None:
    client = as_user("admin")
    page = client.get(f"{RANGES}propose/").content.decode()
    assert "alt [ ~ 40]" in page
    assert "tbil [ ~ tbil_uln]" in page
    ticked = [
        str(row) for row in client.get(f"{RANGES}propose/").context["rows"] if row.field == "alt"
    ]
    client.post(f"{RANGES}propose/", {"project": study.project.code, "row": ticked})

    kept = ReferenceLimit.objects.get()
    assert (kept.field, kept.low, kept.high) == ("alt", None, Decimal(40))
    entry = AuditEntry.objects.filter(action="study.setting").get()
    assert (entry.actor, entry.new["field"]) == ("admin", "alt")
    assert "alt [ ~ 40]" not in client.get(f"{RANGES}propose/").content.decode()


@pytest.mark.full
def test_what_is_stored_wins_over_the_proposal(
    study: Study, as_user: Callable[..., Client]
) -> None:
    assert design_of(study.project).form_dates["ae"] == "ae_start"
    add(as_user("admin"), ROLES, study, role="form_date", of="ae", field="ae_end")
    assert design_of(study.project).form_dates["ae"] == "ae_end"
    add(as_user("admin"), RANGES, study, field="alt", high="50")
    assert [row.high for row in design_of(study.project).ranges["alt"]] == [Decimal(50)]


@pytest.mark.parametrize(
    ("url", "fields", "near"),
    [
        (ROLES, {"role": "sex", "field": "sexx"}, "sex"),
        (ROLES, {"role": "form_date", "of": "labz", "field": "lab_date"}, "labs"),
        (ROLES, {"role": "unit", "of": "glucos", "field": "glucose_unit"}, "glucose"),
        (ROLES, {"role": "completed", "of": "55", "field": "subject_status"}, "5"),
        (RANGES, {"field": "altt", "high": "40"}, "alt"),
        (RANGES, {"field": "tbil", "high_field": "tbil_uln1"}, "tbil_uln"),
        (WORDS, {"word": "肝酶", "meaning": "altt"}, "alt"),
        (WORDS, {"word": "重", "meaning": "ae_serius=1"}, "ae_serious"),
    ],
)
def test_a_name_redcap_does_not_know_is_refused_with_the_nearest(
    study: Study, as_user: Callable[..., Client], url: str, fields: dict[str, str], near: str
) -> None:
    told = add(as_user("admin"), url, study, **fields)
    (message,) = (text for texts in told.context["errors"] for text in texts)
    assert near in str(message).partition("Nearest")[2]
    assert nothing_stored()


@pytest.mark.parametrize(
    ("url", "fields"),
    [
        (RANGES, {"field": "alt"}),
        (RANGES, {"field": "alt", "low": "50", "high": "40"}),
        (RANGES, {"field": "tbil", "high": "1", "high_field": "tbil_uln"}),
        (ROLES, {"role": "form_date", "field": "lab_date"}),
        (ROLES, {"role": "sex", "of": "labs", "field": "sex"}),
        (ROLES, {"role": "completed", "field": "subject_status"}),
        (ROLES, {"role": "completed", "of": "1", "field": "alt"}),
    ],
)
def test_a_contradiction_is_refused(
    study: Study, as_user: Callable[..., Client], url: str, fields: dict[str, str]
) -> None:
    assert add(as_user("admin"), url, study, **fields).context["errors"]
    assert nothing_stored()


@pytest.mark.full
def test_a_word_of_the_study_is_kept_with_who_added_it_and_taken_away(
    study: Study, as_user: Callable[..., Client]
) -> None:
    client = as_user("admin")
    add(client, WORDS, study, word="肝酶", meaning="alt")
    word = Synonym.objects.get()
    assert (word.word, word.meaning, word.added_by) == ("肝酶", "alt", "admin")
    client.post(f"{WORDS}{word.pk}/delete/", {"post": "yes"})
    assert not Synonym.objects.exists()
    last = AuditEntry.objects.filter(action="study.setting").latest("at")
    assert (last.old["word"], last.new) == ("肝酶", None)


@pytest.mark.parametrize("name", ["zhangyi", "wanghushi", "auditor", "charlie"])
@pytest.mark.parametrize("url", [ROLES, RANGES, WORDS])
def test_others_change_nothing(
    study: Study, as_user: Callable[..., Client], name: str, url: str
) -> None:
    client = as_user(name)
    assert client.get(f"{url}add/").status_code == 403
    assert client.get(f"{url}propose/").status_code in {302, 403, 404}
    assert client.post(f"{url}propose/", {"row": ["x"]}).status_code in {302, 403, 404}


@pytest.mark.full
def test_the_page_is_chinese_and_says_when_there_is_nothing(
    study: Study, as_user: Callable[..., Client]
) -> None:
    client = as_user("admin", "zh-hans")
    page = client.get(f"{ROLES}propose/")
    client.post(f"{ROLES}propose/", {"row": [str(row) for row in page.context["rows"]]})
    page = client.get(f"{ROLES}propose/").content.decode()
    assert "数据字典没有更多建议" in page
    assert FieldRole.objects.filter(role="birth", field="birth_date").exists()
    assert FieldRole.objects.get(role="completed", of="5").field == "subject_status"
