"""A Chinese page speaks Chinese: no code of a field, no key of a node, no name of a constraint, no English.

Every page that a person opens, what forms answer to what is wrong, and the history of a row. Latin words are
allowed where people typed them, where they are marked as code, and where they are proper names (PROPER).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from core.llm.models import LlmUsage, ModelAcceptance
from engines import sop
from memory.models import ProjectMemory
from projects.models import Member, Project
from skills.models import FieldMapping, Skill
from study.models import Dictionary, ProtocolDocument, Subject
from tests.support import addresses, foreign, forms, latin
from tests.support.foreign import House
from tests.support.quiet import quiet

WHO = ("admin", "wanghushi", "zhangyi", "watcher")
PAGES = addresses.console_pages()
# Names of products, formats and standards, and how the trade writes roles and units in Chinese too.
PROPER = {
    *(
        "IIT",
        "Manager",
        "REDCap",
        "Dify",
        "WeCom",
        "Redis",
        "SQLite",
        "PostgreSQL",
        "Mac",
        "English",
    ),
    *(
        "API",
        "CSV",
        "XLSX",
        "DOCX",
        "PDF",
        "TXT",
        "Word",
        "ICS",
        "JSON",
        "Schema",
        "Markdown",
        "UTF-8",
        "GB18030",
        "IP",
        "AES",
        "DET",
    ),
    *("Token", "userid", "ID", "URL", "LDAP", "Day", "Cron", "CRC", "PI", "SOP", "LLM", "MB", "KB"),
    *("Esc", "DATABASE_URL", "REDIS_URL", "MCP", "Secret"),
}
# Names of several words, which are none of ours one by one.
PHRASES = ("Data Quality API", "Bot ID")


@pytest.fixture
def house(study: Any) -> Iterator[House]:
    """A row of every table, a subject checked by a workflow of the study. The log would be full of refusals."""
    with quiet():
        found = foreign.build(study)
        _check(found.alpha, "P002")
        yield found


def _check(project: Project, record_id: str) -> None:
    skill = Skill.objects.get(project=project, skill_type="qc_process")
    run = sop.start(
        project=project, skill=skill, record_id=record_id, triggered_by="command", wake=False
    )
    sop.drive(run.pk)


def names(project: Project) -> set[str]:
    """What the study calls its fields, forms and events."""
    content = Dictionary.objects.get(project=project).content
    columns = {
        name for one in content["metadata"] for name in (one["field_name"], one["form_name"])
    }
    return columns | {one["unique_event_name"] for one in content["events"]}


def typed(project: Project) -> set[str]:
    """What people typed, here and in REDCap."""
    content = Dictionary.objects.get(project=project).content
    return {
        *User.objects.values_list("username", flat=True),
        *Member.objects.values_list("display_name", flat=True),
        *Subject.objects.values_list("site", flat=True),
        *Skill.objects.values_list("name", flat=True),
        *ProtocolDocument.objects.values_list("name", flat=True),
        *FieldMapping.objects.values_list("alias_name", flat=True),
        *LlmUsage.objects.values_list("model", flat=True),
        *(
            endpoint["model"]
            for one in ModelAcceptance.objects.all()
            for endpoint in one.endpoints.values()
        ),
        *ProjectMemory.objects.values_list("content", flat=True),
        *(one["field_label"] for one in content["metadata"]),
        *(one["select_choices_or_calculations"] for one in content["metadata"]),
        *(one["field_note"] for one in content["metadata"]),  # units
        "note Note",  # what a canary's entry of the trail changed
        *(one["instrument_label"] for one in content["instruments"]),
        *(one["event_name"] for one in content["events"]),
        *(
            value
            for one in Project.objects.all()
            for value in (one.code, one.name, one.registration_no)
        ),
    }


class Reader:
    """Finds the words of a page that nobody typed and that are no proper names."""

    def __init__(self, project: Project, *, answers: bool = False) -> None:
        """`answers`: to names that somebody typed, with the names of the study that come nearest."""
        known = {word for text in typed(project) for word in latin.words(latin.without_codes(text))}
        self._names = names(project)
        self._known = PROPER | known | (self._names if answers else set())

    def faults(self, html: str) -> set[tuple[str, str]]:
        """(word, the text it stands in)."""
        return {
            (word, " ".join(text.split())[:80])
            for text, in_choice in latin.shown(html)
            for word in latin.words(latin.without_codes(_without_phrases(text)))
            if word not in self._known and not (in_choice and word in self._names)
        }


def _without_phrases(text: str) -> str:
    for name in PHRASES:
        text = text.replace(name, " ")
    return text


def paths(house: House, name: str) -> Iterator[str]:
    """The addresses of the console that a person may try, with a row where they want one."""
    for one in PAGES:
        if not one.parameters:
            yield one.path
        elif one.model in house.canaries.rows:
            rows = house.canaries.rows[one.model]
            own = foreign.some(rows, {*rows} if name == "admin" else foreign.allowed(name), name)
            yield from (one.of(row.pk) for row in own[:1])


def chinese(house: House, name: str) -> Client:
    client = house.client(name)
    client.cookies["django_language"] = "zh-hans"
    client.raise_request_exception = False
    return client


@pytest.mark.parametrize("name", WHO)
def test_every_page_is_chinese(name: str, house: House) -> None:
    client, reader = chinese(house, name), Reader(house.alpha)
    found: dict[tuple[str, str], str] = {}
    for path in paths(house, name):
        reply = client.get(path)
        if reply.status_code == 200 and reply.headers["Content-Type"].startswith("text/html"):
            for fault in reader.faults(reply.content.decode()):
                found.setdefault(fault, path)
    told = [f"{word}: {text} ({path})" for (word, text), path in sorted(found.items())]
    assert told == [], "\n" + "\n".join(told)


# No number, no date, no choice, and longer than any text that has a limit.
WRONG = "错" * 1100
SHORT = {
    **dict.fromkeys(("password1", "password2", "new_password1", "new_password2"), "短"),
    "old_password": "错",
    "username": "新人",
    "usable_password": "true",
}


def sent_by_mistake(shown: dict[str, Any], names: list[str]) -> Iterator[dict[str, Any]]:
    """What a form is sent: as another row has it, emptied, and filled with what none of its fields takes."""
    kept = {name: value for name, value in shown.items() if name not in names}
    yield shown
    yield kept
    yield kept | dict.fromkeys(names, WRONG)


@pytest.mark.full
def test_what_is_refused_and_what_was_changed_is_told_in_chinese(house: House) -> None:
    """Texts beside fields, and the history of a row of which one column was changed."""
    client, reader = chinese(house, "admin"), Reader(house.alpha, answers=True)
    request = client.get("/admin/login/").wsgi_request
    found: dict[tuple[str, str], str] = {}
    refused, noted = set(), set()

    def read(path: str, reply: Any) -> None:
        if reply.status_code == 200 and reply.headers["Content-Type"].startswith("text/html"):
            for fault in reader.faults(reply.content.decode()):
                found.setdefault(fault, path)

    for model, page in forms.pages().items():
        row = next(iter(house.canaries.rows.get(model, {}).values()), None)
        context = forms.form_of(page, request, row.pk) if row else {}
        if not context:
            continue
        info = f"/admin/{model._meta.app_label}/{model._meta.model_name}"
        shown, names = forms.sent(context), [one.html_name for one in context["adminform"].form]
        for path in (f"{info}/add/", f"{info}/{row.pk}/change/"):
            for sent in sent_by_mistake(shown, names):
                reply = client.post(path, sent)
                read(path, reply)
                if reply.status_code == 200:
                    refused.add(model)
        path = f"{info}/{row.pk}/change/"
        context = forms.form_of(page, request, row.pk)  # what was sent may have been saved
        saved = (client.post(path, sent).status_code == 302 for sent in forms.edited(context))
        if any(saved):
            noted.add(model)
            read(path, client.get(f"{info}/{row.pk}/history/"))
    for path in ("/admin/password_change/", "/admin/auth/user/add/"):
        read(path, client.post(path, SHORT))
    assert len(refused) > 5
    assert {Skill, Member} <= noted
    told = [f"{word}: {text} ({path})" for (word, text), path in sorted(found.items())]
    assert told == [], "\n" + "\n".join(told)
