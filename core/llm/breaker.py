"""The circuit breaker of LLM endpoints, shared by all workers through the cache.

After three failures in a row an endpoint is left alone for half a minute; then one failure is enough.
"""

from __future__ import annotations

import hashlib

from django.core.cache import cache

from core.integrations.llm import Mode

FAILURES = 3
OPEN_S = 30
REMEMBERED_S = 300
ABILITY_S = 3600


def _key(what: str, endpoint: str) -> str:
    return f"llm:{what}:{hashlib.sha256(endpoint.encode()).hexdigest()[:24]}"


def is_open(endpoint: str) -> bool:
    """Whether an endpoint is being left alone."""
    return cache.get(_key("open", endpoint)) is not None


def failed(endpoint: str) -> None:
    """Count a failure; the third in a row opens the circuit."""
    key = _key("failures", endpoint)
    count = int(cache.get(key) or 0) + 1
    cache.set(key, count, REMEMBERED_S)
    if count >= FAILURES:
        cache.set(_key("open", endpoint), 1, OPEN_S)


def worked(endpoint: str) -> None:
    """Forget the failures; nothing is written where there were none."""
    if cache.get(_key("failures", endpoint)) is not None:
        cache.delete_many([_key("failures", endpoint), _key("open", endpoint)])


def lacks_tools(endpoint: str) -> bool:
    """Whether an endpoint refused tools within the last hour."""
    return cache.get(_key("no-tools", endpoint)) is not None


def refused_tools(endpoint: str) -> None:
    """Remember that an endpoint takes no tools."""
    cache.set(_key("no-tools", endpoint), 1, ABILITY_S)


def mode_of(endpoint: str) -> Mode | None:
    """The structured mode that an endpoint answered in when it refused a better one, within the last hour."""
    found = cache.get(_key("mode", endpoint))
    return Mode(found) if found else None


def answers_by(endpoint: str, mode: Mode | None) -> None:
    """Remember in which structured mode an endpoint answered."""
    if mode is not None:
        cache.set(_key("mode", endpoint), str(mode), ABILITY_S)
