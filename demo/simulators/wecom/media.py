"""Temporary media of the corp: media/upload of images, and their life of three days (document 90253)."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from email import policy
from email.parser import BytesParser
from typing import Any

from demo.simulators.http import Request
from demo.simulators.state import State
from demo.simulators.wecom.errors import WecomError

LIFE_S = 3 * 24 * 3600
LEAST, MOST = 6, 10 << 20
TYPES = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg"}


@dataclass(frozen=True)
class Image:
    """An uploaded file."""

    name: str
    content: bytes
    content_type: str
    created: float


class Media:
    """What was uploaded, by media_id; shared by all apps of the corp."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._images: dict[str, Image] = {}

    def upload(self, kind: str, request: Request) -> dict[str, Any]:
        """Answer media/upload. Raises WecomError for another type, no file, or one of a wrong size or form."""
        if kind != "image":
            raise WecomError(40004)
        name, content = _file(request)
        content_type = next((t for head, t in TYPES.items() if content.startswith(head)), "")
        if not content_type:
            raise WecomError(40005)
        if not LEAST <= len(content) <= MOST:
            raise WecomError(45001)
        created = self._state.timestamp()
        media_id = secrets.token_urlsafe(48)
        self._images[media_id] = Image(name, content, content_type, created)
        told = {"type": kind, "media_id": media_id, "created_at": str(int(created))}
        return {"errcode": 0, "errmsg": "ok", **told}

    def find(self, media_id: str) -> Image:
        """The file. Raises WecomError where it is unknown or older than three days."""
        image = self._images.get(media_id)
        if image is None or self._state.timestamp() - image.created > LIFE_S:
            raise WecomError(40007)
        return image

    def shown(self, media_id: str) -> Image | None:
        """The file that a member was sent: what arrived stays in the chat."""
        return self._images.get(media_id)

    def forget(self) -> int:
        """All media_ids become invalid, as after three days; how many."""
        for media_id, image in self._images.items():
            self._images[media_id] = replace(image, created=-LIFE_S)
        return len(self._images)


def _file(request: Request) -> tuple[str, bytes]:
    """Name and content of the part `media`."""
    head = f"Content-Type: {request.headers.get('content-type', '')}\r\n\r\n".encode()
    form = BytesParser(policy=policy.HTTP).parsebytes(head + request.body)
    for part in form.iter_parts() if form.is_multipart() else ():
        if part.get_param("name", header="content-disposition") == "media" and part.get_filename():
            content = part.get_payload(decode=True)
            return str(part.get_filename()), content if isinstance(content, bytes) else b""
    raise WecomError(41005)
