"""The MCP server over real HTTP in this process, and the library's own client."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
import uvicorn
from django.contrib.auth.models import User
from django.db import connections
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from engines.mcp_server import server
from projects import tokens
from projects.models import TokenScope

READ_AT = re.compile(r'"(read_at|读取时间)": "[^"]*"')
"""When a reply was read: what two replies may differ in."""


class _Quiet(uvicorn.Server):
    """Signals belong to the tests; says when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listens = threading.Event()

    async def startup(self, *args: Any, **kwargs: Any) -> None:
        await super().startup(*args, **kwargs)
        self.listens.set()


@contextmanager
def served() -> Iterator[str]:
    """The address of a running server."""
    config = uvicorn.Config(server.app(), "127.0.0.1", 0, log_config=None, access_log=False)
    running = _Quiet(config)

    def run() -> None:
        asyncio.run(running.serve())
        connections.close_all()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert running.listens.wait(30)
    port = running.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        running.should_exit = True
        thread.join(30)


def token(owner: str, *scopes: TokenScope) -> str:
    """Without scopes: all that the owner may."""
    user = User.objects.get(username=owner)
    return tokens.create(user=user, actor=user, scopes=scopes or None)


@dataclass
class Told:
    """What a call came to."""

    data: Any
    is_error: bool
    text: str


def call(url: str, key: str, name: str, **said: Any) -> Told:
    """One call of one tool by a client that connects for it."""

    async def work(client: Client) -> Told:
        try:
            found = await client.call_tool(name, said)
        except MCPError as error:
            return Told(None, True, error.message)
        text = found.content[0].text
        assert json.loads(text) == found.structured_content
        return Told(found.structured_content, found.is_error, text)

    return _with_client(url, key, work)


def listed(url: str, key: str) -> set[str]:
    """The names of `tools/list`."""

    async def work(client: Client) -> set[str]:
        return {tool.name for tool in (await client.list_tools()).tools}

    return _with_client(url, key, work)


def _with_client(url: str, key: str, work: Any) -> Any:
    async def run() -> Any:
        headers = {"Authorization": f"Bearer {key}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            return await work(client)

    return asyncio.run(run())


def status(url: str, key: str, body: str = "", **headers: str) -> int:
    """What a plain request is answered with."""
    ping = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"})
    sent = {
        "Authorization": f"Bearer {key}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }
    reply = httpx2.post(url, content=body or ping, headers=sent | headers, timeout=60)
    return reply.status_code
