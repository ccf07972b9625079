"""The study's documents: import and local search (reference/redcap_dify.md 3.2)."""

from __future__ import annotations

import codecs
import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import lru_cache
from typing import Any

from django.db import IntegrityError
from django.db.models import QuerySet
from django.utils.timezone import now
from django.utils.translation import gettext as _

from core.house.db import atomic
from core.integrations.passages import Passage
from projects import audit
from projects.models import Project
from study.models import ProtocolChunk, ProtocolDocument
from study.protocol.rules import Found, RuleIndex, is_protocol
from study.protocol.units import Chunk, Unit, chunks

MAX_PASSAGES = 20_000


class DocumentError(ValueError):
    """A text that can't be a document; its words are for the reader."""


class EmptyDocumentError(DocumentError):
    """A document without any text to cite."""


def passages(text: str) -> list[Chunk]:
    """What of a text can be cited. Raises DocumentError."""
    found = chunks(text)
    if not found:
        raise EmptyDocumentError(_("The document has no text."))
    if len(found) > MAX_PASSAGES:
        raise DocumentError(
            _("The document has more than %(number)d sections; please divide it.")
            % {"number": MAX_PASSAGES}
        )
    return found


def import_document(
    project: Project,
    name: str,
    text: str,
    *,
    version: str = "",
    effective_on: date | None = None,
    actor: object = "system",
) -> ProtocolDocument:
    """Store `text` (Markdown or plain) as the document `name`; the one it replaces stays, inactive.

    `effective_on`: the day since which this version holds. Unchanged text is left alone. Raises DocumentError.
    """
    parts, digest = passages(text), hashlib.sha256(text.encode()).hexdigest()
    document = ProtocolDocument(
        project=project,
        name=name,
        version=version,
        text=text,
        digest=digest,
        effective_on=effective_on,
    )
    try:
        return _stored(document, parts, actor)
    except IntegrityError:  # somebody else's became the active one in between
        return _stored(document, parts, actor)


def _stored(document: ProtocolDocument, parts: list[Chunk], actor: object) -> ProtocolDocument:
    active = _active(document.project).filter(name=document.name)
    with atomic():
        before = active.first()
        if before and (before.version, before.digest) == (document.version, document.digest):
            return before
        active.update(is_active=False, updated_at=now())
        document.pk = None
        document.save(force_insert=True)
        ProtocolChunk.objects.bulk_create(
            ProtocolChunk(
                document=document, position=number, heading=part.heading, content=part.content
            )
            for number, part in enumerate(parts, 1)
        )
        old = {"version": before.version, "digest": before.digest} if before else None
        new = {"version": document.version, "digest": document.digest, "passages": len(parts)}
        about: dict[str, Any] = {
            "project": document.project,
            "subject": document,
            "old": old,
            "new": new,
        }
        audit.record("document.import", actor=actor, **about)
    return document


def search(project: Project, query: str, top_k: int = 5) -> list[Passage]:
    """The best rules for a question as passages, best first; [] when the documents do not speak of it."""
    rules = _rules_of(project)
    names = {
        _called(project, name): name for name in _active(project).values_list("name", flat=True)
    }
    return [
        Passage(
            document=names.get(unit.document, unit.document),
            content=f"{unit.heading}\n{unit.lead}{unit.text}".strip(),
            position=unit.position,
            score=round(min(1.0, score), 3),
            segment_id="",
        )
        for score, unit in rules.ranked(query, own_synonyms(project))[:top_k]
    ]


def find_rules(
    project: Project, question: str, search: str = "", passages: Sequence[Passage] = ()
) -> Found:
    """The rules that speak of a question, and whether the first may be quoted unasked.

    `search`: further words to look for, such as a model's. `passages`: from outside, where the study's own
    documents say nothing.
    """
    own = own_synonyms(project)
    rules = _rules_of(project)
    found = rules.find(question, own, search)
    if search and not found.rules:
        # A question in another language than the documents'; whether they answer it nobody can say.
        found = replace(rules.find(search, own), is_sure=False)
    if found.rules or not passages:
        return found
    return RuleIndex([(one.document, one.content) for one in passages]).find(question, own, search)


def paragraph_of(project: Project, unit: Unit, most: int) -> str:
    """The paragraph that a sentence stands in, where it has at most so many characters, else the sentence."""
    same = [
        one.text
        for one in _rules_of(project).units
        if (one.document, one.section, one.paragraph)
        == (unit.document, unit.section, unit.paragraph)
    ]
    whole = "".join(same) if unit.paragraph >= 0 else ""
    return whole if 0 < len(whole) <= most else f"{unit.lead}{unit.text}"


def criterion(project: Project, questions: Sequence[str], section: str = "") -> tuple[Unit, ...]:
    """The protocol's own words of a criterion: of the `section` that is cited, else what answers a question.

    Of the protocol alone where the study has stored one: a guide says how a field is filled, not what must
    hold. () where it says nothing.
    """
    own, rules = own_synonyms(project), _rules_of(project, protocol=True)
    if section and (found := rules.within(section, questions, own)):
        return found
    told = (rules.find(question, own).quoted for question in questions)
    return next((one for one in told if one), ())


def missing_sections(project: Project, cited: Iterable[str]) -> set[str]:
    """Those of the numbers `cited` that no document in force has; none while no document is in force."""
    rules = _rules_of(project)
    return {one for one in cited if not rules.has(one)} if rules.units else set()


def titled(project: Project, title: str) -> tuple[Unit, ...]:
    """The numbered rules of the protocol's section of that title, in their order; () where there is none."""
    return tuple(
        unit
        for unit in _rules_of(project, protocol=True).units
        if unit.title == title and unit.listed
    )


def _active(project: Project) -> QuerySet[ProtocolDocument]:
    return ProtocolDocument.objects.filter(project=project, is_active=True).order_by("name")


def _called(project: Project, name: str) -> str:
    """A document's name without that of the study."""
    return name.removeprefix(project.code).strip() or name


def _rules_of(project: Project, *, protocol: bool = False) -> RuleIndex:
    digests = tuple(_active(project).values_list("name", "digest"))
    if protocol:
        digests = tuple(one for one in digests if is_protocol(one[0])) or digests
    return _indexed(project, digests)


@lru_cache(maxsize=16)
def _indexed(project: Project, state: tuple[tuple[str, str], ...]) -> RuleIndex:
    """The documents of `state`, in memory until one of them changes."""
    texts = _active(project).filter(name__in=[name for name, _digest in state])
    return RuleIndex(
        [(_called(project, name), text) for name, text in texts.values_list("name", "text")]
    )


def own_synonyms(project: Project) -> Mapping[str, Iterable[str]]:
    """The study's table, entries of another shape left out."""
    table = project.synonyms if isinstance(project.synonyms, dict) else {}
    return {
        term: [other for other in others if isinstance(other, str)]
        for term, others in table.items()
        if isinstance(others, list)
    }


MAX_BYTES = 1024 * 1024
_ENCODINGS = ("utf-8-sig", "gb18030")
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# PDF, Word since 2007 (a ZIP) and before.
_BINARY = (b"%PDF", b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\ud800-\udfff]")


def decoded_document(raw: bytes) -> str:
    """The text of an uploaded file in UTF-8, GB18030, or UTF-16 with its mark. Raises DocumentError."""
    if len(raw) > MAX_BYTES:
        raise _too_large()
    if raw.startswith(_BINARY):
        raise DocumentError(
            _("PDF and Word files are read by “Upload files” on the page of documents.")
        )
    for encoding in ("utf-16",) if raw.startswith(_WIDE) else _ENCODINGS:
        try:
            return checked_document(raw.decode(encoding))
        except UnicodeDecodeError:
            continue
    raise _no_text()


def checked_document(text: str) -> str:
    """A text that can be stored and cited. Raises DocumentError."""
    if _CONTROL.search(text):
        raise _no_text()
    if len(text.encode()) > MAX_BYTES:
        raise _too_large()
    passages(text)
    return text


def add_document(
    *, project: Project, name: str, text: str, version: str = "", actor: object
) -> ProtocolDocument:
    """Store a text as the study's document of this name and index it; what it replaces is kept, inactive.

    Raises DocumentError.
    """
    return import_document(project, name, checked_document(text), version=version, actor=actor)


def delete_document(*, document: ProtocolDocument, actor: object) -> None:
    """Take one version out; an older one does not come back."""
    old = {name: getattr(document, name) for name in ("version", "digest", "is_active")}
    with atomic():
        about: dict[str, Any] = {"project": document.project, "subject": document, "old": old}
        audit.record("document.delete", actor=actor, **about)
        document.delete()


def _too_large() -> DocumentError:
    return DocumentError(
        _("The document is larger than %(number)d KB.") % {"number": MAX_BYTES // 1024}
    )


def _no_text() -> DocumentError:
    return DocumentError(_("The document is no text in UTF-8 or GB18030."))
