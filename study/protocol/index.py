"""The study's documents: import and local search (reference/redcap_dify.md 3.2)."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from uuid import UUID

from django.db import IntegrityError
from django.db.models import Count, Max
from django.utils.timezone import now
from django.utils.translation import gettext as _

from house.db import atomic
from integrations.passages import Passage
from projects import audit
from projects.models import Project
from study.models import ProtocolChunk, ProtocolDocument
from study.protocol.bm25 import Index
from study.protocol.chunking import Chunk, chunks
from study.protocol.excerpts import Excerpt, Shelf, Unit
from study.protocol.synonyms import synonyms_of

LEAST_SCORE = 0.3
"""Below it a passage shares some characters with the question but does not answer it."""


MAX_PASSAGES = 5000


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
    project: Project, name: str, text: str, *, version: str = "", actor: object = "system"
) -> ProtocolDocument:
    """Store `text` (Markdown or plain) as the document `name`; the one it replaces stays, inactive.

    Unchanged text is left alone. Raises DocumentError.
    """
    parts, digest = passages(text), hashlib.sha256(text.encode()).hexdigest()
    document = ProtocolDocument(
        project=project, name=name, version=version, text=text, digest=digest
    )
    try:
        return _stored(document, parts, actor)
    except IntegrityError:  # somebody else's became the active one in between
        return _stored(document, parts, actor)


def _stored(document: ProtocolDocument, parts: list[Chunk], actor: object) -> ProtocolDocument:
    active = ProtocolDocument.objects.filter(
        project=document.project, name=document.name, is_active=True
    )
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
        audit.record(
            "document.import",
            actor=actor,
            project=document.project,
            subject=document,
            old={"version": before.version, "digest": before.digest} if before else None,
            new={
                "version": document.version,
                "digest": document.digest,
                "passages": len(parts),
            },
        )
    return document


def search(project: Project, query: str, top_k: int = 5) -> list[Passage]:
    """The best passages for a question, best first; [] when the documents do not answer it."""
    index = _index_of(project)
    found = index.bm25.search(query, synonyms_of(query, _own(project)), LEAST_SCORE)
    return [_passage(index.passages[number], score) for number, score in found[:top_k]]


def excerpt(project: Project, question: str, passages: Sequence[Passage] = ()) -> Excerpt | None:
    """The rule that answers a question: of the study's own documents, else out of `passages` from outside.

    None when neither speaks of it.
    """
    own = _own(project)
    found = _shelf_of(project).answer(question, own)
    return found or Shelf([(p.document, p.content) for p in passages]).answer(question, own)


def units(project: Project, question: str, most: int) -> list[Unit]:
    """The rules of the study's own documents that speak of a question, best first."""
    return [unit for _score, unit in _shelf_of(project).ranked(question, _own(project))[:most]]


@dataclass(frozen=True)
class _Stored:
    pk: int
    document: str
    position: int
    heading: str
    content: str


@dataclass(frozen=True)
class _ProjectIndex:
    bm25: Index
    passages: tuple[_Stored, ...]


def _shelf_of(project: Project) -> Shelf:
    active = ProtocolDocument.objects.filter(project=project, is_active=True)
    digests = active.order_by("name").values_list("name", "digest")
    return _shelved(project.pk, project.code, tuple(digests))


@lru_cache(maxsize=16)
def _shelved(project_id: UUID, code: str, state: tuple[tuple[str, str], ...]) -> Shelf:
    """The documents, called by their names without that of the study."""
    active = ProtocolDocument.objects.filter(project_id=project_id, is_active=True)
    texts = active.order_by("name").values_list("name", "text")
    return Shelf([(name.removeprefix(code).strip() or name, text) for name, text in texts])


def _index_of(project: Project) -> _ProjectIndex:
    """The index in memory, built anew when a document or the number of passages changes."""
    state = ProtocolDocument.objects.filter(project=project, is_active=True).aggregate(
        changed=Max("updated_at"), last=Max("chunks__pk"), count=Count("chunks")
    )
    return _build(project.pk, tuple(state.values()))


@lru_cache(maxsize=16)
def _build(project_id: UUID, state: tuple[object, ...]) -> _ProjectIndex:
    rows = ProtocolChunk.objects.filter(
        document__project_id=project_id, document__is_active=True
    ).order_by("document__name", "position")
    passages = tuple(
        _Stored(*row)
        for row in rows.values_list("pk", "document__name", "position", "heading", "content")
    )
    return _ProjectIndex(Index([(p.heading, p.content) for p in passages]), passages)


def _passage(stored: _Stored, score: float) -> Passage:
    return Passage(
        document=stored.document,
        content=stored.content,
        position=stored.position,
        score=round(score, 3),
        segment_id=str(stored.pk),
    )


def _own(project: Project) -> Mapping[str, Iterable[str]]:
    """The study's table, entries of another shape left out."""
    table = project.synonyms if isinstance(project.synonyms, dict) else {}
    return {
        term: [other for other in others if isinstance(other, str)]
        for term, others in table.items()
        if isinstance(others, list)
    }
