"""The phone page: a member's WeCom chat in the browser, on top of the WeCom stand-in."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from demo.simulators.http import Request, Response
from demo.simulators.state import State
from demo.simulators.wecom.service import WecomService

STATIC = Path(__file__).parent / "static"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
LONGEST_WAIT_S = 20.0
LONGEST_TEXT = 2048


class PhoneService:
    """Serves the page and its JSON endpoints and pictures below the same prefix."""

    name = "phone"
    prefix = "/simulator/"
    logged = False

    def __init__(self, state: State, wecom: WecomService) -> None:
        self._state = state
        self._wecom = wecom
        self._files = {path.name: path for path in STATIC.iterdir() if path.suffix in TYPES}

    def reset(self) -> None:
        """Nothing of its own: every chat is the WeCom stand-in's."""

    def configure(self, settings: dict[str, Any]) -> None:
        """Nothing to configure; members come from {"wecom": {"users": [...]}}."""

    def control(self, path: str, request: Request) -> Response | None:
        """No control routes."""
        return None

    def handle(self, request: Request) -> Response:
        """A file of the page, or `members`, `state`, `media`, `send`, `click`, `vote`."""
        name = request.path.removeprefix(self.prefix) or "index.html"
        if name in self._files:
            return self._file(self._files[name])
        routes: dict[tuple[str, str], Callable[[Request], Response]] = {
            ("GET", "members"): self._members,
            ("GET", "state"): self._chat,
            ("GET", "media"): self._image,
            ("POST", "send"): self._send,
            ("POST", "click"): self._click,
            ("POST", "vote"): self._vote,
        }
        route = routes.get((request.method, name))
        if route is None:
            return Response.json({"error": "no such page"}, 404)
        try:
            answer = route(request)
        except (ValueError, KeyError, TypeError) as error:
            answer = Response.json({"error": f"bad request: {error}"}, 400)
        answer.headers |= HEADERS
        return answer

    def _file(self, path: Path) -> Response:
        return Response(200, path.read_bytes(), TYPES[path.suffix], dict(HEADERS))

    def _members(self, _: Request) -> Response:
        """Configured members; whoever has a chat while none are."""
        users = [
            {"userid": user.userid, "name": user.name, "title": user.title}
            for user in self._wecom.config.users.values()
            if user.visible
        ]
        if not users:
            known = list(self._wecom.store.latest()) or ["guest"]
            users = [{"userid": userid, "name": userid, "title": ""} for userid in known]
        return Response.json({"app": self._wecom.config.app_name, "members": users})

    def _chat(self, request: Request) -> Response:
        """New or changed entries since `after`; waits up to `wait` seconds for one."""
        query = {name: values[0] for name, values in request.query.items()}
        user, after = query["user"], int(query.get("after") or 0)
        seconds = min(float(query.get("wait") or LONGEST_WAIT_S), LONGEST_WAIT_S)
        store = self._wecom.store
        epoch = query.get("epoch", store.epoch)
        newest = int(query["newest"]) if "newest" in query else None
        same = epoch == store.epoch
        entries = store.wait(user, after, seconds, newest) if same else []
        if epoch != store.epoch:
            # Reset meanwhile: the page starts over.
            entries, after = store.chat(user), 0
        last = max((entry["seq"] for entry in entries), default=after)
        answer = {"epoch": store.epoch, "seq": last, "entries": entries, "latest": store.latest()}
        return Response.json(answer)

    def _image(self, request: Request) -> Response:
        """The picture of a message, by its media `id`."""
        image = self._wecom.media.shown(request.query["id"][0])
        if image is None:
            return Response.json({"error": "no such picture"}, 404)
        return Response(200, image.content, image.content_type)

    def _send(self, request: Request) -> Response:
        body = request.json()
        user, text = str(body["user"]), str(body["text"])
        if not user or not text.strip():
            raise ValueError("user and text must not be empty")
        if len(text.encode()) > LONGEST_TEXT:
            raise ValueError(f"text over {LONGEST_TEXT} bytes")
        if body.get("bot"):
            self._later(lambda: self._wecom.aibot.push({"user": user, "text": text}))
        else:
            self._wecom.corp.write(user, text)
        return Response.json({"ok": True})

    def _later(self, call: Callable[[], object]) -> None:
        """In the background, like everything that a member does: the page never waits for the assistant."""
        threading.Thread(target=call, daemon=True).start()

    def _vote(self, request: Request) -> Response:
        order = request.json()
        vote = {name: order[name] for name in ("user", "id", "type")}
        self._later(
            lambda: self._wecom.aibot.feedback({**vote, "reasons": order.get("reasons") or []})
        )
        return Response.json({"ok": True})

    def _click(self, request: Request) -> Response:
        order = request.json()
        if missing := sorted({"user", "task_id", "key"} - set(order)):
            raise ValueError(f"{', '.join(missing)} missing")
        try:
            self._wecom.corp.click_later(order)
        except LookupError as error:
            return Response.json({"error": str(error)}, 409)
        return Response.json({"ok": True})
