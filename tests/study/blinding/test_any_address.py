"""A blinded PI and every door of the house: no page, list, search, filter, file or API call tells an arm.

The study has been worked with: a workflow that reads no blinded field has asked and found, one that reads the
arm has, too, and rows are left of the time when the study was open. Addresses are those that are registered.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client
from rest_framework.test import APIClient

from engines import sop
from engines.models import PendingAction, Review, TaskRun
from projects.models import Member
from study import sync
from study.blinding import services
from tests.api.conftest import login
from tests.engines.sop.kit import hard, human, new_skill
from tests.study.blinding import twins
from tests.study.blinding.conftest import Open
from tests.study.blinding.test_page import client
from tests.support.addresses import Address, addresses
from tests.support.quiet import quiet
from tests.support.study import Study

READER = "zhangyi"
RECORDS = ("P001", "P002", "P003")
ROUTES = addresses()
EACH = 3
# What these hold is the study's design and its documents, of no subject: words of it stand there.
DESIGN = ("/admin/study/dictionary/", "/admin/study/protocoldocument/")


def rule(field: str) -> dict[str, Any]:
    logic = {"==": [{"var": field}, "9"]}
    return {"id": f"R_{field}", "field": field, "logic": logic, "message": f"核对 {field}"}


def worked(study: Study, kind: str, field: str) -> list[TaskRun]:
    """Runs that found something and wait."""
    nodes = {"a": hard(rules=[rule(field)], on_fail="b"), "b": human()}
    skill = new_skill(study, nodes, kind=f"qc_process:{kind}")
    runs = []
    for record in RECORDS:
        run = sop.start(
            project=study.project, skill=skill, record_id=record, triggered_by="admin", wake=False
        )
        sop.drive(run.pk)
        run.refresh_from_db()
        runs.append(run)
    return runs


def live(open_twin: Open) -> Study:
    """A study that was opened, worked with, blinded and worked with again."""
    study = open_twin("a")
    sync.sweep(study.project)
    worked(study, "before", "arm")
    services.switch_on(project=study.project, fields=twins.fields(), actor="test")
    study.project.refresh_from_db()
    for member in study.members.values():
        member.project.refresh_from_db()
    worked(study, "arm", "arm")
    worked(study, "open", "medical_history_text")
    return study


@pytest.fixture
def lived(open_twin: Open) -> Iterator[Study]:
    with quiet():
        yield live(open_twin)


def keys(one: Address) -> list[object]:
    """Every row that an address could be about, the reader's or not."""
    if not one.parameters:
        return [""]
    if one.model is None:
        return [*RECORDS]
    return [*one.model._base_manager.order_by("pk").values_list("pk", flat=True)[:EACH]]


def body(answer: Any) -> str:
    if getattr(answer, "streaming", False):
        return b"".join(answer.streaming_content).decode("utf-8", "replace")
    return str(answer.content.decode("utf-8", "replace"))


def told(text: str) -> list[str]:
    return [word for word in twins.SECRETS if word.casefold() in text.casefold()]


@pytest.mark.full
def test_no_address_tells_an_arm(lived: Study) -> None:
    doors: dict[bool, Client | APIClient] = {True: login(READER), False: client(READER)}
    leaks, opened = [], 0
    for one in ROUTES:
        for key in keys(one):
            answer = doors[one.path.startswith("/api/")].get(one.of(key))
            opened += answer.status_code == 200
            words = told(body(answer))
            if one.path.startswith(DESIGN):
                words = [word for word in words if word == "KT-"]
            leaks += [(one.of(key), word) for word in words]
    assert leaks == [], "\n".join(map(str, leaks))
    assert opened > 100


@pytest.mark.full
def test_no_search_tells_who_has_what(lived: Study) -> None:
    """A search for a secret of the hidden rows finds what one for nothing finds."""
    browser, api = client(READER), login(READER)
    differ = []
    for one in ROUTES:
        if one.parameters or one.model not in {TaskRun, Review, PendingAction}:
            continue
        name = "search" if one.path.startswith("/api/") else "q"
        ask = api if one.path.startswith("/api/") else browser
        for word in ("试验组", twins.kit_of("P001", "a"), "R_arm"):
            answers = [
                body(ask.get(f"{one.path}?{urlencode({name: text})}")).replace(text, "")
                for text in (word, "Qx9")
            ]
            rows = [text.count("<tr") + text.count('"id"') for text in answers]
            if rows[0] != rows[1]:
                differ.append((one.path, name, word))
    assert differ == []


def test_what_rests_on_no_arm_is_seen_and_the_rest_is_as_if_it_were_not_there(
    lived: Study,
) -> None:
    browser = client(READER)
    hidden = {"qc_process:before", "qc_process:arm"}
    for model, name in ((TaskRun, "taskrun"), (Review, "review"), (PendingAction, "pendingaction")):
        path = "skill_type" if model is PendingAction else "skill__skill_type"
        path = f"task_run__{path}" if model is Review else path
        kinds = dict(model._base_manager.values_list("pk", path))
        assert hidden < {*kinds.values()}
        led = {
            pk: browser.get(f"/admin/engines/{name}/{pk}/change/").get("Location") for pk in kinds
        }
        lost = {kinds[pk] for pk, address in led.items() if address == "/admin/"}
        assert lost == hidden, name


@pytest.mark.full
def test_the_unblinded_are_told(lived: Study) -> None:
    """Else the tests above would find nothing because there is nothing."""
    services.choose_unblinded(
        project=lived.project, unblinded=[str(lived["wanghushi"].pk)], actor=lived["admin"].user
    )
    assert Member.objects.get(pk=lived["wanghushi"].pk).is_unblinded
    browser = client("wanghushi")
    found: set[str] = set()
    for one in ROUTES:
        if one.path.startswith("/admin/") and one.model in {TaskRun, Review, PendingAction}:
            for key in keys(one):
                found |= {*told(body(browser.get(one.of(key))))}
    assert {"试验组", "分组"} <= found
