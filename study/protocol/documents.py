"""Documents that people add to their study: read, bounded, stored and taken out (design.md 3).

What a document says is data: it is searched and cited, never followed.
"""

from __future__ import annotations

import codecs
import re

from django.utils.translation import gettext as _

from house.db import atomic
from projects import audit
from projects.models import Project
from study.models import ProtocolDocument
from study.protocol import index
from study.protocol.index import DocumentError

MAX_BYTES = 1024 * 1024
_ENCODINGS = ("utf-8-sig", "gb18030")
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# PDF, Word since 2007 (a ZIP) and before.
_BINARY = (b"%PDF", b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\ud800-\udfff]")


def decoded(raw: bytes) -> str:
    """The text of an uploaded file in UTF-8, GB18030, or UTF-16 with its mark. Raises DocumentError."""
    if len(raw) > MAX_BYTES:
        raise _too_large()
    if raw.startswith(_BINARY):
        raise DocumentError(
            _("PDF and Word files cannot be read yet; please save it as text or Markdown.")
        )
    for encoding in ("utf-16",) if raw.startswith(_WIDE) else _ENCODINGS:
        try:
            return checked(raw.decode(encoding))
        except UnicodeDecodeError:
            continue
    raise _no_text()


def checked(text: str) -> str:
    """A text that can be stored and cited. Raises DocumentError."""
    if _CONTROL.search(text):
        raise _no_text()
    if len(text.encode()) > MAX_BYTES:
        raise _too_large()
    index.passages(text)
    return text


def add_document(
    *, project: Project, name: str, text: str, version: str = "", actor: object
) -> ProtocolDocument:
    """Store a text as the study's document of this name and index it; what it replaces is kept, inactive.

    Raises DocumentError.
    """
    return index.import_document(project, name, checked(text), version=version, actor=actor)


def delete_document(*, document: ProtocolDocument, actor: object) -> None:
    """Take one version out; an older one does not come back."""
    old = {
        "version": document.version,
        "digest": document.digest,
        "is_active": document.is_active,
    }
    with atomic():
        audit.record(
            "document.delete", actor=actor, project=document.project, subject=document, old=old
        )
        document.delete()


def _too_large() -> DocumentError:
    return DocumentError(
        _("The document is larger than %(number)d KB.") % {"number": MAX_BYTES // 1024}
    )


def _no_text() -> DocumentError:
    return DocumentError(_("The document is no text in UTF-8 or GB18030."))
