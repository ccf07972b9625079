"""The Dify stand-in: one knowledge base with the study's documents (reference/redcap_dify.md 3.1)."""

from __future__ import annotations

from collections import Counter
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any

from demo.simulators.dify.index import Chunk, Index, keywords, split
from demo.simulators.dify.validation import PATH, DifyError, Query, check_key, read_query
from demo.simulators.http import Request, Response
from demo.simulators.state import State
from demo.simulators.study import load_documents, stamp

# The oddities of 3.1, all off until switched on.
SWITCHES = (
    "keyword_score_null",
    "hybrid_more_than_top_k",
    "zero_score_despite_threshold",
    "threshold_one_error",
    "api_disabled",
    "rate_limited",
    "not_initialized",
    "old_query_error",
    "external_records",
    "parent_child",
)
Hit = tuple[float | None, Chunk]


@lru_cache(maxsize=4)
def _index_of(study_dir: Path, today: date, _stamp: object) -> Index:
    documents = load_documents(study_dir, today)
    return Index([chunk for name, text in documents.items() for chunk in split(name, text)])


class DifyService:
    """Answers retrieve and hit-testing of the configured dataset."""

    name = "dify"
    prefix = "/dify/"

    def __init__(self, state: State, study_dir: Path) -> None:
        self.state = state
        self._study_dir = study_dir
        self._key = ""
        self._dataset = ""
        self.reset()
        state.on_today_changed.append(self.reset)

    def reset(self) -> None:
        """Read the documents again, switches off, hit counts 0."""
        self._index = _index_of(self._study_dir, self.state.today(), stamp(self._study_dir))
        self._switches = dict.fromkeys(SWITCHES, False)
        self._hits: Counter[str] = Counter()
        self._loaded_at = int(self.state.timestamp())

    def configure(self, settings: dict[str, Any]) -> None:
        """`key` and `dataset_id`."""
        self._key = settings.get("key") or self._key
        self._dataset = (settings.get("dataset_id") or self._dataset).lower()

    def control(self, path: str, request: Request) -> Response | None:
        """GET, POST /_control/dify/switches {name: bool}."""
        if path != "switches":
            return None
        if request.method == "POST":
            wanted: dict[str, bool] = request.json()
            unknown = sorted(set(wanted) - set(SWITCHES))
            if unknown:
                raise ValueError(f"unknown switches: {', '.join(unknown)}")
            self._switches |= wanted
        return Response.json(self._switches)

    def handle(self, request: Request) -> Response:
        """POST /dify/v1/datasets/{uuid}/retrieve."""
        match = PATH.fullmatch(request.path)
        if match is None:
            return Response.text("<h1>Not Found</h1>", 404, "text/html; charset=utf-8")
        if request.method != "POST":
            return Response.text("Method Not Allowed", 405)
        try:
            return self._retrieve(request, match[1].lower())
        except DifyError as problem:
            return problem.response()

    def _retrieve(self, request: Request, dataset: str) -> Response:
        check_key(request, self._key)
        if dataset != self._dataset:
            raise DifyError(404, "not_found", "Dataset not found.")
        self._check_switches()
        query = read_query(request, old_texts=self._switches["old_query_error"])
        hits = self._search(query)
        return Response.json(
            {
                "query": {"content": query.text},
                "records": [self._record(score, chunk) for score, chunk in hits],
            }
        )

    def _check_switches(self) -> None:
        if self._switches["api_disabled"]:
            raise DifyError(403, "forbidden", "Dataset api access is not enabled.")
        if self._switches["rate_limited"]:
            text = (
                "Sorry, you have reached the knowledge base request rate limit of your "
                "subscription."
            )
            raise DifyError(403, "forbidden", text)
        if self._switches["not_initialized"]:
            text = "The dataset is still being initialized or indexing. Please wait a moment."
            raise DifyError(400, "dataset_not_initialized", text)

    def _search(self, query: Query) -> list[Hit]:
        if self._switches["threshold_one_error"] and query.threshold == 1:
            raise DifyError(500, "internal_server_error", "score_threshold must be less than 1")
        semantic = query.method in ("semantic_search", "hybrid_search")
        found = self._index.search(query.text, singles=semantic)
        hits: list[Hit] = [(s, c) for s, c in found if semantic or s > 0]
        if query.threshold is not None and query.method != "keyword_search":
            hits = self._above(hits, query.threshold)
        return self._odd(hits, query)

    def _above(self, hits: list[Hit], threshold: float) -> list[Hit]:
        kept: list[Hit] = [(s, c) for s, c in hits if s is not None and s >= threshold]
        if self._switches["zero_score_despite_threshold"]:
            kept += [(0.0, c) for s, c in hits[len(kept) : len(kept) + 1]]
        return kept

    def _odd(self, hits: list[Hit], query: Query) -> list[Hit]:
        top = hits[: query.top_k]
        if query.method == "keyword_search" and self._switches["keyword_score_null"]:
            return [(None, chunk) for _, chunk in top]
        if query.method == "hybrid_search" and self._switches["hybrid_more_than_top_k"]:
            extra: list[Hit] = [(None, chunk) for _, chunk in hits[query.top_k : 2 * query.top_k]]
            return top + extra
        return top

    def _record(self, score: float | None, chunk: Chunk) -> dict[str, Any]:
        rounded = None if score is None else round(score, 4)
        if self._switches["external_records"]:
            metadata = {"position": chunk.position}
            title = chunk.document
            return {
                "content": chunk.content,
                "title": title,
                "score": rounded,
                "metadata": metadata,
            }
        children = []
        if self._switches["parent_child"]:
            child = {"id": f"{chunk.id}-1", "content": chunk.content[:80], "position": 1}
            children = [{**child, "score": rounded}]
        return {
            "segment": self._segment(chunk),
            "child_chunks": children,
            "score": rounded,
            "tsne_position": None,
            "files": [],
            "summary": None,
        }

    def _segment(self, chunk: Chunk) -> dict[str, Any]:
        self._hits[chunk.id] += 1
        times = dict.fromkeys(("created_at", "indexing_at", "completed_at"), self._loaded_at)
        blanks = dict.fromkeys(("disabled_at", "disabled_by", "error", "stopped_at"))
        return {
            "id": chunk.id,
            "position": chunk.position,
            "document_id": chunk.document_id,
            "content": chunk.content,
            "sign_content": "",
            "answer": "",
            "word_count": len(chunk.content),
            "tokens": len(chunk.content),
            "keywords": keywords(chunk.content),
            "index_node_id": chunk.id,
            "index_node_hash": chunk.id.replace("-", ""),
            "hit_count": self._hits[chunk.id],
            "enabled": True,
            "status": "completed",
            "created_by": chunk.document_id,
            **times,
            **blanks,
            "document": {
                "id": chunk.document_id,
                "data_source_type": "upload_file",
                "name": chunk.document,
                "doc_type": None,
                "doc_metadata": None,
            },
        }
