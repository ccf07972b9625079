"""The documented inputs and outputs of the Memory Manager's actions (seed 004, 5), field by field."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Kind = Literal["FACT", "PREFERENCE", "INTENT"]


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class LoadInput(_Shape):
    """`query`: the user's question."""

    action: Literal["load_context"] = "load_context"
    query: str


class SaveInput(_Shape):
    """`assistantMessage` is part of the contract and never a source: it is neither sent nor stored."""

    action: Literal["save_info"] = "save_info"
    user_message: str = Field(alias="userMessage")
    assistant_message: str | None = Field(default=None, alias="assistantMessage")
    existing_info: dict[str, Any] | None = Field(default=None, alias="existingInfo")


class SummarizeInput(_Shape):
    """No more than its name."""

    action: Literal["summarize"] = "summarize"


Input = Annotated[LoadInput | SaveInput | SummarizeInput, Field(discriminator="action")]


class Memory(_Shape):
    """One memory as `load_context` gives it; `createdAt` a date."""

    type: Kind
    content: str
    importance: int
    category: str | None = None
    created_at: str | None = Field(default=None, alias="createdAt")


class LoadOutput(_Shape):
    """The user's memories, most important first, and a summary where there is enough of them."""

    action: Literal["load_context"] = "load_context"
    memories: list[Memory]
    user_profile_summary: str | None = None
    total_memories: int


class SavedMemory(_Shape):
    """A row that was saved; `field` joins several by "+"."""

    memory_type: Kind = Field(alias="memoryType")
    content: str
    field: str


class SaveOutput(_Shape):
    """What was extracted and kept; `saved_count` = rows saved (decisions.md)."""

    action: Literal["save_info"] = "save_info"
    extracted_info: dict[str, Any]
    saved_count: int
    saved_memories: list[SavedMemory]
    skipped_fields: list[str]


class Completeness(_Shape):
    """score = round(100 · filled / (filled + missing)) (decisions.md)."""

    score: int
    filled_fields: list[str]
    missing_fields: list[str]


class SummarizeOutput(_Shape):
    """The profile by groups of the schema; unknown = null."""

    action: Literal["summarize"] = "summarize"
    user_profile: dict[str, dict[str, Any]]
    completeness: Completeness
    narrative_summary: str


Output = LoadOutput | SaveOutput | SummarizeOutput
