"""A WebSocket of the stand-ins: the server's side of one connection, over the HTTP server's own socket."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Iterator
from typing import Protocol, runtime_checkable

from websockets.frames import Opcode
from websockets.http11 import Request
from websockets.protocol import State
from websockets.server import ServerProtocol


class WebSocket:
    """Texts both ways; `send` and `drop` may be called from any thread."""

    def __init__(self, connection: socket.socket, request: bytes) -> None:
        self._socket = connection
        self._lock = threading.Lock()
        self._protocol = ServerProtocol()
        self._protocol.receive_data(request)
        for event in self._protocol.events_received():
            if isinstance(event, Request):
                self._protocol.send_response(self._protocol.accept(event))
        self._flush()

    def _flush(self) -> None:
        for data in self._protocol.data_to_send():
            if data:
                self._socket.sendall(data)

    def send(self, text: str) -> bool:
        """False where the connection is no more."""
        with self._lock:
            if self._protocol.state is not State.OPEN:
                return False
            try:
                self._protocol.send_text(text.encode())
                self._flush()
            except OSError:
                return False
            return True

    def texts(self) -> Iterator[str]:
        """What the client says, until the connection ends."""
        while self._protocol.state is State.OPEN:
            try:
                data = self._socket.recv(65536)
            except OSError:
                return
            with self._lock:
                if data:
                    self._protocol.receive_data(data)
                else:
                    self._protocol.receive_eof()
                with contextlib.suppress(OSError):
                    self._flush()
                events = [*self._protocol.events_received()]
            for event in events:
                opcode = getattr(event, "opcode", None)
                if opcode is Opcode.TEXT:
                    yield bytes(getattr(event, "data", b"")).decode()
            if not data:
                return

    def drop(self) -> None:
        """The connection breaks without a word, as of a network that went away."""
        linger = struct.pack("ii", 1, 0)
        with contextlib.suppress(OSError):
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)


@runtime_checkable
class Speaking(Protocol):
    """A stand-in that also speaks over a WebSocket, at `socket_path`."""

    socket_path: str

    def converse(self, socket: WebSocket) -> None:
        """Speak until the connection ends."""
        ...
