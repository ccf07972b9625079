"""The audit trail as people read it: words, seconds, links, and the check of its chain by a button."""

from __future__ import annotations

import csv
from collections.abc import Callable
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

import pytest
import time_machine
from django.db import connection
from django.http import QueryDict
from django.test import Client
from django.utils.html import strip_tags
from django.utils.translation import override
from playwright.sync_api import Page, expect

from core.house import audit_guard
from core.house.db import atomic
from projects import audit
from projects.models import AuditEntry
from projects.services import save_member
from skills.models import FieldMapping, Skill
from skills.services import save_mapping, switch
from study.admin import trail, trail_words
from tests.console.conftest import log_in
from tests.support.forms import listed
from tests.support.study import Study

LIST = "/admin/projects/auditentry/"
CHECK = f"{LIST}check/"


def newest(action: str) -> AuditEntry:
    found = AuditEntry.objects.filter(action=action).order_by("-number").first()
    assert found
    return found


def page_of(client: Client, entry: AuditEntry) -> str:
    return client.get(f"{LIST}{entry.pk}/change/").content.decode()


def tamper(**changed: Any) -> AuditEntry:
    """Somebody writes into the table past its triggers."""
    entry = AuditEntry.objects.filter(project__isnull=False).order_by("number")[1]
    audit_guard.remove(connection)
    try:
        AuditEntry.objects.filter(pk=entry.pk).update(**changed)
    finally:
        audit_guard.install(connection)
    return entry


def test_what_changed_is_told_in_words(as_user: Callable[..., Client], study: Study) -> None:
    skill = Skill.objects.filter(project=study.project).first()
    assert skill
    switch(skill=skill, is_active=False, actor="admin")
    entry = newest("skill.change")
    page = page_of(as_user("admin", "zh-hans"), entry)
    changes = page[page.index('data-test="changes"') :]
    row = changes[changes.index("启用") :]
    assert row.index("是") < row.index("否")
    assert "is_active" not in page
    assert f'href="/admin/skills/skill/{skill.pk}/change/"' in page


@pytest.mark.full
def test_a_mapping_shows_both_names(as_user: Callable[..., Client], study: Study) -> None:
    mapping = FieldMapping.objects.filter(project=study.project).first()
    assert mapping
    before, mapping.actual_name = mapping.actual_name, "ast"
    save_mapping(mapping=mapping, actor="admin")
    shown = strip_tags(as_user("admin").get(LIST).content.decode())
    assert f"REDCap field: {before} → ast" in shown


def test_a_row_that_is_gone_has_no_link(as_user: Callable[..., Client], study: Study) -> None:
    mapping = FieldMapping.objects.filter(project=study.project).first()
    assert mapping
    mapping.actual_name = "ast"
    save_mapping(mapping=mapping, actor="admin")
    pk = mapping.pk
    mapping.delete()
    assert f"/admin/skills/fieldmapping/{pk}/" not in page_of(
        as_user("admin"), newest("mapping.change")
    )


@pytest.mark.full
def test_times_have_seconds(as_user: Callable[..., Client], study: Study) -> None:
    at = datetime.fromisoformat("2026-11-23T08:15:42+08:00")
    with time_machine.travel(at, tick=False), atomic():
        audit.record("logout", actor="admin", project=study.project)
    client = as_user("admin")
    assert "2026-11-23 08:15:42" in client.get(LIST).content.decode()
    assert "2026-11-23 08:15:42" in page_of(client, newest("logout"))


def found_by(client: Client, words: str, **more: str) -> list[int]:
    page = client.get(LIST, {"q": words, **more})
    return [entry.number for entry in page.context["cl"].queryset]


@pytest.fixture
def lived(study: Study) -> Study:
    """A trail of several kinds, with a rating and a change of a member."""
    crc = study["crc_b"]
    crc.role = "AUDITOR"
    with atomic():
        save_member(member=crc, actor=study["admin"].user)
        vote = {"feedback": "thumbs_down", "reason": "too_long", "answer": ""}
        audit.record("wechat.rated", actor=study["zhangyi"], project=study.project, new=vote)
        moved = {"added": 2, "moved": {"P001": {"from": "site_a", "to": "site_b"}}}
        audit.record("roster.sync", actor="system", project=study.project, new=moved)
        rows = {"model": "pendingaction", "rows": 3, "filter": {}}
        audit.record("rows.export", actor="admin", project=study.project, new=rows)
    return study


@pytest.mark.full
@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_the_search_finds_every_word_that_the_list_shows(
    as_user: Callable[..., Client], lived: Study, language: str
) -> None:
    client = as_user("auditor", language)
    page = client.get(LIST)
    admin_page = page.context["cl"].model_admin
    with override(language):
        shown = {
            entry.number: [
                admin_page.show_actor(entry),
                admin_page.show_action(entry),
                *(word for pair in trail_words.changes_in_short(entry, most=120) for word in pair),
            ]
            for entry in page.context["cl"].queryset.order_by("-number")[:12]
        }
        words = {text: number for number, texts in shown.items() for text in texts}
        for text, number in words.items():
            for part in text.split(" → "):
                whole = part.strip().rstrip("…")
                if whole and '"' not in whole and len(whole.split()) <= 20:
                    # The page is not drawn for each word: what it would show is asked.
                    page.wsgi_request.GET = QueryDict(urlencode({"q": f'"{whole}"'}))
                    found = listed(admin_page, page.wsgi_request).context_data["cl"].queryset
                    assert number in {entry.number for entry in found}, whole
    assert found_by(client, "没有这样的词") == []


@pytest.mark.full
def test_changes_are_told_without_stored_words(
    as_user: Callable[..., Client], lived: Study
) -> None:
    client = as_user("auditor", "zh-hans")

    def changes(action: str) -> str:
        page = page_of(client, newest(action))
        table = page[page.index('data-test="changes"') :].partition("</table>")[0]
        return strip_tags(table[table.index(">") :])

    told = "".join(map(changes, ("wechat.rated", "rows.export", "member.change", "roster.sync")))
    for word in ("👎", "太长", "疑点", "稽查员", "site_b"):
        assert word in told, word
    for word in ("thumbs_down", "too_long", "pendingaction", "AUDITOR", "{", "}", "[]"):
        assert word not in told, word


def test_a_file_of_the_trail_holds_its_hashes(as_user: Callable[..., Client], lived: Study) -> None:
    client = as_user("auditor")
    answer: Any = client.get(f"{LIST}export/")
    text = b"".join(answer.streaming_content).decode("utf-8-sig")
    rows = [*csv.DictReader(text.splitlines())]
    assert rows
    entries = {entry.number: entry for entry in AuditEntry.objects.filter(project=lived.project)}
    assert {int(row["Number"]) for row in rows} <= {*entries}
    for row in rows:
        entry = entries[int(row["Number"])]
        assert (row["Hash"], row["Previous hash"], row["Chain"]) == (
            entry.hash,
            entry.previous,
            entry.chain,
        )


def check(client: Client, chain: str, **more: str) -> Any:
    return client.post(CHECK, {"chain": chain, **more})


def test_a_sound_chain_is_unbroken(as_user: Callable[..., Client], study: Study) -> None:
    chain = str(study.project.pk)
    answer = check(as_user("auditor"), chain)
    assert "Unbroken" in answer.content.decode()
    assert answer.context["done"] == AuditEntry.objects.filter(chain=chain).count()


@pytest.mark.full
@pytest.mark.parametrize("part", [1, 2, 3, 2000])
def test_the_parts_find_what_the_whole_finds(
    as_user: Callable[..., Client], study: Study, monkeypatch: pytest.MonkeyPatch, part: int
) -> None:
    monkeypatch.setattr(trail, "PART", part)
    entry = tamper(actor="somebody")
    client, first, faults, found = as_user("admin"), "1", "0", []
    while first != "0":
        answer = check(client, entry.chain, first=first, faults=faults)
        found += [number for number, _what in answer.context["faults"]]
        first, faults = str(answer.context["next"]), str(answer.context["fault_count"])
    assert found == [one.number for one in audit.verify() if one.chain == entry.chain]
    assert found == [entry.number]
    assert "Does not hold" in answer.content.decode()


@pytest.mark.parametrize("name", ["zhangyi", "wanghushi", "crc_b"])
def test_who_does_not_see_the_trail_checks_nothing(
    as_user: Callable[..., Client], study: Study, name: str
) -> None:
    client = as_user(name)
    assert client.get(CHECK).status_code == 403
    assert check(client, str(study.project.pk)).status_code == 403


def test_the_chain_of_the_house_is_for_superusers(
    as_user: Callable[..., Client], study: Study
) -> None:
    assert check(as_user("auditor"), audit.HOUSE).status_code == 403


@pytest.mark.browser
def test_a_long_check_goes_on_by_itself(
    page: Page, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trail, "PART", 5)
    log_in(page, study, "admin")
    page.goto(CHECK)
    page.get_by_role("button", name="检查").click()
    expect(page.locator("[data-test=checked]")).to_contain_text("链条完好")
    expect(page.locator("[data-test=checked] progress")).to_be_visible()
