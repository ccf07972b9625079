"""Which problems an operation of the API answers with, said once for the whole schema (contracts.md, HTTP)."""

from __future__ import annotations

from typing import Any

from house.api_errors import CONTENT_TYPE

ANY = {
    400: "Something sent means nothing here; `errors` names it.",
    401: "No valid token or session.",
    404: "There is no such thing, or it is not yours to know of.",
    406: "The answer is to be had as JSON only.",
}
WRITE = {
    403: "Your role does not allow this.",
    409: "It does not fit the present state.",
    413: "More than a request may hold.",
    415: "The body is neither JSON nor a form.",
}
OUTSIDE = {
    409: "A study's settings cannot be followed.",
    503: "REDCap could not be read.",
}
"""Operations that read a study's REDCap while they are asked."""
READS_REDCAP = ("/visits/", "/task-runs/", "/chat/")
PROBLEM = {
    "type": "object",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "code": {"type": "string"},
        "detail": {"type": "string"},
        "errors": {
            "type": "object",
            "additionalProperties": {},
            "description": "What is wrong, by the name of the parameter or field.",
        },
    },
    "required": ["type", "title", "status", "code", "detail"],
    "description": "RFC 9457. A conflict has members of its own beside these.",
}


def documented(result: dict[str, Any], **_given: Any) -> dict[str, Any]:
    """The schema with the problems of each operation (a hook of drf-spectacular)."""
    components = result.setdefault("components", {})
    components.setdefault("schemas", {})["Problem"] = PROBLEM
    for path, methods in result["paths"].items():
        for method, operation in methods.items():
            operation["responses"] |= _responses(path, method)
    return result


def _responses(path: str, method: str) -> dict[str, Any]:
    outside = OUTSIDE if any(part in path for part in READS_REDCAP) else {}
    said = outside | ANY | (WRITE if method != "get" else {})
    return {str(status): _answer(said[status]) for status in sorted(said)}


def _answer(text: str) -> dict[str, Any]:
    reference = {"$ref": "#/components/schemas/Problem"}
    return {"description": text, "content": {CONTENT_TYPE: {"schema": reference}}}
