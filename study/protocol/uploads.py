"""Files that become documents: taken, read in the background, looked at, put in force."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import PurePath
from typing import Any

from django.conf import settings
from django.db.models import Q
from django.utils.timezone import now
from django.utils.translation import gettext as _

from core.house import clock, task_queue
from core.house.alone import each
from core.house.db import after_commit, atomic
from projects import audit
from projects.models import Project
from study.models import ProtocolDocument, ProtocolUpload
from study.protocol import index
from study.protocol.files import archive
from study.protocol.files.layout import RefusedError
from study.protocol.index import DocumentError

MB = 1024 * 1024
MAX_FILE = 30 * MB
"""Bytes: a scan with recognised text has some 100 KB a page. settings.BODY_LIMITS takes a little more."""
LIMIT_S = 240
"""Seconds that a file may take; the task that reads it has a little more."""
EVERY = 10
"""Pages after which the row says how far the reading is."""
LOST = timedelta(minutes=10)
"""A file whose row stood still for so long has no reader any more."""
TASK = "study.tasks.read_upload"

_KINDS = {".pdf": "pdf", ".docx": "docx", ".md": "text", ".markdown": "text", ".txt": "text"}
_STARTS = {"pdf": b"%PDF-", "docx": b"PK\x03\x04"}
_OLE = b"\xd0\xcf\x11\xe0"
State = ProtocolUpload.State


def refusal_words(code: str, number: int = 0) -> str:
    """Why a file is not taken, and what to do."""
    words = {
        "scanned": _(
            "This is a scan: its pages are pictures without text. "
            "Please upload the Word file, or a PDF with recognised text (OCR)."
        ),
        "encrypted": _("The file is protected by a password. Please save it without one."),
        "broken": _("The file is damaged and cannot be opened. Please save or export it again."),
        "page": _("Page %(number)d cannot be read. Please export the file again."),
        "garbled": _(
            "The text of this PDF cannot be made out: its fonts say no characters. "
            "Please upload the Word file."
        ),
        "empty": _("The file is empty."),
        "kind": _("What is in the file is not what its name says (%(kinds)s)."),
        "ending": _("Files of this kind are not read. Please upload PDF, DOCX, Markdown or text."),
        "old": _(
            "This is an old Word file (.doc), or one with a password. "
            "Please save it as .docx without a password."
        ),
        "bomb": _("The file unpacks to more than a document can be, and was not opened."),
        "size": _("The file is larger than %(number)d MB."),
        "pages": _("The file has more than %(number)d pages; please divide it."),
        "text": _("The file has more than %(number)d MB of text; please divide it."),
        "heavy": _(
            "Reading took too much memory or time. Please save the file again or divide it."
        ),
        "passages": _("The document has no text, or too many sections."),
    }
    told = words.get(code) or words["broken"]
    return told % {"number": number, "kinds": "PDF, DOCX"} if "%(" in told else told


def warning_words(code: str, number: int) -> str:
    """What of a file was not read, or otherwise than it looks."""
    words = {
        "no_text": _("Page %(number)d has no text: a picture or a scan is not read."),
        "contents": _("%(number)d lines of the list of contents were left out."),
        "tracked": _("Tracked changes (%(number)d) were read as if accepted."),
        "pictures": _("Pictures (%(number)d) are not read."),
    }
    return words.get(code, "%(number)d") % {"number": number}


def take_file(*, project: Project, filename: str, raw: bytes, actor: object) -> ProtocolUpload:
    """Keep a file to be read in the background; text is read at once.

    Raises DocumentError in words for the sender, and then nothing is stored.
    """
    try:
        kind = _kind(filename, raw)
    except RefusedError as refused:
        raise DocumentError(refusal_words(refused.code, refused.number)) from refused
    upload = ProtocolUpload(
        project=project,
        filename=filename[-255:],
        name=PurePath(filename).stem[:200] or filename[:200],
        kind=kind,
        sent_by=audit.actor_name(actor),
    )
    if kind == "text":
        upload.text, upload.state = index.decoded_document(raw), State.READ
        upload.tables = upload.text.count("\n|-") + upload.text.count("\n| -")
    else:
        upload.raw = raw
    with atomic():
        upload.save(force_insert=True)
        if kind != "text":
            after_commit(lambda: task_queue.wake(TASK, upload.pk))
    return upload


def _kind(filename: str, raw: bytes) -> str:
    kind = _KINDS.get(PurePath(filename).suffix.lower(), "")
    if not raw:
        raise RefusedError("empty")
    if len(raw) > MAX_FILE:
        raise RefusedError("size", MAX_FILE // MB)
    if raw.startswith(_OLE):
        raise RefusedError("old")
    if not kind:
        raise RefusedError("ending")
    found = next((name for name, start in _STARTS.items() if raw.startswith(start)), "text")
    if found != kind:
        raise RefusedError("kind")
    if kind == "docx":
        archive.check_archive(raw)
    return kind


def read_upload(pk: int) -> None:
    """Read a file that waits, page by page, in a process with bounds; what it says is in its row.

    Safe to call again: a file that is read is left alone, one whose reader was lost is read anew.
    """
    there = ProtocolUpload.objects.filter(pk=pk, state__in=(State.WAITING, State.READING))
    free = Q(state=State.WAITING) | Q(updated_at__lt=now() - LOST)
    claimed = there.exclude(raw=None).filter(free)
    if claimed.update(state=State.READING, page=0, updated_at=now()) != 1:
        return
    upload = there.get()
    result: dict[str, Any] = {"refused": "heavy"}
    for said in _said_by_reader(upload.kind, bytes(upload.raw or b"")):
        if "page" not in said:
            result = said
        elif said["page"] % EVERY == 0 or said["page"] == said["pages"]:
            there.update(page=said["page"], pages=said["pages"], updated_at=now())
    if "text" in result:
        try:
            index.passages(result["text"])
        except DocumentError:
            result = {"refused": "passages"}
    there.update(
        state=State.READ if "text" in result else State.REFUSED,
        raw=None,
        text=result.get("text", ""),
        tables=result.get("tables", 0),
        warnings=result.get("warnings", []),
        refusal=result.get("refused", ""),
        refusal_number=result.get("number", 0),
        updated_at=now(),
    )


def _said_by_reader(kind: str, raw: bytes) -> Iterator[dict[str, Any]]:
    """What study.protocol.files.worker says of a file; nothing more once its time is over."""
    command = [sys.executable, "-m", "study.protocol.files.worker", kind]
    # Nothing of our environment: it holds keys, and the file is a stranger's.
    environment = {"PATH": os.environ.get("PATH", ""), "LANG": "C.UTF-8"}
    with tempfile.TemporaryFile() as file:
        file.write(raw)
        file.seek(0)
        process = subprocess.Popen(  # noqa: S603
            command,
            stdin=file,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=settings.BASE_DIR,
            env=environment,
        )
        stop = threading.Timer(LIMIT_S, process.kill)
        stop.start()
        try:
            for line in process.stdout or ():
                if line.endswith(b"\n"):
                    yield json.loads(line)
        finally:
            stop.cancel()
            process.kill()
            process.wait()
            if process.stdout:
                process.stdout.close()


def as_read(upload: ProtocolUpload) -> str:
    """What a person reads who looks at an upload: the row, and the newest document of its study."""
    newest = ProtocolDocument.objects.filter(project=upload.project_id).order_by("-pk").first()
    return f"{upload.updated_at.isoformat()} {newest.pk if newest else 0}"


def _is_otherwise(upload: ProtocolUpload, name: str, read: str) -> bool:
    """Whether the row, or the version that `name` has in force, is another one than was read."""
    at, _space, newest = read.partition(" ")
    if at != upload.updated_at.isoformat() or not newest.isdecimal():
        return True
    active = ProtocolDocument.objects.filter(
        project=upload.project_id, name=name, is_active=True, pk__gt=int(newest[:18])
    )
    return active.exists()


def publish(
    *,
    upload: ProtocolUpload,
    name: str,
    version: str = "",
    effective_on: date | None = None,
    read: str,
    actor: object,
) -> ProtocolDocument | None:
    """Put what was read in force as the document of that name, or on its day where that is to come (None).

    `read`: what the sender had read (`as_read`). Raises DocumentError where that is another one now, where the
    file is not read, or was put in force before.
    """
    if not name.strip():
        raise DocumentError(_("Please give the document a name."))
    with atomic():
        row = ProtocolUpload.objects.select_for_update().filter(
            pk=upload.pk, state__in=(State.READ, State.SCHEDULED)
        )
        found = row.first()
        if found is None:
            raise DocumentError(_("This file is not waiting to be put in force any more."))
        if _is_otherwise(found, name.strip(), read):
            raise DocumentError(_("This has changed meanwhile; please look again."))
        found.name, found.version, found.effective_on = name.strip(), version.strip(), effective_on
        found.sent_by = audit.actor_name(actor)
        if effective_on and effective_on > clock.today(found.project.timezone):
            found.state = State.SCHEDULED
            found.save()
            return None
        return _publish(found, actor)


def _publish(upload: ProtocolUpload, actor: object) -> ProtocolDocument:
    document = index.import_document(
        upload.project,
        upload.name,
        upload.text,
        version=upload.version,
        effective_on=upload.effective_on or clock.today(upload.project.timezone),
        actor=actor,
    )
    upload.state, upload.document = State.DONE, document
    upload.save()
    return document


def publish_due() -> None:
    """Put in force what was scheduled for a day that has come in its study; one that fails stops no other."""
    scheduled = ProtocolUpload.objects.filter(state=State.SCHEDULED)
    each("scheduled documents", scheduled.order_by("effective_on", "pk"), _publish_due)


def _publish_due(scheduled: ProtocolUpload) -> None:
    with atomic():
        rows = ProtocolUpload.objects.select_for_update(of=("self",)).select_related("project")
        upload = rows.filter(pk=scheduled.pk, state=State.SCHEDULED).first()
        if upload is None or upload.effective_on is None:
            return
        if upload.effective_on <= clock.today(upload.project.timezone):
            _publish(upload, upload.sent_by)


def wake_waiting() -> None:
    """Have files read whose message or reader was lost."""
    waiting = ProtocolUpload.objects.filter(
        state__in=(State.WAITING, State.READING), updated_at__lt=now() - LOST
    )
    for pk in waiting.values_list("pk", flat=True):
        task_queue.wake(TASK, pk)


def discard(*, upload: ProtocolUpload, actor: object) -> None:
    """Delete a file that is not in force, with what was read of it; the trail keeps that it was there."""
    with atomic():
        rows = ProtocolUpload.objects.filter(pk=upload.pk).exclude(state=State.DONE)
        state = rows.values_list("state", flat=True).first()
        if state is None or not rows.delete()[0]:
            return
        old = {"file": upload.filename, "state": state, "sent_by": upload.sent_by}
        audit.record(
            "document.discard", actor=actor, project=upload.project, subject=upload, old=old
        )
