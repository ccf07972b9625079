"""The API's problem documents: of addresses and requests that reach no resource, and in the schema.

(contracts.md, HTTP)
"""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponseBase, HttpResponsePermanentRedirect
from django.urls import Resolver404, resolve
from django.views.defaults import bad_request, server_error
from rest_framework.exceptions import APIException, NotFound, ParseError
from rest_framework.request import Request
from rest_framework.views import APIView

from core.house.api_errors import CONTENT_TYPE, document

API = "api/v1"
ANY = {
    400: "Something sent means nothing here; `errors` names it.",
    401: "No valid token or session.",
    404: "There is no such thing, or it is not yours to know of.",
    406: "The answer is to be had as JSON only.",
}
WRITE = {
    403: "Your role does not allow this.",
    409: "It does not fit the present state.",
    413: "More than a request may hold.",
    415: "The body is neither JSON nor a form.",
}
OUTSIDE = {
    409: "A study's settings cannot be followed.",
    503: "REDCap could not be read.",
}
"""Operations that read a study's REDCap while they are asked."""
READS_REDCAP = ("/visits/", "/task-runs/", "/chat/")
PROBLEM = {
    "type": "object",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "code": {"type": "string"},
        "detail": {"type": "string"},
        "errors": {
            "type": "object",
            "additionalProperties": {},
            "description": "What is wrong, by the name of the parameter or field.",
        },
    },
    "required": ["type", "title", "status", "code", "detail"],
    "description": "RFC 9457. A conflict has members of its own beside these.",
}


class Unknown(APIView):
    """Every address below the API that is no resource's."""

    authentication_classes = ()
    permission_classes = ()
    schema = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """A 404, whatever the method. Raises NotFound."""
        raise NotFound

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Where only the slash at the end is missing, the same request with it (308 keeps its body)."""
        if _lacks_slash(request.path_info):
            query = request.META.get("QUERY_STRING", "")
            address = f"{request.path}/?{query}" if query else f"{request.path}/"
            return HttpResponsePermanentRedirect(address, preserve_request=True)
        return super().dispatch(request, *args, **kwargs)


def no_site(request: HttpRequest, address: str) -> HttpResponseBase:
    """Raises Http404: no row has a page elsewhere; Django's view tells which rows of any table there are."""
    raise Http404


def bad_request_problem(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """A request that is wrong before any view sees it: a problem document to programs, a page to people."""
    return document(ParseError()) if _is_api(request) else bad_request(request, exception)


def server_error_problem(request: HttpRequest) -> HttpResponseBase:
    """A bug, said without its cause: a problem document to programs, a page to people."""
    return document(APIException()) if _is_api(request) else server_error(request)


def _is_api(request: HttpRequest) -> bool:
    return request.path_info.startswith(f"/{API}/")


def _lacks_slash(path: str) -> bool:
    try:
        return not path.endswith("/") and resolve(f"{path}/").url_name != "unknown"
    except Resolver404:
        return False


def documented(result: dict[str, Any], **_given: Any) -> dict[str, Any]:
    """The schema with the problems of each operation (a hook of drf-spectacular)."""
    components = result.setdefault("components", {})
    components.setdefault("schemas", {})["Problem"] = PROBLEM
    for path, methods in result["paths"].items():
        for method, operation in methods.items():
            operation["responses"] |= _responses(path, method)
    return result


def _responses(path: str, method: str) -> dict[str, Any]:
    outside = OUTSIDE if any(part in path for part in READS_REDCAP) else {}
    said = outside | ANY | (WRITE if method != "get" else {})
    content = {CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {
        str(status): {"description": said[status], "content": content} for status in sorted(said)
    }
