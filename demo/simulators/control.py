"""The control API below /_control/ (contracts.md, Stand-ins) and the way to the services."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Sequence
from datetime import date
from typing import Any

from demo.simulators.http import DropConnectionError, Request, Response, Service
from demo.simulators.sockets import Speaking, WebSocket
from demo.simulators.state import Fault, State

PREFIX = "/_control/"
# Routes that contracts.md names without their service: the first path part -> who answers.
BORROWED = {"sent": "wecom", "aibot": "wecom"}


def _not_found(path: str) -> Response:
    return Response.json({"error": f"no such path: {path}"}, 404)


class App:
    """Routes a request to the control API or to the service that owns its path."""

    def __init__(self, state: State, services: Sequence[Service]) -> None:
        self.state = state
        self.services = list(services)
        self._by_name = {service.name: service for service in self.services}
        self._routes: dict[str, Callable[[Request], Response]] = {
            "health": lambda _: Response.json({"ok": True}),
            "house": self._house,
            "requests": self._requests,
            "faults": self._faults,
            "clock": self._clock,
            "configure": self._configure,
            "reset": self._reset,
        }

    def handle(self, request: Request) -> Response:
        """Answer one request. Raises DropConnectionError where a fault wants no answer."""
        if request.path.startswith(PREFIX):
            return self._control(request)
        for service in self.services:
            if request.path.startswith(service.prefix):
                return self._serve(service, request)
        return _not_found(request.path)

    def converse(self, path: str, socket: WebSocket) -> None:
        """Let the service that owns a path speak over a WebSocket; where there is none it ends."""
        for service in self.services:
            if isinstance(service, Speaking) and path == service.socket_path:
                service.converse(socket)

    def _serve(self, service: Service, request: Request) -> Response:
        if getattr(service, "logged", True):
            self.state.record(service.name, request)
        fault = self.state.take_fault(service.name, request)
        if fault is None:
            return service.handle(request)
        return self._misbehave(fault, service, request)

    def _misbehave(self, fault: Fault, service: Service, request: Request) -> Response:
        if fault.kind in ("status", "body"):
            return _canned(fault)
        if fault.kind == "reset":
            raise DropConnectionError(reset=True)
        if fault.kind == "delay":
            self._hold_back(float(fault.value or 0))
            return service.handle(request)
        service.handle(request)
        self.state.stopping.wait(float(fault.value or 0))
        raise DropConnectionError(reset=False)

    def _hold_back(self, seconds: float) -> None:
        """Wait; what was forgotten meanwhile must not take the script of whoever comes after the reset."""
        before = self.state.resets
        self.state.stopping.wait(seconds)
        if self.state.resets != before:
            raise DropConnectionError(reset=True)

    def _control(self, request: Request) -> Response:
        head, _, rest = request.path.removeprefix(PREFIX).strip("/").partition("/")
        try:
            if head in self._routes and not rest:
                return self._routes[head](request)
            answer = self._delegate(head, rest, request)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            return Response.json({"error": f"bad request: {error!r}"}, 400)
        return answer or _not_found(request.path)

    def _delegate(self, head: str, rest: str, request: Request) -> Response | None:
        owner = self._by_name.get(BORROWED.get(head, head))
        path = f"{head}/{rest}".rstrip("/") if head in BORROWED else rest
        return owner.control(path, request) if owner else None

    def _house(self, request: Request) -> Response:
        """Whose stand-ins these are: an HMAC of `?nonce=` under the house's token; blank: nobody's."""
        nonce, token = request.query.get("nonce", [""])[0], self.state.house_token
        proof = hmac.new(token.encode(), nonce.encode(), hashlib.sha256).hexdigest()
        return Response.json({"house": proof if token else ""})

    def _requests(self, request: Request) -> Response:
        service = request.query.get("service", [""])[0]
        return Response.json(self.state.requests(service))

    def _faults(self, request: Request) -> Response:
        rows = request.json()
        faults = [Fault.parse(row) for row in (rows if isinstance(rows, list) else [rows])]
        self.state.add_faults(faults)
        return Response.json({"ok": True, "planned": len(faults)})

    def _clock(self, request: Request) -> Response:
        if request.method == "POST":
            self.state.advance(float(request.json()["advance_s"]))
        return Response.json({"ok": True, "now": self.state.now().isoformat()})

    def _configure(self, request: Request) -> Response:
        given, token = request.headers.get("X-House-Token", ""), self.state.house_token
        if token and not hmac.compare_digest(given.encode(), token.encode()):
            return Response.json({"error": "these stand-ins belong to another house"}, 403)
        settings: dict[str, Any] = request.json()
        unknown = sorted(set(settings) - set(self._by_name) - {"today"})
        if unknown:
            return Response.json({"error": f"no such service: {', '.join(unknown)}"}, 400)
        if settings.get("today"):
            self.state.set_today(date.fromisoformat(settings["today"]))
        for name, service in self._by_name.items():
            if isinstance(settings.get(name), dict):
                service.configure(settings[name])
        return Response.json({"ok": True})

    def _reset(self, _: Request) -> Response:
        self.state.reset()
        for service in self.services:
            service.reset()
        return Response.json({"ok": True})


def _canned(fault: Fault) -> Response:
    value = fault.value if isinstance(fault.value, dict) and fault.kind == "status" else None
    if value is not None:
        body = value.get("body", "")
        answer = Response.json(body) if not isinstance(body, str) else Response.text(body)
        answer.status = int(value.get("status", 500))
        answer.content_type = value.get("content_type", answer.content_type)
        return answer
    if fault.kind == "status":
        return Response.text("", int(fault.value), "text/html; charset=UTF-8")
    if isinstance(fault.value, str):
        return Response.text(fault.value, 200, "application/json")
    return Response.json(fault.value)
