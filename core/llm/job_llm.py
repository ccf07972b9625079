"""A session with the study's model, for the jobs of memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from core.integrations.llm import LlmError
from core.integrations.redcap import RedcapError
from core.llm.asking import Llm
from core.privacy.gate import Gate
from core.privacy.outbound_policy import PrivacyError
from projects.endpoints import Purpose
from study.client import NotConfiguredError
from study.identities import gate_for
from study.request_cache import Reader

Model = TypeVar("Model", bound=BaseModel)


class ModelDown(Exception):
    """No model answers; the deterministic part has to do. `save` writes what was used nevertheless."""

    def __init__(self, why: str, save: Callable[[], None] = lambda: None) -> None:
        super().__init__(why)
        self.save = save


@contextmanager
def llm_session(
    reader: Reader, *, user_id: str = "", purpose: Purpose = Purpose.SMALL
) -> Iterator[tuple[Llm, Gate]]:
    """A model for one request, with the gate of its reader. Raises ModelDown for whatever goes wrong."""
    llm = Llm(reader.project, user_id=user_id, model_purpose=purpose)
    try:
        gate = llm.gate = gate_for(reader)
        yield llm, gate
    except (LlmError, PrivacyError, RedcapError, NotConfiguredError) as error:
        raise ModelDown(type(error).__name__, llm.save) from error


def form_of(name: str, **columns: dict[str, Any]) -> dict[str, Any]:
    """The JSON schema of an answer that is one list `name` of rows, each with all these columns."""
    row = {
        "type": "object",
        "properties": columns,
        "required": list(columns),
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {name: {"type": "array", "items": row}},
        "required": [name],
        "additionalProperties": False,
    }


def valid_rows(model: type[Model], rows: object) -> Iterator[Model]:
    """Those of a model's list that fit; whatever else it wrote is left out."""
    for row in rows if isinstance(rows, list) else ():
        try:
            yield model.model_validate(row)
        except ValidationError:
            continue
