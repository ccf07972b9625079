"""API errors as `application/problem+json` (contracts.md, HTTP)."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.core.exceptions import ValidationError as DjangoValidationError
from django.http import Http404
from rest_framework import exceptions, status
from rest_framework.response import Response
from rest_framework.serializers import as_serializer_error
from rest_framework.views import exception_handler as default_handler


class Conflict(exceptions.APIException):
    """409 with members of its own, e.g. the review as it stands now."""

    status_code = status.HTTP_409_CONFLICT
    default_code = "conflict"

    def __init__(self, detail: str, code: str, **members: Any) -> None:
        """`members` become top-level keys of the problem."""
        super().__init__(detail, code)
        self.members = members


def exception_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    """A problem document for everything DRF and Django raise on purpose; None for a bug."""
    if isinstance(error, DjangoValidationError):
        error = exceptions.ValidationError(as_serializer_error(error))
    response = default_handler(error, context)
    if response is None:
        return None
    api_error = _as_api_error(error)
    problem: dict[str, Any] = {
        "type": "about:blank",
        "title": _title(api_error),
        "status": response.status_code,
        "code": _code(api_error),
        "detail": _detail(api_error),
    }
    if isinstance(api_error, exceptions.ValidationError):
        problem["errors"] = response.data
    problem |= getattr(api_error, "members", {})
    response.data = problem
    response.content_type = "application/problem+json"
    return response


def _as_api_error(error: Exception) -> exceptions.APIException:
    if isinstance(error, exceptions.APIException):
        return error
    if isinstance(error, Http404):
        return exceptions.NotFound()
    if isinstance(error, PermissionDenied):
        return exceptions.PermissionDenied()
    return exceptions.APIException()


def _title(error: exceptions.APIException) -> str:
    """What kind of problem it is; the kinds whose words have gaps take the words of this one."""
    has_gaps = isinstance(error, exceptions.MethodNotAllowed | exceptions.UnsupportedMediaType)
    return _detail(error) if has_gaps else str(error.default_detail)


def _code(error: exceptions.APIException) -> str:
    codes = error.get_codes()
    return codes if isinstance(codes, str) else str(error.default_code)


def _detail(error: exceptions.APIException) -> str:
    return str(error.detail) if isinstance(error.detail, str) else str(error.default_detail)


class Unavailable(exceptions.APIException):
    """503: an outside system did not answer."""

    status_code = status.HTTP_503_SERVICE_UNAVAILABLE
    default_code = "unavailable"
