"""`manage.py mcp`: the read-only MCP server (docs/mcp.md)."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

import anyio
import uvicorn
from django.conf import settings
from django.core.management.base import BaseCommand

from engines.mcp_server import server


class Command(BaseCommand):
    help = (
        "Serve MCP clients on 127.0.0.1:MCP_PORT/mcp, behind the TLS proxy; with --stdio one local client, "
        "as the owner of the API token MCP_TOKEN."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--stdio", action="store_true")
        parser.add_argument(
            "--host", default="127.0.0.1", help="the address to listen on; in a container 0.0.0.0"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["stdio"]:
            uvicorn.run(
                server.app(),
                host=options["host"],
                port=settings.MCP_PORT,
                # Who asks is worked out by the house's own rule (core.house.proxies).
                proxy_headers=False,
                server_header=False,
                access_log=False,
                log_config=None,
            )
            return
        if not settings.MCP_TOKEN:
            self.stderr.write("MCP_TOKEN holds no API token.")
            sys.exit(2)
        anyio.run(server.run_stdio, settings.MCP_TOKEN)
