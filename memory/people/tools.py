"""The two tools of the Memory Manager, as documented (seed 004, 3), and reading what is kept.

No model calls them: what is saved (`fact_store.write`), and of whom, is decided by the code around them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from memory.hot import similarity
from memory.models import UserMemory
from memory.people import fact_store
from memory.people.results import Memory
from memory.people.schemas import Schema
from memory.visibility import Scope, scope_of
from projects.models import Member

SAVE, READ = "save_user_memory", "get_user_context"
_TYPES = ["FACT", "PREFERENCE", "INTENT"]


def definitions(schema: Schema) -> list[dict[str, Any]]:
    """Both tools with their inputs; categories are those of the schema."""
    saved: dict[str, Any] = {
        "memoryType": {"type": "string", "enum": _TYPES},
        "content": {"type": "string"},
    }
    if schema.categories:
        saved["category"] = {"type": "string", "enum": list(schema.categories)}
    return [
        {
            "name": SAVE,
            "description": "将用户信息保存到长期记忆存储。每条记忆包含类型、内容和相关类别。",
            "input_schema": {
                "type": "object",
                "properties": saved,
                "required": ["memoryType", "content"],
            },
        },
        {
            "name": READ,
            "description": "获取用户的历史记忆和背景信息。返回按重要性和相关性排序的记忆列表。",
            "input_schema": {
                "type": "object",
                "properties": {"query": {"type": "string"}},
                "required": ["query"],
            },
        },
    ]


def get_user_context(member: Member, query: str, scope: Scope | None = None) -> list[UserMemory]:
    """What holds about the member, by importance, then by relevance to the query, then the newest first.

    A memory that names a record the member may not see (any more) is left out like a line of hot memory.
    `scope`: the member's, where this request has read it already.
    """
    words = _grams(query)

    def rank(row: UserMemory) -> tuple[int, int, float]:
        shared = len(words & _grams(row.content))
        return -row.importance, -shared, -row.created_at.timestamp()

    rows = fact_store.holding(member)
    if member.site and rows:
        scope = scope or scope_of(member)
        rows = [row for row in rows if scope.allows(row.content)]
    return sorted(rows, key=rank)


@lru_cache(maxsize=2048)
def _grams(text: str) -> frozenset[str]:
    """Remembered: a user's memories are ranked with every message."""
    found = similarity.pieces(text)
    return found[0].grams if found else frozenset()


def as_memory(row: UserMemory) -> Memory:
    """A row as `load_context` gives it."""
    return Memory.model_validate(
        {
            "type": row.memory_type,
            "content": row.content,
            "importance": row.importance,
            "category": row.category or None,
            "createdAt": row.created_at.date().isoformat(),
        }
    )
