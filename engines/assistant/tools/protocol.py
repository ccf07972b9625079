"""The tool search_protocol: Dify where the study has it, else the local index."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from core.integrations import tokens
from core.integrations.dify import DifyError
from core.integrations.passages import Passage
from core.privacy.outbound_policy import PrivacyError
from engines.assistant.tools.results import Status, ToolContext, ToolResult
from study.client import NotConfiguredError, dify_client
from study.protocol import index
from study.protocol.rules import rule_lines
from study.protocol.units import Unit

logger = logging.getLogger(__name__)

NAME = "search_protocol"
TOP_K = 5
WIDE = 20
PASSAGE_TOKENS = 400


def search_protocol(context: ToolContext, arguments: Mapping[str, Any]) -> ToolResult:
    """The passages nearest to a question. A failing Dify leaves the local index, and says so."""
    query = str(arguments["query"])
    found, down = _from_dify(context, query)
    own = index.find_rules(context.project, query, passages=found or ()).quoted
    if found is None:
        found = index.search(context.project, query, WIDE)
    return describe(_first(found, own), dify_down=down)


def _first(found: Sequence[Passage], own: Sequence[Unit]) -> list[Passage]:
    """The passages with the rule that answers before the others; the rule itself where none holds it."""
    if not own:
        return list(found)
    if not any(own[0].text in one.content for one in found):
        content = "\n".join([own[0].place, *rule_lines(own)])
        return [Passage(own[0].document, content, 0, None, ""), *found]
    return sorted(found, key=lambda one: own[0].text not in one.content)


def _from_dify(context: ToolContext, query: str) -> tuple[list[Passage] | None, bool]:
    """Passages and whether Dify failed; None: ask the local index."""
    try:
        client = dify_client(context.project)
    except (NotConfiguredError, ValueError):
        return None, False
    try:
        return client.retrieve(context.gate.text(query), TOP_K), False
    except (DifyError, PrivacyError) as error:
        logger.warning("Dify: %s", error)
        return None, True


def describe(found: Sequence[Passage], *, dify_down: bool) -> ToolResult:
    """Passages as a result, `[文档1] name (相关度: 92.0%)` (seed 003, 2.2)."""
    blocks = tuple(_block(number, passage) for number, passage in enumerate(found[:TOP_K], 1))
    note = _("The knowledge base cannot be reached; this is from the local documents.")
    if not blocks:
        status = Status.DOWN if dify_down else Status.NOT_FOUND
        empty = (
            _("The knowledge base could not be read.")
            if dify_down
            else _("The documents say nothing about it.")
        )
        return ToolResult(NAME, status, empty, outside_down=dify_down)
    return ToolResult(
        NAME,
        Status.INCOMPLETE if dify_down else Status.OK,
        "\n---\n".join([*blocks, *([note] if dify_down else [])]),
        passages=tuple(found[:TOP_K]),
        sources=tuple(
            {"kind": "document", "name": passage.document, "position": passage.position}
            for passage in found[:TOP_K]
        ),
        outside_down=dify_down,
    )


def _block(number: int, passage: Passage) -> str:
    score = f" (相关度: {passage.score * 100:.1f}%)" if passage.score is not None else ""
    return (
        f"[文档{number}] {passage.document}{score}\n{tokens.cut(passage.content, PASSAGE_TOKENS)}"
    )
