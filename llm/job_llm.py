"""The study's model lent to the jobs of memory, which each own a registry (CONTRIBUTING.md, Layers)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from integrations.llm import LlmError
from integrations.redcap import RedcapError
from llm.asking import Llm
from privacy.gate import Gate
from privacy.outbound_policy import PrivacyError
from projects.endpoints import Purpose
from study.client import NotConfiguredError
from study.request_cache import Reader
from study.study_gate import gate_for

Model = TypeVar("Model", bound=BaseModel)
Down = Callable[[str, Callable[[], None]], Exception]


@contextmanager
def lent(
    reader: Reader, down: Down, *, user_id: str = "", purpose: Purpose = Purpose.SMALL
) -> Iterator[tuple[Llm, Gate]]:
    """A model for one request, with the gate of its reader.

    What goes wrong is raised as `down(why, save)`; `save` writes what was used nevertheless.
    """
    llm = Llm(reader.project, user_id=user_id, model_purpose=purpose)
    try:
        gate = llm.gate = gate_for(reader)
        yield llm, gate
    except (LlmError, PrivacyError, RedcapError, NotConfiguredError) as error:
        raise down(type(error).__name__, llm.save) from error


def valid_rows(model: type[Model], rows: object) -> Iterator[Model]:
    """Those of a model's list that fit; whatever else it wrote is left out."""
    for row in rows if isinstance(rows, list) else ():
        try:
            yield model.model_validate(row)
        except ValidationError:
            continue
