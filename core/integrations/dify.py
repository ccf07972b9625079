"""Dataset retrieval from Dify (reference/redcap_dify.md 3.1).

Dify stores every query and echoes parts of it in its errors: only de-identified text goes out, and
nothing of an error's text is kept.
"""

import re
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from uuid import UUID

import httpx

from core.integrations.passages import Passage
from core.integrations.pool import http
from core.privacy.gate import Deidentified

QUERY_LIMIT = 250
PARENT_LIMIT = 1_000
"""Characters: a longer parent segment is replaced by the children that matched."""

_TIMEOUT = httpx.Timeout(30.0, connect=5.0)
_RETRIED = frozenset({502, 503, 504})
_QUESTION = re.compile(
    r"[?？吗呢]|什么|多少|多久|哪|如何|怎|是否|几|能否|可否|为何|谁|"
    r"\b(?:what|when|which|who|how|why|is|are|can|does)\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[^。！？!?；;，,、\n]+[。！？!?；;，,、\n]*")
_CODE = re.compile(r"[a-z_]{1,60}")


class DifyError(Exception):
    """Dify refused: `status` of HTTP and Dify's own `code` ("" if unknown), no text of either side."""

    def __init__(self, status: int, code: str = "") -> None:
        self.status = status
        self.code = code
        super().__init__(f"{type(self).__name__}: status {status}, code {code or '-'}")


class DifyPermissionError(DifyError):
    """401 or 403: wrong key, API access off, or the cloud's rate limit (which is a 403)."""


class DifyNotFoundError(DifyError):
    """404: no such dataset for this key."""


class DifyUnavailable(DifyError):
    """No answer, or a gateway's 502, 503, 504, or 500."""


class DifyProtocolError(DifyError):
    """An answer that is not what the API promises."""


class DifyClient:
    """One dataset; `base_url` ends in /v1. A key opens all datasets of its owner, we ask only one."""

    def __init__(
        self,
        base_url: str,
        key: str,
        dataset_id: str,
        *,
        search_method: str = "semantic_search",
        sleep: Callable[[float], None] = time.sleep,
        pause: float = 0.5,
    ) -> None:
        dataset = UUID(dataset_id)
        self._url = f"{base_url.rstrip('/')}/datasets/{dataset}/retrieve"
        self._key = key
        self._search_method = search_method
        self._sleep, self._pause = sleep, pause

    def __repr__(self) -> str:
        return f"DifyClient({self._url!r})"

    def retrieve(self, query: Deidentified, top_k: int = 5) -> list[Passage]:
        """The best `top_k` passages, best first, unscored last; [] when nothing is found.

        Raises TypeError for text that did not pass the privacy gate, OutsideRefused for an address
        the policy does not allow, DifyError otherwise.
        """
        if not isinstance(query, Deidentified):
            raise TypeError("Dify accepts de-identified text only")
        if not query.strip():
            return []
        body = _read(self._ask(shorten(query), top_k))
        records = body.get("records") if isinstance(body, dict) else None
        if not isinstance(records, list):
            raise DifyProtocolError(200)
        return _best(_passages(records), top_k)

    def _ask(self, query: str, top_k: int) -> httpx.Response:
        answer = self._send(query, top_k)
        again = answer.status_code in _RETRIED if isinstance(answer, httpx.Response) else answer
        if again:
            self._sleep(self._pause)
            answer = self._send(query, top_k)
        if not isinstance(answer, httpx.Response):
            raise DifyUnavailable(0)
        return answer

    def _send(self, query: str, top_k: int) -> httpx.Response | bool:
        """One try. httpx's exception holds query and key: instead, whether to try again."""
        model = {
            "search_method": self._search_method,
            "reranking_enable": False,
            "top_k": top_k,
            "score_threshold_enabled": False,
        }
        body = {"query": query, "retrieval_model": model}
        headers = {"Authorization": f"Bearer {self._key}"}
        try:
            return http().post(self._url, json=body, headers=headers, timeout=_TIMEOUT)
        except httpx.TimeoutException:
            return False
        except (httpx.TransportError, httpx.DecodingError):
            return True


def shorten(query: str) -> str:
    """At most 250 characters: clauses that ask come first, the rest as far as there is room."""
    if len(query) <= QUERY_LIMIT:
        return str(query)
    clauses = _CLAUSE.findall(query)
    kept: set[int] = set()
    room = QUERY_LIMIT
    # Later clauses before earlier ones: people tell first and ask last.
    order = sorted(range(len(clauses)), key=lambda i: (not _QUESTION.search(clauses[i]), -i))
    for i in order:
        if len(clauses[i]) <= room:
            kept.add(i)
            room -= len(clauses[i])
    return "".join(clauses[i] for i in sorted(kept)) or str(query)[-QUERY_LIMIT:]


def _read(response: httpx.Response) -> Any:
    try:
        body = response.json()
    except (ValueError, RecursionError):
        body = None
    status = response.status_code
    if status == 200:
        return body
    code = str(body.get("code", "")) if isinstance(body, dict) else ""
    raise _error_class(status, body)(status, code if _CODE.fullmatch(code) else "")


def _error_class(status: int, body: object) -> type[DifyError]:
    if status in (401, 403):
        return DifyPermissionError
    if status == 404:
        return DifyNotFoundError
    if status >= 500:
        return DifyUnavailable
    return DifyError if isinstance(body, dict) else DifyProtocolError


def _passages(records: list[Any]) -> Iterator[Passage]:
    for record in records:
        if not isinstance(record, dict):
            raise DifyProtocolError(200)
        segment = record.get("segment")
        passage = _of_segment(record, segment) if segment else _of_external(record)
        if passage.content:
            yield passage


def _of_segment(record: dict[str, Any], segment: Any) -> Passage:
    document = segment.get("document") or {} if isinstance(segment, dict) else None
    hits = record.get("child_chunks") or []
    if (
        not isinstance(segment, dict)
        or not isinstance(document, dict)
        or not isinstance(hits, list)
    ):
        raise DifyProtocolError(200)
    position = segment.get("position")
    children = [c for c in hits if isinstance(c, dict)]
    scores = [_score(record.get("score")), *(_score(child.get("score")) for child in children)]
    return Passage(
        document=str(document.get("name") or ""),
        content=_content(segment, children),
        position=position if isinstance(position, int) else 0,
        score=next((score for score in scores if score is not None), None),
        segment_id=str(segment.get("id") or ""),
    )


def _content(segment: dict[str, Any], children: list[dict[str, Any]]) -> str:
    """The segment with the answer of a question-and-answer dataset; for a huge parent its hits."""
    parts = [str(segment.get("content") or ""), str(segment.get("answer") or "")]
    text = "\n".join(part.strip() for part in parts if part.strip())
    hits = "\n".join(str(child.get("content") or "").strip() for child in children)
    return hits.strip() if hits.strip() and (not text or len(text) > PARENT_LIMIT) else text


def _of_external(record: dict[str, Any]) -> Passage:
    """External knowledge bases give content, title, score, metadata and no segment."""
    return Passage(
        document=str(record.get("title") or ""),
        content=str(record.get("content") or "").strip(),
        position=0,
        score=_score(record.get("score")),
        segment_id="",
    )


def _score(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _best(passages: Iterable[Passage], top_k: int) -> list[Passage]:
    ranked = sorted(passages, key=lambda p: (p.score is None, -(p.score or 0.0)))
    once = {p.segment_id or f"{p.document}\n{p.content}": p for p in reversed(ranked)}
    return [p for p in ranked if once[p.segment_id or f"{p.document}\n{p.content}"] is p][:top_k]
