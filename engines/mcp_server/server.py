"""The MCP server: the library's protocol around `engines.mcp_server.tools`, over HTTP and over stdio.

A token is looked at anew with every request: a revoked one, one whose time is over, and one of a login that was
switched off end at the next call. No session is kept.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from time import time
from typing import Any, TypeVar
from urllib.parse import urlsplit

import mcp_types as types
from anyio import CapacityLimiter, to_thread
from django.conf import settings
from django.core.cache import cache
from django.db import close_old_connections
from django.http import HttpRequest
from django.http.request import validate_host
from django.utils.translation import gettext as _
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from rest_framework.exceptions import AuthenticationFailed
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from core.house.proxies import client, is_named, networks
from engines.mcp_server import tools
from projects import tokens
from projects.models import ApiToken

logger = logging.getLogger(__name__)
T = TypeVar("T")
PATH = "/mcp"
AT_ONCE = 8
"""Calls that are worked on at the same time; others wait."""
A_MINUTE = 60
"""Calls of one token in a minute: a model in a loop does not take the house's time."""
_TOKEN = "iit_token"  # noqa: S105 - a key of the ASGI scope
Context = ServerRequestContext[Any, Any]


def build(token_key: str = "") -> Server[Any]:
    """The server. `token_key`: whose calls these are where no request says so (stdio)."""
    # A server is run by one event loop, to which its limiter belongs.
    limiter = CapacityLimiter(AT_ONCE)

    async def list_tools(context: Context, _page: object) -> types.ListToolsResult:
        found = await _answering(limiter, lambda: tools.tools_of(_token_of(context, token_key)))
        return types.ListToolsResult(tools=[_told(tool) for tool in found])

    async def call_tool(
        context: Context, asked: types.CallToolRequestParams
    ) -> types.CallToolResult:
        def work() -> tools.Reply:
            token = _token_of(context, token_key)
            _check_rate(token)
            return tools.call(token, asked.name, asked.arguments or {})

        reply = await _answering(limiter, work)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=reply.text)],
            structured_content=json.loads(reply.text),
            is_error=reply.is_error,
        )

    server: Server[Any] = Server(
        "iit-manager", version=settings.VERSION, on_list_tools=list_tools, on_call_tool=call_tool
    )
    # The library's own is OpenTelemetry's: nothing of a call is handed on.
    server.middleware.clear()
    return server


def app() -> ASGIApp:
    """The server as an ASGI application, for a proxy in front: `/mcp`."""
    inner = build().streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        max_request_body_size=settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
        # Host and origin are looked at here, by the house's own settings.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    return Guard(inner)


async def run_stdio(token_key: str) -> None:
    """Serve one local client on standard input and output until it goes."""
    server = build(token_key)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


class Guard:
    """What every HTTP request must have: a known host, no foreign page behind it, a valid token."""

    def __init__(self, inner: ASGIApp) -> None:
        self.inner = inner
        self.limiter: CapacityLimiter | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse with 400, 401 or 403, or pass on."""
        if scope["type"] != "http":
            await self.inner(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = _refused(headers)
        if refusal is None:
            self.limiter = self.limiter or CapacityLimiter(AT_ONCE)
            try:
                scope[_TOKEN] = await _in_thread(self.limiter, lambda: _shown(scope, headers))
            except AuthenticationFailed as error:
                refusal = _refusal(401, str(error.detail))
                refusal.headers["WWW-Authenticate"] = "Bearer"
        await (refusal or self.inner)(scope, receive, send)


def _refused(headers: Headers) -> JSONResponse | None:
    try:
        host = urlsplit(f"//{headers.get('host', '')}").hostname or ""
        origin = headers.get("origin")
        is_foreign = (
            origin is not None and urlsplit(origin)[:2] != urlsplit(settings.PUBLIC_URL)[:2]
        )
    except ValueError:
        return _refusal(400, _("This is no address of the house."))
    if not validate_host(f"[{host}]" if ":" in host else host, settings.ALLOWED_HOSTS):
        return _refusal(400, _("This is no address of the house."))
    if is_foreign:
        return _refusal(403, _("Pages of other hosts may not ask here."))
    return None


def _refusal(status: int, text: str) -> JSONResponse:
    return JSONResponse({"status": status, "detail": text}, status, {"Cache-Control": "no-store"})


def _shown(scope: Scope, headers: Headers) -> ApiToken:
    """The token of a request. Raises AuthenticationFailed."""
    scheme, _space, key = headers.get("authorization", "").partition(" ")
    if scheme.lower() not in ("bearer", "token") or not key.strip():
        raise AuthenticationFailed(_("Send an API token: Authorization: Bearer …"))
    peer = (scope.get("client") or ("",))[0]
    trusted = networks(tuple(settings.TRUSTED_PROXIES))
    if is_named(peer, trusted):
        # Each proxy may add a header of its own.
        forwarded = ",".join(headers.getlist("x-forwarded-for"))
        peer = client(peer, forwarded.split(","), trusted)
    return tokens.opened(key.strip(), _request(peer))


def _request(peer: str) -> HttpRequest:
    """What the lock-out wants to know of a request."""
    request = HttpRequest()
    request.method, request.path = "POST", PATH
    request.META = {"REMOTE_ADDR": peer, "REQUEST_METHOD": "POST", "PATH_INFO": PATH}
    return request


def _token_of(context: Context, key: str) -> ApiToken:
    """Raises MCPError."""
    found = context.request.scope.get(_TOKEN) if context.request is not None else None
    if isinstance(found, ApiToken):
        return found
    try:
        return tokens.opened(key, _request(""))
    except AuthenticationFailed as error:
        raise MCPError(types.INVALID_REQUEST, str(error.detail)) from None


def _check_rate(token: ApiToken) -> None:
    """Raises MCPError."""
    # Not every cache keeps the end of what is counted up: the minute is part of the key.
    key = f"mcp:{token.pk}:{int(time()) // 60}"
    cache.add(key, 0, 120)
    if cache.incr(key) > A_MINUTE:
        told = _("More than %(number)d calls in a minute: please wait.")
        raise MCPError(types.INVALID_REQUEST, told % {"number": A_MINUTE})


async def _answering(limiter: CapacityLimiter, work: Callable[[], T]) -> T:
    """What `work` gives. An error of ours is for the log: the library would tell the client its text."""
    try:
        return await _in_thread(limiter, work)
    except MCPError:
        raise
    except Exception:
        logger.exception("an MCP call failed")
        raise MCPError(types.INTERNAL_ERROR, _("This could not be answered.")) from None


async def _in_thread(limiter: CapacityLimiter, work: Callable[[], T]) -> T:
    def run() -> T:
        close_old_connections()
        try:
            return work()
        finally:
            close_old_connections()

    return await to_thread.run_sync(run, limiter=limiter)


def _told(tool: tools.Tool) -> types.Tool:
    given: Mapping[str, Any] = tool.parameters
    project = {"type": "string", "description": "项目编号;只参加一个项目时可省略"}
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema={**given, "properties": {**given["properties"], "project": project}},
        annotations=types.ToolAnnotations(read_only_hint=True, open_world_hint=False),
    )
