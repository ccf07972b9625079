"""Asking the small model what a message wants, where the offline detector is not sure (design.md 6).

It is asked with all labels. What only the model sees and what starts or stores something is put to the
reader as a question and not carried out; what only the detector, unsure, takes for such an order is not
carried out either.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from engines.assistant.chat.turn import Turn
from engines.assistant.intents import Detection, Intent, Part
from integrations.llm import LlmError, Message
from llm import prompts
from privacy.outbound_policy import PrivacyError
from projects.endpoints import Purpose

logger = logging.getLogger(__name__)

ORDERS = frozenset({Intent.QC_TASK, Intent.GENERATE_REPORT, Intent.REMEMBER, Intent.FEEDBACK})
"""What starts or stores something; a write request is only ever guided."""
MOST = 4
_UNSURE = "unsure"
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "intents": {
            "type": "array",
            "items": {"type": "string", "enum": [*map(str, Intent), _UNSURE]},
            "minItems": 1,
            "maxItems": MOST,
        }
    },
    "required": ["intents"],
    "additionalProperties": False,
}


def settle(turn: Turn) -> Detection:
    """The detection, with the model's intents for a message that the detector is not sure of.

    The offline answer stands when the model is down, says nonsense, or is unsure too.
    """
    found = turn.detection
    uses = turn.skill.switches
    if found.sure or not (uses.model and uses.ask_intent):
        return found
    said = _asked(turn)
    turn.note("intent", action="+".join(found.intents), observation="+".join(said) or "-")
    if not said or set(said) == set(found.intents):
        return found
    text = turn.resolved(turn.text)
    parts = [_part(found, intent, text, alone=len(said) == 1) for intent in said]
    return replace(found, intents=list(said), parts=parts)


def _part(found: Detection, intent: Intent, text: str, *, alone: bool) -> Part:
    """The detector's own part of an intent; else the whole message, an order only as a proposal."""
    own = [part for part in found.parts if part.intent == intent]
    if own and not alone:
        return own[0]
    named = any(part.named for part in found.parts)
    is_new = not own and intent in ORDERS
    return Part(text, str(intent), found.confidence, found.record_ids, named, proposed=is_new)


def _asked(turn: Turn) -> Sequence[Intent]:
    """The model's intents, none twice; () for anything else."""
    prompt = prompts.load("intent", 2)
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
            max_tokens=80,
            tries=1,
        )
        turn.versions.append(prompt.version)
        said = done.json().get("intents")
    except (LlmError, PrivacyError) as error:
        logger.warning("Intent: %s", error)
        return ()
    if not isinstance(said, list) or not 0 < len(said) <= MOST:
        return ()
    known = {str(intent): intent for intent in Intent}
    if any(not isinstance(one, str) or one not in known for one in said):
        return ()
    return tuple(dict.fromkeys(known[one] for one in said))
