"""Every list of the console takes its declared parameters and no other one, whatever it is called."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from html import unescape
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.admin import FieldListFilter, ModelAdmin
from django.contrib.admin.views.main import ALL_VAR, ORDER_VAR, PAGE_VAR, SEARCH_VAR
from django.contrib.auth.models import User
from django.db import models
from django.db.models.lookups import Transform
from django.http import HttpRequest, QueryDict
from django.test import Client
from django.urls import NoReverseMatch, reverse

from engines.models import TaskRun
from tests.house.kit import make_project
from tests.support import forms

PAGES = {model._meta.label: page for model, page in admin.site._registry.items()}
RUNS = PAGES["engines.TaskRun"]


def address(page: ModelAdmin[Any], name: str = "changelist") -> str:
    return reverse(f"admin:{page.opts.app_label}_{page.opts.model_name}_{name}")


@pytest.fixture
def root(db: None) -> Client:
    """A superuser sees every page; two studies, so that their filter has a choice."""
    make_project("ALPHA"), make_project("BETA")
    client = Client()
    user = User.objects.create_superuser("root", password="a-good-long-word")
    client.force_login(user, "django.contrib.auth.backends.ModelBackend")
    return client


def is_refused(client: Client, page: ModelAdmin[Any], query: str) -> bool:
    answer = client.get(f"{address(page)}?{query}")
    client.cookies.pop("messages", None)
    return (answer.status_code, answer.get("Location")) == (302, address(page))


@cache
def lookups(field: Any) -> tuple[str, ...]:
    """The lookups and transforms that Django knows of a column, and what a transform is compared by."""
    found = getattr(field, "get_lookups", dict)()
    after = [f"{name}__gte" for name, kind in found.items() if issubclass(kind, Transform)]
    return (*found, *after)


def spellings(model: type[models.Model]) -> set[str]:
    """Every column, every lookup of each kind of column, every column at the end of each relation."""
    found, kinds = {"pk", "pk__in", "pk__regex"}, set()
    for field in model._meta.get_fields():
        found |= {field.name, f"{field.name}__regex", f"{field.name}__in"}
        if type(field) not in kinds:
            kinds.add(type(field))
            found |= {f"{field.name}__{one}" for one in lookups(field)}
        if field.concrete and isinstance(field.related_model, type):
            far = field.related_model._meta.concrete_fields
            found |= {f"{field.name}__{one.name}__regex" for one in far}
    return found


def declared(page: ModelAdmin[Any], request: HttpRequest) -> set[str]:
    """What the filters of the page say that they take."""
    period = {f"{page.date_hierarchy}__{unit}" for unit in ("year", "month", "day")}
    found = {*page.linked_by, *(period if page.date_hierarchy else ())}  # type: ignore[attr-defined]
    for item in page.get_list_filter(request):
        if isinstance(item, type):
            found.add(item.parameter_name)  # type: ignore[attr-defined]
            continue
        name, kind = item if isinstance(item, tuple) else (item, FieldListFilter.create)
        field = page.model._meta.get_field(name)
        spec = kind(field, request, {}, page.model, page, field_path=name)  # type: ignore[call-arg]
        found.update(spec.expected_parameters())  # type: ignore[union-attr]
    return found


@pytest.mark.full
def test_no_lookup_passes_that_no_filter_declares(root: Client) -> None:
    """Asked of the views themselves: thousands of requests would take minutes."""
    passed = []
    for label, page in PAGES.items():
        request = root.get(address(page)).wsgi_request
        rest = spellings(page.model) - declared(page, request)
        assert len(rest) > 10, label
        for name in rest:
            request.GET = QueryDict(f"{name}=1")
            answer: Any = forms.listed(page, request)
            if (answer.status_code, answer.get("Location")) != (302, address(page)):
                passed.append((label, name))
    assert passed == []


COLUMNS = [
    (label, field.name)
    for label, page in PAGES.items()
    for field in page.model._meta.concrete_fields
]


@pytest.mark.full
def test_no_column_is_told_letter_by_letter(root: Client) -> None:
    """The same through the front door, for the lookup that tells most."""
    for label, column in COLUMNS:
        assert is_refused(root, PAGES[label], f"{column}__regex=["), (label, column)


STRANGE = [
    "x=1", "x=", "=1", "id=1&id=2", "id[regex]=a", "filter[id]=1", "id.regex=a", "id%5F%5Fregex=[",
    "%69d__regex=(a%2B)%2B%24", "ID__regex=a", "id__=1", "__id=1", "id____gt=0", "id %20=1", "q__regex=a",
    "_changelist_filters=id__regex%3Da", "_popup__x=1", "p__gt=1", "o__x=1", "e__x=1", "ord=-id",
    "order_by=password", "ordering=id", "search=a", "password=1", "user__password__startswith=md5",
    "project__redcap_det_secret__startswith=a", "project__in=1", "pk=1", "id__exact%00=1",
]  # fmt: skip


@pytest.mark.full
def test_no_spelling_passes(root: Client) -> None:
    for label in ("engines.TaskRun", "auth.User", "house.Heartbeat", "projects.AuditEntry"):
        for query in STRANGE:
            assert is_refused(root, PAGES[label], query), (label, query)
            assert is_refused(root, PAGES[label], f"e=1&q=a&_popup=1&{query}"), (label, query)


def test_who_is_refused_is_told(root: Client) -> None:
    text = root.get("/admin/memory/projectmemory/?content__regex=[", follow=True).content.decode()
    assert "content__regex" in text
    text = root.get("/admin/engines/review/?<b>" + "x" * 9000, follow=True).content.decode()
    assert "<b>x" not in text
    assert "x" * 70 not in text


@pytest.mark.full
def test_what_is_declared_passes(root: Client) -> None:
    for page in PAGES.values():
        request = root.get(address(page)).wsgi_request
        for query in declared_queries(page, request):
            answer = root.get(f"{address(page)}?{query}")
            assert answer.status_code == 200, (page, query, answer.get("Location"))


def declared_queries(page: ModelAdmin[Any], request: HttpRequest) -> Iterator[str]:
    yield f"{ORDER_VAR}=1&{PAGE_VAR}=1&{ALL_VAR}=&{SEARCH_VAR}=P002+a&_facets=True&e=1"
    yield f"{ORDER_VAR}=-1.2&_popup=1&_to_field={page.opts.pk.name}"
    for name in declared(page, request):
        if name.startswith(f"{page.date_hierarchy}__"):
            continue
        yield f"{name}=True" if name.endswith("__isnull") else f"{name}={value(page, name)}"
    if page.date_hierarchy:
        name = page.date_hierarchy
        yield f"{name}__year=2026"
        yield f"{name}__year=2026&{name}__month=7&{name}__day=1"


def value(page: ModelAdmin[Any], name: str) -> str:
    """One that the column could hold."""
    if name not in {field.name for field in page.model._meta.fields} and "__" not in name:
        return "run.start"
    field: Any = page.model._meta.get_field(name.partition("__")[0])
    if field.is_relation:
        return "00000000-0000-0000-0000-000000000000"
    return "1" if isinstance(field, models.BooleanField) else "a&" + f"{name}=b"


@pytest.mark.full
def test_every_link_of_the_console_is_answered(as_user: Any, run_a: TaskRun) -> None:
    client = as_user("admin")
    request = client.get("/admin/").wsgi_request
    lists = [address(page) for page in PAGES.values() if page.has_view_permission(request)]
    links: dict[tuple[str, ...], str] = {}
    for path in ["/admin/", *lists]:
        for link in re.findall(r'href="([^"#]*\?[^"]+)"', client.get(path).content.decode()):
            whole = unescape(link) if link[0] == "/" else path + unescape(link)
            address_, _mark, query = whole.partition("?")
            links[address_, *sorted(QueryDict(query))] = whole
    assert len(links) > 20
    assert [link for link in links.values() if client.get(link).status_code != 200] == []


@pytest.mark.full
def test_a_filter_with_one_choice_is_applied_all_the_same(
    as_user: Any, study: Any, run_a: TaskRun
) -> None:
    client = as_user("zhangyi")
    nil = "00000000-0000-0000-0000-000000000000"
    for pk, count in ((study.project.pk, 1), (nil, 0)):
        for name in ("project__id__exact", "batch__id__exact"):
            answer = client.get(f"{address(RUNS)}?{name}={pk}")
            wanted = count if name[0] == "p" else 0
            assert answer.context["cl"].result_count == wanted


WRONG = ["created_at__year=99999999999", "created_at__year=0", "created_at__year=1",
         "created_at__year=2026&created_at__month=13", "created_at__month=1",
         "created_at__year=2026&created_at__day=3", "created_at__year=2026&created_at__year=2025",
         "created_at__year=2026&created_at__gte=2025-01-01", "created_at__year=２０２６",
         "created_at__year=2026&created_at__lt=1", "q%00=1"]  # fmt: skip


def test_a_period_is_one_of_the_calendar(root: Client) -> None:
    assert [query for query in WRONG if not is_refused(root, RUNS, query)] == []


ODD_VALUES = ["a%00b", "[", "9" * 400, "-1", "'\"", "a," * 300]


@pytest.mark.full
def test_no_value_breaks_a_list(root: Client) -> None:
    for page in PAGES.values():
        request = root.get(address(page)).wsgi_request
        names = {*declared(page, request), ORDER_VAR, PAGE_VAR, SEARCH_VAR, ALL_VAR, "_facets"}
        for value in ODD_VALUES:
            for name in names:
                request.GET = QueryDict(f"{name}={value}")
                assert forms.listed(page, request).status_code in (200, 302), (name, value)
        many = "+".join(["a"] * 1500)
        assert root.get(f"{address(page)}?q={many}").status_code == 200


def exports() -> list[ModelAdmin[Any]]:
    found = []
    for page in PAGES.values():
        try:
            address(page, "export_list")
        except NoReverseMatch:
            continue
        found.append(page)
    return found


@pytest.mark.full
def test_an_export_refuses_as_its_list_does(root: Client) -> None:
    for page in exports():
        for query in ("pk__gt=0", "project__redcap_det_secret__startswith=a", "id__regex=["):
            answer = root.get(f"{address(page, 'export_list')}?{query}")
            assert (answer.status_code, answer.headers["Location"]) == (302, address(page))


def test_an_action_on_a_list_that_is_refused_does_nothing(as_user: Any, run_a: TaskRun) -> None:
    answer = as_user("admin").post(
        f"{address(RUNS)}?record_id__regex=a",
        {"action": "reject_review", "_selected_action": [str(run_a.pk)], "index": "0"},
    )
    assert (answer.status_code, answer.headers["Location"]) == (302, address(RUNS))


@pytest.mark.full
def test_a_search_for_a_choice_takes_any_text(root: Client) -> None:
    """The addresses that autocompleting boxes ask; none is drawn, all are there."""
    for page in PAGES.values():
        for field in page.model._meta.fields:
            for term in ("a", "%00", "+".join(["a"] * 1500)) if field.many_to_one else ():
                answer = root.get(
                    f"/admin/autocomplete/?app_label={page.opts.app_label}&term={term}"
                    f"&model_name={page.opts.model_name}&field_name={field.name}"
                )
                assert answer.status_code in (200, 403, 404)
