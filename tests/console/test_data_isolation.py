"""Every address of the console for every kind of person: nothing foreign is shown, told apart, or written.

Addresses, pages, forms, actions and filters are those that are registered: a new one is tried by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import Any
from urllib.parse import urlencode

import pytest
from django.apps import apps
from django.contrib.admin import FieldListFilter
from django.contrib.admin.views.main import SEARCH_VAR
from django.http import QueryDict

from engines.models import OpenQuestion
from projects.models import ApiToken
from tests.support import addresses, contents, foreign, forms
from tests.support.addresses import Address
from tests.support.answers import Answer, absent
from tests.support.canaries import HOUSE, Kind
from tests.support.foreign import IDENTITIES, PEOPLE, House, allowed
from tests.support.quiet import quiet

ROUTES = [one for one in addresses.addresses() if not one.path.startswith("/api/")]
OF_A_ROW = [one for one in ROUTES if one.parameters]
OF_NONE = [one for one in ROUTES if not one.parameters]
PAGES = forms.pages()
ROOT = "admin"
# Their rows are a log-in's and not a place's.
# An open question is a trace: its rows are opened as AgentTrace.
WITHOUT_ROWS = {ApiToken, OpenQuestion}
# So many are enough for one that can be saved: the test of what is sent says so.
CHANGES = 2
CONFIRMED = {
    "post": "yes",
    "approve": "1",
    "decision": "approve",
    "reason": "because",
    "version": "1",
    "password1": "a-good-long-word",
    "password2": "a-good-long-word",
}


@pytest.fixture
def house(study: Any) -> Iterator[House]:
    """The log would be full of refusals."""
    with quiet():
        yield foreign.build(study)


def address(model: Kind, name: str) -> Address:
    wanted = f"{model._meta.app_label}_{model._meta.model_name}_{name}"
    return next(one for one in ROUTES if one.name == wanted)


def own_keys(house: House, name: str, one: Address) -> list[object]:
    """What of one's own an address is opened with: a row of each place for a row's page, one for others."""
    if not one.parameters:
        return [""]
    if one.model is None:
        return [app.label for app in apps.get_app_configs()] if one.name == "app_list" else []
    rows = foreign.some(house.canaries.rows[one.model], allowed(name), name)
    return [row.pk for row in (rows if one.name.endswith("_change") else rows[:1])]


@pytest.mark.full
@pytest.mark.each_person
@pytest.mark.parametrize("name", IDENTITIES)
def test_a_person_meets_what_is_theirs_and_nothing_else(name: str, house: House) -> None:
    client, forbidden = house.client(name), house.forbidden(name)
    leaks: list[Any] = []
    met: set[str] = set()
    opened: set[Kind | None] = set()
    for one in ROUTES:
        for key in own_keys(house, name, one):
            answer = Answer.of(client.get(one.of(key)))
            leaks += [(one.path, found) for found in set(forbidden.findall(answer.text))]
            met |= house.met(answer.body)
            if one.name.endswith("_change") and one.parameters and answer.leads_to_a_row:
                opened.add(one.model)
    assert leaks == []
    assert met == allowed(name)
    request = client.get("/admin/").wsgi_request
    lists = {model for model, page in PAGES.items() if page.has_view_permission(request)}
    assert {*PAGES} >= lists >= opened
    assert lists - opened <= WITHOUT_ROWS, "what a list shows must open"
    closed = [address(model, "changelist").path for model in PAGES if model not in lists]
    assert {client.get(path).status_code for path in closed} <= {403}


def sent_by_root(house: House, one: Address, row: Any) -> list[dict[str, Any]]:
    """What somebody who may do everything sends from the row's page, with a few changes one by one."""
    if not one.name.endswith("_change") or one.model is None:
        return [CONFIRMED | foreign.shown_with(row)]
    request = house.client(ROOT).get("/admin/login/").wsgi_request
    context = forms.form_of(PAGES[one.model], request, row.pk)
    return [CONFIRMED | each for each in islice(forms.edited(context), CHANGES)] or [CONFIRMED]


@pytest.mark.full
@pytest.mark.each_person
@pytest.mark.parametrize("name", IDENTITIES)
def test_a_foreign_row_reads_and_writes_like_one_that_is_not_there(name: str, house: House) -> None:
    _own, _root = house.client(name), house.client(ROOT)
    before = contents.snapshot()
    told: list[Any] = []
    for one in OF_A_ROW:
        gone: dict[tuple[str, type], Answer] = {}
        for mark, row in foreign.targets(house, name, one):
            sends = [("get", {}), *(("post", sent) for sent in sent_by_root(house, one, row))]
            for method, sent in sends:
                there = Answer.of(house.ask(name, method, one.of(row.pk), sent), row.pk)
                none = absent(row.pk)
                if (method, type(none)) not in gone:
                    reply = house.ask(name, method, one.of(none), sent)
                    gone[method, type(none)] = Answer.of(reply, none)
                told += there.unlike(gone[method, type(none)], method, one.path, mark)
    assert told == [], "\n".join(map(str, told[:40]))
    assert contents.changed(before) == {}


@pytest.mark.full
def test_what_is_sent_to_a_foreign_row_writes_where_somebody_may(house: House) -> None:
    """Else the test above would send what nobody could do anything with."""
    request = house.client(ROOT).get("/admin/login/").wsgi_request
    wanted = {one.path for one in OF_A_ROW if one.model and would_write(house, one, request)}
    idle = {one.path for one in OF_A_ROW if one.path in wanted and not written(house, one)}
    assert idle == set()


def would_write(house: House, one: Address, request: Any) -> bool:
    """Pages that change or delete what root may change or delete, and all that take a POST beside them."""
    assert one.model
    row = next(iter(house.canaries.rows[one.model].values()))
    kinds = ("change", "delete", "history") if one.model in PAGES else ()
    match {address(one.model, kind): kind for kind in kinds}.get(one):
        case "change":
            return bool(PAGES[one.model].has_change_permission(request, row))
        case "delete":
            context = house.ask(ROOT, "get", one.of(row.pk)).context or {}
            return context.get("protected") == []
        case "history":
            return False
    return bool(one.name) and house.ask(ROOT, "post", one.of(absent(row.pk)), {}).status_code != 405


def written(house: House, one: Address) -> bool:
    """Whether anybody's POST to any row of the address writes something."""
    house.clients.clear()  # what was taken back may have been a log-in's new session
    return any(
        contents.writes(partial(house.ask, name, "post", one.of(row.pk), sent))
        for row in (house.canaries.rows[one.model].values() if one.model else ())
        for sent in sent_by_root(house, one, row)
        for name in (ROOT, *PEOPLE)
    )


@pytest.mark.full
@pytest.mark.each_person
@pytest.mark.parametrize("name", IDENTITIES)
def test_a_foreign_value_reads_like_one_that_is_not_there(name: str, house: House) -> None:
    """In actions, and in whatever an address takes that is no list."""
    client, before = house.client(name), contents.snapshot()
    request = client.get("/admin/login/").wsgi_request
    told: list[Any] = []

    def compare(method: str, path: str, there: dict[str, Any], gone: dict[str, Any]) -> None:
        mine = Answer.of(house.ask(name, method, path, there), *flat(there))
        theirs = Answer.of(house.ask(name, method, path, gone), *flat(gone))
        told.extend(mine.unlike(theirs, method, path, str(there)[:200]))

    far = foreign.far(house, name)
    for mark in far:
        there, gone = foreign.named(house, mark), foreign.nowhere(house, mark)
        for one in OF_NONE:
            if not one.name.endswith(("_changelist", "_add", "_export_list", "_export_book")):
                compare("get", one.path, there, gone)
                compare("post", one.path, there, gone)
    for model, page in PAGES.items():
        path = address(model, "changelist").path
        if not page.has_view_permission(request):
            assert client.get(path).status_code == 403, path
            continue
        keys = [row.pk for row in foreign.foreign_rows(house, name, model).values()]
        none = [absent(key) for key in keys]
        for action in {*page.get_actions(request), *map(str, page.actions)} if keys else ():
            ticked = {"action": action, "post": "yes", "index": "0"}
            there, gone = ({**ticked, "_selected_action": each} for each in (keys, none))
            compare("post", path, there, gone)
    assert told == [], "\n".join(map(str, told[:40]))
    assert contents.changed(before) == {}


def flat(sent: dict[str, Any]) -> list[Any]:
    found = []
    for name, value in sent.items():
        if name not in ("action", "post", "index"):
            found += value if isinstance(value, list) else [value]
    return found


@pytest.mark.full
@pytest.mark.each_person
@pytest.mark.parametrize("name", IDENTITIES)
def test_a_filter_tells_nothing_of_foreign_rows(name: str, house: House) -> None:
    """What only foreign rows hold, filtered by or searched for, finds what a value of no row finds.

    The page is not drawn: what it would show is compared.
    """
    request = house.client(name).get("/admin/login/").wsgi_request
    told, tried = [], 0

    def listed(page: Any, parameter: str, value: object) -> Any:
        request.GET = QueryDict(urlencode({parameter: value}))
        reply = forms.listed(page, request)
        if not hasattr(reply, "context_data"):
            return reply.status_code, reply.get("Location"), reply.content
        shown = reply.context_data["cl"]
        choices = [[each["display"] for each in one.choices(shown)] for one in shown.filter_specs]
        return [row.pk for row in shown.result_list], shown.result_count, choices

    for page in PAGES.values():
        if page.has_view_permission(request):
            words = [(SEARCH_VAR, foreign.far(house, name)[-1])] if page.search_fields else []
            for parameter, value in [*words, *filters(page, request, house, name)]:
                tried += 1
                if listed(page, parameter, value) != listed(page, parameter, absent(value)):
                    told.append((page.model.__name__, parameter, value))
    assert told == []
    assert tried or name == "stranger"


def filters(page: Any, request: Any, house: House, name: str) -> Iterator[tuple[str, Any]]:
    """The parameters of the page's filters, each with a value that only foreign rows hold."""
    rows = house.canaries.rows[page.model]
    for item in page.get_list_filter(request):
        if isinstance(item, type) or hasattr(item, "parameter_name"):
            continue
        column, kind = item if isinstance(item, tuple) else (item, FieldListFilter.create)
        field = page.model._meta.get_field(column)
        held = {getattr(row, field.attname) for mark, row in rows.items() if mark in allowed(name)}
        there = [getattr(row, field.attname) for row in rows.values()]
        apart = [one for one in there if one not in {*held, None, ""} and not field.choices]
        spec = kind(field, request, {}, page.model, page, field_path=column)
        for parameter in spec.expected_parameters() if apart else ():
            if not parameter.endswith("__isnull"):
                yield parameter, apart[-1]


@pytest.mark.each_person
@pytest.mark.parametrize("name", IDENTITIES)
def test_a_foreign_key_in_ones_own_form_is_refused(name: str, house: House) -> None:
    """In a new row's form, in that of a row of one's own, and in their inlines."""
    request = house.client(name).get("/admin/login/").wsgi_request
    before = contents.snapshot()
    told: list[Any] = []
    for model, page in PAGES.items():
        for path, key in own_forms(house, name, model):
            context = forms.form_of(page, request, key)
            shown = forms.sent(context)
            for field, table in forms.keys(context):
                for mark, row in foreign.foreign_rows(house, name, table).items():
                    if mark != HOUSE:
                        told += tried_key(house, name, path, shown, field, row.pk)
    assert told == [], "\n".join(map(str, told[:40]))
    assert contents.changed(before) == {}


def own_forms(house: House, name: str, model: Kind) -> Iterator[tuple[str, Any]]:
    yield address(model, "add").path, None
    for row in foreign.some(house.canaries.rows[model], allowed(name), name)[:1]:
        yield address(model, "change").of(row.pk), row.pk


def tried_key(
    house: House, name: str, path: str, shown: dict[str, Any], field: str, key: Any
) -> list[Any]:
    """[what is told apart] when a form's field holds a foreign key, and one that no row has."""
    there, gone = shown | {field: key}, shown | {field: absent(key)}
    mine = Answer.of(house.ask(name, "post", path, there), key)
    theirs = Answer.of(house.ask(name, "post", path, gone), absent(key))
    return mine.unlike(theirs, path, field, str(key))
