"""What the API says where there is nothing to say: problem documents, never a page (contracts.md, HTTP)."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponseBase, HttpResponsePermanentRedirect
from django.urls import Resolver404, resolve
from django.views.defaults import bad_request, server_error
from rest_framework.exceptions import APIException, NotFound, ParseError
from rest_framework.request import Request
from rest_framework.views import APIView

from house.api_errors import document

API = "api/v1"


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


def refused(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """A request that is wrong before any view sees it: a problem document to programs, a page to people."""
    return document(ParseError()) if _is_api(request) else bad_request(request, exception)


def failed(request: HttpRequest) -> HttpResponseBase:
    """A bug, said without its cause: a problem document to programs, a page to people."""
    return document(APIException()) if _is_api(request) else server_error(request)


def _is_api(request: HttpRequest) -> bool:
    return request.path_info.startswith(f"/{API}/")


def _lacks_slash(path: str) -> bool:
    try:
        return not path.endswith("/") and resolve(f"{path}/").url_name != "unknown"
    except Resolver404:
        return False
