"""What Dify checks in a retrieve request, in its order and words (reference/redcap_dify.md 3.1)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from demo.simulators.http import Request, Response

QUERY_LIMIT = 250
DEFAULT_TOP_K = 4
METHODS = ("keyword_search", "semantic_search", "full_text_search", "hybrid_search")
REQUIRED = ("search_method", "reranking_enable", "top_k", "score_threshold_enabled")
PATH = re.compile(r"/dify/v1/datasets/([0-9a-fA-F-]{36})/(?:retrieve|hit-testing)")


class DifyError(Exception):
    """A refusal: `{"code","message","status"}`."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message

    def response(self) -> Response:
        """The answer, with the challenge header on 401."""
        body = {"code": self.code, "message": self.message, "status": self.status}
        answer = Response.json(body, self.status)
        if self.status == 401:
            answer.headers["WWW-Authenticate"] = 'Bearer realm="api"'
        return answer


@dataclass(frozen=True)
class Query:
    """A checked request."""

    text: str
    method: str = "semantic_search"
    top_k: int = DEFAULT_TOP_K
    threshold: float | None = None


def check_key(request: Request, key: str) -> None:
    """Raises DifyError 401 in Dify's three ways."""
    header = request.headers.get("Authorization", "")
    if " " not in header:
        raise _unauthorized("Authorization header must be provided and start with 'Bearer'")
    scheme, _, value = header.strip().partition(" ")
    if scheme.lower() != "bearer":
        raise _unauthorized("Authorization scheme must be 'Bearer'")
    if not key or value.strip() != key:
        raise _unauthorized("Access token is invalid")


def read_query(request: Request, *, old_texts: bool) -> Query:
    """Raises DifyError 400. `old_texts` = the wording before pydantic (issue 16724)."""
    try:
        body = request.json()
    except ValueError:
        raise DifyError(400, "bad_request", _NOT_JSON) from None
    if not isinstance(body, dict):
        raise DifyError(400, "bad_request", _NOT_JSON)
    problems = _query_problems(body, old_texts=old_texts) + _model_problems(body)
    if problems:
        raise _invalid(_report(problems))
    if not body.get("query") and not body.get("attachment_ids"):
        raise _invalid("Query or attachment_ids is required")
    return _query(body)


def _query(body: dict[str, Any]) -> Query:
    text = body.get("query") or ""
    model = body.get("retrieval_model")
    if not model:
        return Query(text)
    threshold = model.get("score_threshold") if model["score_threshold_enabled"] else None
    return Query(text, model["search_method"], int(model["top_k"]), threshold)


def _query_problems(body: dict[str, Any], *, old_texts: bool) -> list[str]:
    text = body.get("query")
    if text is None:
        return []
    if not isinstance(text, str):
        return [_problem("query", "Input should be a valid string", "string_type", text)]
    if len(text) <= QUERY_LIMIT:
        return []
    if old_texts:
        raise _invalid("Query is required and cannot exceed 250 characters")
    return [_problem("query", "String should have at most 250 characters", "string_too_long", text)]


def _model_problems(body: dict[str, Any]) -> list[str]:
    model = body.get("retrieval_model")
    if model is None:
        return []
    if not isinstance(model, dict):
        text = "Input should be a valid dictionary or instance of RetrievalModel"
        return [_problem("retrieval_model", text, "model_type", model)]
    missing = [
        _problem(f"retrieval_model.{name}", "Field required", "missing", model)
        for name in REQUIRED
        if name not in model
    ]
    return missing + [problem for problem in _value_problems(model) if problem]


def _value_problems(model: dict[str, Any]) -> list[str]:
    found = []
    method, top_k = model.get("search_method"), model.get("top_k", 1)
    if "search_method" in model and method not in METHODS:
        known = ", ".join(f"'{name}'" for name in METHODS[:-1]) + f" or '{METHODS[-1]}'"
        text = f"Input should be {known}"
        found.append(_problem("retrieval_model.search_method", text, "enum", method))
    if not isinstance(top_k, int) or isinstance(top_k, bool):
        text = "Input should be a valid integer"
        found.append(_problem("retrieval_model.top_k", text, "int_type", top_k))
    for name in ("reranking_enable", "score_threshold_enabled"):
        if not isinstance(model.get(name, True), bool):
            text = "Input should be a valid boolean"
            found.append(_problem(f"retrieval_model.{name}", text, "bool_type", model[name]))
    return found


def _problem(where: str, text: str, kind: str, value: Any) -> str:
    shown = repr(value)
    if len(shown) > 50:
        shown = f"{shown[:25]}...{shown[-24:]}"
    detail = f"[type={kind}, input_value={shown}, input_type={type(value).__name__}]"
    link = f"    For further information visit https://errors.pydantic.dev/2.11/v/{kind}"
    return f"{where}\n  {text} {detail}\n{link}"


def _report(problems: list[str]) -> str:
    plural = "" if len(problems) == 1 else "s"
    head = f"{len(problems)} validation error{plural} for HitTestingPayload"
    return "\n".join([head, *problems])


def _unauthorized(message: str) -> DifyError:
    return DifyError(401, "unauthorized", message)


def _invalid(message: str) -> DifyError:
    return DifyError(400, "invalid_param", message)


_NOT_JSON = "The browser (or proxy) sent a request that this server could not understand."
