"""The console's forms as a browser would send them, without any page being drawn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.forms import (
    BooleanField,
    CharField,
    ChoiceField,
    DecimalField,
    IntegerField,
    ModelChoiceField,
)
from django.http import HttpRequest

from core.house.request_cache import RequestCache
from tests.support.canaries import Kind


def pages() -> dict[Kind, Any]:
    """The console's page of each table."""
    return dict(admin.site._registry)


def listed(page: Any, request: HttpRequest) -> Any:
    """What the list of a table answers, not drawn."""
    return RequestCache(page.changelist_view)(request)


def form_of(page: Any, request: HttpRequest, key: object = None) -> dict[str, Any]:
    """What the page of a row (of a new one) is drawn with; {} where nothing opens or can be saved."""
    row = None if key is None else str(key)
    try:
        reply = RequestCache(lambda asked: page.changeform_view(asked, row))(request)
    except PermissionDenied:
        return {}
    context: dict[str, Any] = getattr(reply, "context_data", None) or {}
    return context if "adminform" in context and context["adminform"].form.fields else {}


def sent(context: dict[str, Any]) -> dict[str, Any]:
    """What is sent when the page is saved as it is shown."""
    found: dict[str, Any] = {}
    for form in _forms(context):
        found |= _typed(form)
    return {name: value for name, value in found.items() if value not in (None, "")}


def edited(context: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What is sent when one column of the row is changed, for each column that can hold something else."""
    shown = sent(context)
    for bound in context["adminform"].form if context else ():
        value = _other(bound.field, shown.get(bound.html_name))
        if value is not None and not bound.field.disabled:
            yield shown | {bound.html_name: value}


def _other(field: Any, value: Any) -> Any:
    if isinstance(field, BooleanField):
        return "" if value else "on"
    if isinstance(field, (IntegerField, DecimalField)):
        return int(value or 0) + 1
    if isinstance(field, ChoiceField):
        values = [one for one, _label in field.widget.choices]
        return next((one for one in values if one not in ("", value)), None)
    return f"{value or ''}x" if isinstance(field, CharField) else None


def keys(context: dict[str, Any]) -> Iterator[tuple[str, Kind]]:
    """The fields that take the key of a row, in the form and its inlines, with the row's table."""
    for form in _forms(context):
        for bound in form:
            if isinstance(bound.field, ModelChoiceField) and bound.field.queryset is not None:
                yield bound.html_name, bound.field.queryset.model


def _forms(context: dict[str, Any]) -> Iterator[Any]:
    if context:
        yield context["adminform"].form
        for inline in context["inline_admin_formsets"]:
            yield inline.formset.management_form
            if inline.has_change_permission:  # else the page does not read what is sent
                yield from inline.formset.initial_forms


def _typed(form: Any) -> dict[str, Any]:
    found = {}
    for bound in form:
        value = bound.value()
        if value is not None and value is not False:
            shown = bound.field.widget.format_value(value) if isinstance(value, dict) else value
            found[bound.html_name] = shown
    return found
