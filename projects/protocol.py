"""The study's documents: import and local search (reference/redcap_dify.md 3.2)."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from uuid import UUID

from django.db.models import Count, Max
from django.utils.translation import gettext as _

from integrations.passages import Passage
from projects import audit
from projects.bm25 import Index
from projects.chunking import chunks
from projects.db import atomic
from projects.models import Project, ProtocolChunk, ProtocolDocument
from projects.synonyms import synonyms_of

LEAST_SCORE = 0.3
"""Below it a passage shares some characters with the question but does not answer it."""


class EmptyDocumentError(ValueError):
    """A document without any text to cite."""


def import_document(
    project: Project, name: str, text: str, *, version: str = "", actor: object = "system"
) -> ProtocolDocument:
    """Store `text` (Markdown or plain) as the document `name`, replacing its passages.

    Unchanged text is left alone. Raises EmptyDocumentError.
    """
    passages = chunks(text)
    if not passages:
        raise EmptyDocumentError(_("The document %(name)s has no text.") % {"name": name})
    digest = hashlib.sha256(text.encode()).hexdigest()
    same = ProtocolDocument.objects.filter(
        project=project, name=name, version=version, digest=digest
    ).first()
    if same is not None:
        return same
    with atomic():
        document, _created = ProtocolDocument.objects.update_or_create(
            project=project,
            name=name,
            defaults={"text": text, "version": version, "digest": digest},
        )
        document.chunks.all().delete()
        ProtocolChunk.objects.bulk_create(
            ProtocolChunk(
                document=document, position=number, heading=part.heading, content=part.content
            )
            for number, part in enumerate(passages, 1)
        )
        audit.record(
            "document.import",
            actor=actor,
            project=project,
            subject=document,
            new={"version": version, "digest": digest, "passages": len(passages)},
        )
    return document


def search(project: Project, query: str, top_k: int = 5) -> list[Passage]:
    """The best passages for a question, best first; [] when the documents do not answer it."""
    index = _index_of(project)
    found = index.bm25.search(query, synonyms_of(query, _own(project)), LEAST_SCORE)
    return [_passage(index.passages[number], score) for number, score in found[:top_k]]


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


def _index_of(project: Project) -> _ProjectIndex:
    """The index in memory, built anew when a document or the number of passages changes."""
    state = ProtocolDocument.objects.filter(project=project).aggregate(
        changed=Max("updated_at"), last=Max("chunks__pk"), count=Count("chunks")
    )
    return _build(project.pk, tuple(state.values()))


@lru_cache(maxsize=16)
def _build(project_id: UUID, state: tuple[object, ...]) -> _ProjectIndex:
    rows = ProtocolChunk.objects.filter(document__project_id=project_id).order_by(
        "document__name", "position"
    )
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
