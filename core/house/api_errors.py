"""API errors as `application/problem+json` (contracts.md, HTTP)."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import (
    BadRequest,
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
)
from django.core.exceptions import ValidationError as DjangoValidationError
from django.http import Http404, JsonResponse, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from django.utils.translation import gettext_lazy as _
from rest_framework import exceptions, status
from rest_framework.response import Response
from rest_framework.serializers import as_serializer_error
from rest_framework.views import exception_handler as default_handler

CONTENT_TYPE = "application/problem+json"
UNREADABLE = (SuspiciousOperation, MultiPartParserError, BadRequest, UnreadablePostError)
"""What Django raises where a request's body or address cannot be read."""


class Conflict(exceptions.APIException):
    """409 with members of its own, e.g. the review as it stands now."""

    status_code = status.HTTP_409_CONFLICT
    default_detail = _("This does not fit the present state.")
    default_code = "conflict"

    def __init__(self, detail: str, code: str, **members: Any) -> None:
        """`members` become top-level keys of the problem."""
        super().__init__(detail, code)
        self.members = members


class TooLarge(exceptions.APIException):
    """413: more than a request may hold."""

    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_detail = _("The request is too large.")
    default_code = "too_large"


class SecondFactorMissing(exceptions.APIException):
    """403: the person's role demands a second factor, and the session's owner has none yet."""

    status_code = status.HTTP_403_FORBIDDEN
    default_detail = _("Your role demands a second factor: set one up in the console first.")
    default_code = "second_factor_missing"


class Unavailable(exceptions.APIException):
    """503: an outside system did not answer."""

    status_code = status.HTTP_503_SERVICE_UNAVAILABLE
    default_detail = _("An outside system cannot be reached.")
    default_code = "unavailable"


def exception_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    """A problem document for everything DRF and Django raise on purpose; None for a bug."""
    api_error = _as_api_error(error)
    response = default_handler(api_error, context) if api_error else None
    if api_error is None or response is None:
        return None
    response.data = _problem(api_error)
    response.content_type = CONTENT_TYPE
    return response


def document(error: exceptions.APIException) -> JsonResponse:
    """The problem as an answer of its own, where no view of the API is at work."""
    return JsonResponse(_problem(error), status=error.status_code, content_type=CONTENT_TYPE)


def _problem(error: exceptions.APIException) -> dict[str, Any]:
    problem: dict[str, Any] = {
        "type": "about:blank",
        "title": _title(error),
        "status": error.status_code,
        "code": _code(error),
        "detail": _detail(error),
    }
    if isinstance(error, exceptions.ValidationError):
        problem["errors"] = _sendable(error.detail)
    return problem | getattr(error, "members", {})


def _as_api_error(error: Exception) -> exceptions.APIException | None:
    """None for a bug."""
    if isinstance(error, exceptions.APIException):
        return error
    if isinstance(error, DjangoValidationError):
        return exceptions.ValidationError(as_serializer_error(error))
    if isinstance(error, Http404):
        return exceptions.NotFound()
    if isinstance(error, PermissionDenied):
        return exceptions.PermissionDenied()
    if isinstance(error, RequestDataTooBig):
        return TooLarge()
    return exceptions.ParseError() if isinstance(error, UNREADABLE) else None


def _title(error: exceptions.APIException) -> str:
    """What kind of problem it is; the kinds whose words have gaps take the words of this one."""
    has_gaps = isinstance(error, exceptions.MethodNotAllowed | exceptions.UnsupportedMediaType)
    return _detail(error) if has_gaps else str(error.default_detail)


def _code(error: exceptions.APIException) -> str:
    codes = error.get_codes()
    return codes if isinstance(codes, str) else str(error.default_code)


def _detail(error: exceptions.APIException) -> str:
    detail = error.detail if isinstance(error.detail, str) else error.default_detail
    text: str = _sendable(str(detail))
    return text


def _sendable(value: Any) -> Any:
    """What a message quotes of the request may hold half a character, which no answer can carry."""
    if isinstance(value, dict):
        return {_sendable(key): _sendable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_sendable(item) for item in value]
    return str(value).encode("utf-8", "replace").decode()
