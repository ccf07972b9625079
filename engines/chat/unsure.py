"""Asking the small model what a message wants, where the offline detector is unsure (design.md 6).

Never for a command: what starts, stores or decides something is only what the offline rules say.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from engines import prompts
from engines.chat.turn import Turn
from engines.intents import Detection
from integrations.llm import LlmError, Message
from integrations.privacy import PrivacyError
from projects.endpoints import Purpose

logger = logging.getLogger(__name__)

UNSURE_BELOW = 0.6
ASKABLE = (
    "query_record",
    "count_records",
    "query_protocol",
    "project_info",
    "visit_window",
    "query_history",
    "analyze_trend",
    "qa_query",
    "off_topic",
)
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"intent": {"type": "string", "enum": [*ASKABLE, "general_chat", "unsure"]}},
    "required": ["intent"],
    "additionalProperties": False,
}


def settle(turn: Turn) -> Detection:
    """The detection, with the model's intent for a single unsure question.

    The offline answer stands when the model is down, says nonsense, or is unsure too.
    """
    found = turn.detection
    uses = turn.skill.switches
    if not (uses.model and uses.ask_intent and _is_unsure(found)):
        return found
    intent = _asked(turn)
    turn.note("intent", action=found.intents[0], observation=intent or "-")
    if intent not in ASKABLE:
        return found
    return replace(found, intents=[intent], parts=[replace(found.parts[0], intent=intent)])


def _is_unsure(found: Detection) -> bool:
    return (
        len(found.parts) == 1
        and found.confidence < UNSURE_BELOW
        and found.parts[0].intent in ASKABLE
    )


def _asked(turn: Turn) -> str:
    prompt = prompts.load("intent")
    small = turn.llm.of(Purpose.SMALL)
    messages = [
        Message("system", turn.gate.text(prompt.text)),
        Message("user", turn.gate.text(turn.resolved(turn.text), own=True)),
    ]
    try:
        done = small.ask(
            messages,
            purpose="intent",
            version=prompt.version,
            schema=SCHEMA,
            temperature=0.0,
            top_p=1.0,
            max_tokens=60,
            tries=1,
        )
        turn.versions.append(prompt.version)
        return str(done.json().get("intent"))
    except (LlmError, PrivacyError) as error:
        logger.warning("Intent: %s", error)
        return ""
