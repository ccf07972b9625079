"""Files that leave the house by the console."""

from __future__ import annotations

from django.http import HttpResponse
from django.utils.http import content_disposition_header


def headers_of(name: str) -> dict[str, str]:
    """What a browser is told of a file that it saves as `name`: nothing on the way keeps it."""
    return {
        "Content-Disposition": str(content_disposition_header(True, name)),
        "Cache-Control": "no-store",
    }


def file_of(content: bytes | str, name: str, content_type: str) -> HttpResponse:
    """The answer that is saved as a file; whoever gives it has noted in the trail that it left."""
    return HttpResponse(content, content_type=content_type, headers=headers_of(name))
