"""Errors of the API are problem documents (contracts.md, HTTP)."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, RequestDataTooBig, TooManyFieldsSent
from django.core.exceptions import ValidationError as DjangoValidationError
from django.http import Http404
from django.http.multipartparser import MultiPartParserError
from rest_framework import exceptions
from rest_framework.response import Response

from core.house.api_errors import Conflict, Unavailable, exception_handler


def problem(error: Exception) -> dict[str, Any]:
    response = exception_handler(error, {})
    assert isinstance(response, Response)
    assert response.content_type == "application/problem+json"
    assert response.data["status"] == response.status_code
    assert {"type", "title", "status", "code", "detail"} <= response.data.keys()
    data: dict[str, Any] = response.data
    return data


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (exceptions.NotAuthenticated(), 401, "not_authenticated"),
        (exceptions.PermissionDenied(), 403, "permission_denied"),
        (PermissionDenied(), 403, "permission_denied"),
        (exceptions.NotFound(), 404, "not_found"),
        (Http404("secret detail"), 404, "not_found"),
        (exceptions.MethodNotAllowed("PUT"), 405, "method_not_allowed"),
        (exceptions.ParseError(), 400, "parse_error"),
        (Unavailable(), 503, "unavailable"),
        (RequestDataTooBig("secret"), 413, "too_large"),
        (TooManyFieldsSent("secret"), 400, "parse_error"),
        (MultiPartParserError("secret"), 400, "parse_error"),
    ],
)
def test_status_and_code(error: Exception, status: int, code: str) -> None:
    found = problem(error)
    assert (found["status"], found["code"]) == (status, code)
    assert "secret" not in str(found)


def test_a_conflict_carries_what_stands_there_now() -> None:
    found = problem(
        Conflict("Somebody was faster.", "values_changed", review={"id": 7}, current="x")
    )
    assert (found["status"], found["code"]) == (409, "values_changed")
    assert (found["detail"], found["review"], found["current"]) == (
        "Somebody was faster.",
        {"id": 7},
        "x",
    )


@pytest.mark.parametrize("error", [Conflict("x", "values_changed"), Unavailable("x")])
def test_the_title_says_what_kind_of_problem_it_is(error: exceptions.APIException) -> None:
    """RFC 9457: it is the same for every problem of its kind."""
    title = problem(error)["title"]
    assert title == problem(type(error)(*"yz"))["title"]
    assert title != exceptions.APIException.default_detail


def test_half_a_character_is_quoted_as_none() -> None:
    found = problem(exceptions.ValidationError({"kind": ["\ud800 is unknown"]}))
    assert found["errors"] == {"kind": ["? is unknown"]}


def test_a_validation_error_names_the_fields() -> None:
    found = problem(
        exceptions.ValidationError({"site": ["unknown"], "rows": [{}, {"day": ["late"]}]})
    )
    assert (found["status"], found["code"]) == (400, "invalid")
    assert found["errors"] == {"site": ["unknown"], "rows": [{}, {"day": ["late"]}]}


def test_an_error_of_a_model_is_one_of_the_request() -> None:
    found = problem(DjangoValidationError({"config": ["nodes.a: wrong"]}))
    assert (found["status"], found["errors"]) == (400, {"config": ["nodes.a: wrong"]})


def test_a_bug_is_no_problem_document() -> None:
    assert exception_handler(KeyError("x"), {}) is None
