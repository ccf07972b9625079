"""The HTTP server around the stand-ins: HTTP/1.1 keep-alive, one write per answer."""

from __future__ import annotations

import socket
import struct
import sys
import threading
import traceback
from collections.abc import Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from demo.simulators.control import App
from demo.simulators.http import DropConnectionError, Headers, Request, Response, Service
from demo.simulators.sockets import WebSocket
from demo.simulators.state import State

HOST = "127.0.0.1"
NO_BODY = (204, 304)


class SimulatorServer(ThreadingHTTPServer):
    """Listens on 127.0.0.1; a thread per connection; knows its open connections."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 512

    def __init__(self, port: int, app: App) -> None:
        self.app = app
        self._open: set[socket.socket] = set()
        self._open_lock = threading.Lock()
        super().__init__((HOST, port), Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Remember the connection before its thread starts."""
        with self._open_lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Forget the connection when its thread is done with it."""
        with self._open_lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def close_connections(self) -> None:
        """End every kept-alive connection, so that its thread returns."""
        with self._open_lock:
            connections = list(self._open)
        for connection in connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news; anything else is."""
        if not isinstance(sys.exception(), (ConnectionError, OSError)):
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    """Reads a request to its end, asks the app and writes the answer in one piece."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: SimulatorServer

    def log_message(self, format: str, *args: Any) -> None:
        """Stay quiet; /_control/requests is the log."""

    def _answer(self) -> None:
        if self.headers.get("Upgrade", "").lower() == "websocket":
            self._converse()
            return
        request = self._read()
        try:
            response = self.server.app.handle(request)
        except DropConnectionError as drop:
            self._drop(reset=drop.reset)
            return
        except Exception:
            # The stand-in must answer even where it has a bug of its own, and show it.
            traceback.print_exc()
            response = Response.json({"error": "the stand-in failed, see its log"}, 500)
        self._write(response)

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = do_HEAD = do_OPTIONS = _answer  # noqa: N815

    def _converse(self) -> None:
        """Hand the connection to who speaks there, until it ends."""
        self.close_connection = True
        head = f"{self.requestline}\r\n" + "".join(
            f"{name}: {value}\r\n" for name, value in self.headers.items()
        )
        socket = WebSocket(self.connection, f"{head}\r\n".encode("latin-1"))
        self.server.app.converse(urlsplit(self.path).path, socket)

    def _read(self) -> Request:
        target = urlsplit(self.path)
        return Request(
            method=self.command,
            path=unquote(target.path),
            query=parse_qs(target.query, keep_blank_values=True),
            headers=Headers(dict(self.headers.items())),
            body=self._read_body(),
            client_ip=self.client_address[0],
            query_string=target.query,
        )

    def _read_body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _write(self, response: Response) -> None:
        phrase = HTTPStatus(response.status).phrase if response.status in _KNOWN else ""
        lines = [f"HTTP/1.1 {response.status} {phrase}", f"Date: {self.date_time_string()}"]
        if response.status not in NO_BODY:
            lines.append(f"Content-Length: {len(response.body)}")
            lines.append(f"Content-Type: {response.content_type}")
        lines += [f"{name}: {value}" for name, value in response.headers.items()]
        if self.close_connection:
            lines.append("Connection: close")
        head = "\r\n".join(lines).encode("latin-1", "replace") + b"\r\n\r\n"
        silent = self.command == "HEAD" or response.status in NO_BODY
        self.connection.sendall(head if silent else head + response.body)

    def _drop(self, *, reset: bool) -> None:
        self.close_connection = True
        if reset:
            # SO_LINGER with 0 s makes close() send RST; shutdown() would send FIN before it.
            linger = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.rfile.close()
            self.connection.close()


_KNOWN = {status.value for status in HTTPStatus}


class RunningServer:
    """A server in a thread of this process, for tests."""

    def __init__(self, state: State, server: SimulatorServer) -> None:
        self._state = state
        self._server = server
        self.app = server.app
        self._thread = threading.Thread(
            target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )
        self._thread.start()
        self.url = f"http://{HOST}:{server.server_address[1]}"

    def stop(self) -> None:
        """Stop listening, end open connections and waiting faults."""
        self._state.stopping.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        self._server.close_connections()


def start_in_thread(state: State, services: Sequence[Service], port: int = 0) -> RunningServer:
    """Serve `services` on a free port; the caller calls `stop()`."""
    return RunningServer(state, SimulatorServer(port, App(state, services)))


def serve(state: State, services: Sequence[Service], port: int) -> None:
    """Serve in this thread until an exception ends it. Raises OSError when the port is taken."""
    server = SimulatorServer(port, App(state, services))
    try:
        server.serve_forever()
    finally:
        state.stopping.set()
        server.server_close()
