"""The LLM of a study: which endpoint, how many tokens a day, and a row for every call.

Nothing here writes: rows are handed out by `usage_rows` for the transaction after the last call.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, time
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db.models import F, Sum
from django.utils.timezone import now

from engines import breaker
from engines.models import LlmUsage
from integrations.llm import (
    PRESETS,
    Completion,
    LlmAbilityMissing,
    LlmClient,
    LlmError,
    LlmProtocolError,
    LlmUnavailable,
    Message,
    Preset,
)
from integrations.privacy import Gate, PrivacyError
from projects.models import Project
from projects.prepared import Prepared

logger = logging.getLogger(__name__)


class LlmNotConfigured(LlmUnavailable):
    """No address or model is set."""


class TokenCapReached(LlmError):
    """The study used up its tokens of today."""


@dataclass
class Llm:
    """One request's use of the study's LLM. Make it before threads start; `ask` uses the cache alone.

    `gate`: what the messages went through, where no trace keeps what it replaced.
    """

    project: Project
    user_id: str = ""
    small: bool = False
    rows: list[LlmUsage] = field(default_factory=list)
    gate: Gate | None = None

    def __post_init__(self) -> None:
        self._left = self.project.llm_daily_token_cap - used_today(self.project)
        self._clients: list[LlmClient] | None = None

    @property
    def tokens(self) -> int:
        """Tokens of this request so far."""
        return sum(row.input_tokens + row.output_tokens for row in self.rows)

    @property
    def has_tools(self) -> bool:
        """Whether an endpoint that is up takes tools. Raises LlmNotConfigured, PrivacyError."""
        clients = self._connected()
        up = [client for client in clients if not breaker.is_open(client.endpoint)] or clients
        return any(self._takes_tools(client) for client in up)

    @property
    def model(self) -> str:
        """The model that answered last."""
        return self.rows[-1].model if self.rows else ""

    def ask(
        self,
        messages: Sequence[Message],
        *,
        purpose: str,
        version: str,
        tools: Sequence[Mapping[str, Any]] | None = None,
        schema: Mapping[str, Any] | None = None,
        temperature: float = 0.7,
        top_p: float = 0.9,
        max_tokens: int = 500,
        tries: int = 3,
    ) -> Completion:
        """Ask the model (seed 003, 6: 0.7, 0.9, 500 are the defaults of answers to people).

        Raises TokenCapReached, LlmNotConfigured, integrations.llm.LlmError, PrivacyError.
        """
        if self._left - self.tokens <= 0:
            raise TokenCapReached(0, "daily token cap")
        options = {
            "tools": tools,
            "schema": schema,
            "temperature": temperature,
            "top_p": top_p,
            "max_tokens": max_tokens,
            "tries": tries,
        }
        return self._first_of(self._able(tools), messages, purpose, version, options)

    def _able(self, tools: object) -> list[LlmClient]:
        """The endpoints worth asking, in order. Raises LlmUnavailable when all are left alone."""
        clients = self._connected()
        if tools:
            clients = [c for c in clients if self._takes_tools(c)] or clients
        up = [client for client in clients if not breaker.is_open(client.endpoint)]
        if not up:
            raise LlmUnavailable(0, "circuit open")
        return up

    def _first_of(
        self,
        clients: Sequence[LlmClient],
        messages: Sequence[Message],
        purpose: str,
        version: str,
        options: Mapping[str, Any],
    ) -> Completion:
        """The first answer; an endpoint that fails leaves the question to the next one."""
        last: LlmError = LlmUnavailable(0, "no endpoint")
        for client in clients:
            try:
                return self._one(client, messages, purpose, version, options)
            except LlmAbilityMissing as error:
                if error.what == "tools":
                    breaker.refused_tools(client.endpoint)
                last = error
            except LlmError as error:
                if isinstance(error, LlmUnavailable | LlmProtocolError):
                    breaker.failed(client.endpoint)
                logger.warning(
                    "LLM endpoint %d of %d: %s", 1 + clients.index(client), len(clients), error
                )
                last = error
        raise last

    def _one(
        self,
        client: LlmClient,
        messages: Sequence[Message],
        purpose: str,
        version: str,
        options: Mapping[str, Any],
    ) -> Completion:
        row = LlmUsage(
            project=self.project,
            user_id=self.user_id,
            purpose=purpose,
            model=client.model,
            prompt_version=version,
        )
        self.rows.append(row)
        started = now()
        try:
            done = client.complete(messages, **options)
        except (LlmError, PrivacyError):
            row.ok = False
            row.duration = int((now() - started).total_seconds() * 1000)
            raise
        breaker.worked(client.endpoint)
        row.input_tokens, row.output_tokens = done.usage.input, done.usage.output
        row.duration = done.duration_ms
        return done

    def save(self) -> None:
        """Write the rows of all calls; inside the caller's transaction."""
        replaced = self.gate.replaced if self.gate else []
        for row in self.rows:
            row.replaced = replaced
        LlmUsage.objects.bulk_create(self.rows)

    def _connected(self) -> list[LlmClient]:
        if self._clients is None:
            self._clients = clients_for(self.project, small=self.small)
        return self._clients

    def _takes_tools(self, client: LlmClient) -> bool:
        return client.has_tools and not breaker.lacks_tools(client.endpoint)


def clients_for(project: Project, *, small: bool = False) -> list[LlmClient]:
    """The study's endpoint, then the fallback of the environment.

    Raises LlmNotConfigured, integrations.privacy.OutsideRefused when there is neither.
    """
    found: list[LlmClient] = []
    problem: Exception | None = None
    for make in (partial(client_for, project, small=small), fallback):
        try:
            found += [client for client in (make(),) if client is not None]
        except (LlmNotConfigured, PrivacyError) as error:
            logger.warning("LLM configuration: %s", error)
            problem = problem or error
    if not found:
        raise problem or LlmNotConfigured(0, "no endpoint")
    return found


def fallback() -> LlmClient | None:
    """The second provider, `LLM_FALLBACK_PRESET`, `_BASE_URL`, `_API_KEY`, `_MODEL`; None without one."""
    preset = _setting("LLM_FALLBACK_PRESET", "")
    if not preset:
        return None
    base_url, key = _setting("LLM_FALLBACK_BASE_URL", ""), _setting("LLM_FALLBACK_API_KEY", "")
    return _client(preset, base_url, key, _setting("LLM_FALLBACK_MODEL", ""))


def client_for(project: Project, *, small: bool = False) -> LlmClient:
    """The study's endpoint. Raises LlmNotConfigured, integrations.privacy.OutsideRefused."""
    preset = _setting("LLM_PRESET", project.llm_preset)
    model = _setting("LLM_MODEL", project.llm_model)
    if small:
        model = _setting("LLM_SMALL_MODEL", project.llm_small_model) or model
    if not preset:
        raise LlmNotConfigured(0, "no preset")
    base_url = _setting("LLM_BASE_URL", project.llm_base_url)
    return _client(preset, base_url, _setting("LLM_API_KEY", project.llm_api_key), model)


def preset_of(project: Project) -> Preset:
    """What the study's endpoint can do; an unknown preset is refused by the first call, with its own error."""
    return PRESETS.get(_setting("LLM_PRESET", project.llm_preset), PRESETS["local"])


def _client(preset: str, base_url: str, api_key: str, model: str) -> LlmClient:
    timeout = float(settings.LLM_TIMEOUT_S)
    try:
        return LlmClient(
            base_url=base_url, api_key=api_key, model=model, preset=preset, timeout=timeout
        )
    except (KeyError, ValueError) as error:
        raise LlmNotConfigured(0, "preset, address or model") from error


def _setting(name: str, stored: str) -> str:
    """The environment wins over what the console stores; a demo default comes last (contracts.md)."""
    default: str = getattr(settings, name, "")
    explicit = os.environ.get(name) or _from_file(name)
    return (default or explicit) if explicit else stored or default


def _from_file(name: str) -> str:
    path = os.environ.get(f"{name}_FILE")
    try:
        return Path(path).read_text(encoding="utf-8").strip() if path else ""
    except OSError as error:
        raise LlmNotConfigured(0, f"{name}_FILE") from error


def _usage(project: UUID, since: datetime) -> Any:
    rows = LlmUsage.objects.filter(project=project, at__gte=since).order_by()
    used = Sum(F("input_tokens") + F("output_tokens"))
    return rows.values("project").annotate(used=used).values_list("used")


_USAGE: Prepared[Any] = Prepared(_usage, UUID, datetime)


def used_today(project: Project) -> int:
    """Tokens since midnight of the study's time zone."""
    zone = ZoneInfo(project.timezone)
    midnight = datetime.combine(now().astimezone(zone).date(), time.min, zone)
    return next((used for (used,) in _USAGE.rows(project.pk, midnight)), 0)
