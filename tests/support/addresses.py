"""Every address of console and API that a log-in opens, as the resolver has them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.apps import apps
from django.urls import URLPattern, get_resolver

from tests.support.canaries import Kind


@dataclass(frozen=True)
class Address:
    """A route below the log-in: its path with a place for each parameter, and the table it is about."""

    path: str
    parameters: tuple[str, ...]
    name: str
    model: Kind | None
    callback: Any = field(compare=False)

    def of(self, key: object) -> str:
        """The path with `key` in the place of each parameter that names a row."""
        given = {one: "1" if one == "number" else str(key) for one in self.parameters}
        return self.path.format(**given)


_CONVERTER = re.compile(r"<(?:\w+:)?(\w+)>")
_GROUP = re.compile(r"\(\?P<(\w+)>(?:[^()]|\([^()]*\))*\)")
BEHIND_THE_LOGIN = ("admin/", "api/v1/", "wechat/outbound/answers/")
_CATCH_ALL = ("admin/{url}", "admin/logout/")


def addresses() -> list[Address]:
    """Every route of the house that a log-in opens."""
    found = []
    for route, pattern in _walk(get_resolver().url_patterns, ""):
        path = _CONVERTER.sub(r"{\1}", _GROUP.sub(r"{\1}", route))
        path = path.replace("^", "").replace("$", "").replace("(?:/|\\Z)", "/")
        if not path.startswith(BEHIND_THE_LOGIN) or path.startswith(_CATCH_ALL):
            continue
        names = tuple(re.findall(r"{(\w+)}", path))
        model = _model(path, names, pattern.callback)
        found.append(Address(f"/{path}", names, pattern.name or "", model, pattern.callback))
    return found


def console_pages() -> list[Address]:
    """Those of the console that show a page, of no row or of one; no files and no answers for scripts.

    PAGE_STRIDE: every so many-th.
    """
    stride = int(os.environ.get("PAGE_STRIDE") or 1)
    files = ("/export/", "/autocomplete/", "/jsi18n/", "/logout/")
    pages = [
        one
        for one in addresses()
        if one.path.startswith("/admin/")
        and not any(part in one.path for part in files)
        and not {*one.parameters} - {"object_id", "pk"}
    ]
    return pages[::stride]


def _walk(patterns: Any, before: str) -> Iterator[tuple[str, URLPattern]]:
    for one in patterns:
        here = before + str(one.pattern)
        if isinstance(one, URLPattern):
            yield here, one
        else:
            yield from _walk(one.url_patterns, here)


def _model(path: str, parameters: tuple[str, ...], callback: Any) -> Kind | None:
    parts = path.split("/")
    named = {model._meta.model_name: model for model in apps.get_models()}
    if {*parameters} & {*named}:
        return named[parameters[0]]
    if parts[0] == "admin" and len(parts) > 3 and "{" not in parts[1] + parts[2]:
        return named.get(parts[2])
    rows = getattr(getattr(callback, "cls", None), "queryset", None)
    return rows.model if rows is not None else None
