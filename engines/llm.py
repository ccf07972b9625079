"""The LLM of a study: which endpoint, how many tokens a day, and a row for every call.

Nothing here writes: rows are handed out by `usage_rows` for the transaction after the last call.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, time
from typing import Any
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db.models import Sum
from django.utils.timezone import now

from engines.models import LlmUsage
from integrations.llm import Completion, LlmClient, LlmError, LlmUnavailable, Message
from integrations.privacy import PrivacyError
from projects.models import Project


class LlmNotConfigured(LlmUnavailable):
    """No address or model is set."""


class TokenCapReached(LlmError):
    """The study used up its tokens of today."""


@dataclass
class Llm:
    """One request's use of the study's LLM. Make it before threads start; `ask` reads no database."""

    project: Project
    user_id: str = ""
    small: bool = False
    rows: list[LlmUsage] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._left = self.project.llm_daily_token_cap - used_today(self.project)
        self._client: LlmClient | None = None

    @property
    def tokens(self) -> int:
        """Tokens of this request so far."""
        return sum(row.input_tokens + row.output_tokens for row in self.rows)

    @property
    def has_tools(self) -> bool:
        """Whether the endpoint takes tools. Raises LlmNotConfigured, PrivacyError."""
        return self._connected().has_tools

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
        client = self._connected()
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
            done = client.complete(
                messages,
                tools=tools,
                schema=schema,
                temperature=temperature,
                top_p=top_p,
                max_tokens=max_tokens,
                tries=tries,
            )
        except (LlmError, PrivacyError):
            row.ok = False
            row.duration = int((now() - started).total_seconds() * 1000)
            raise
        row.input_tokens, row.output_tokens = done.usage.input, done.usage.output
        row.duration = done.duration_ms
        return done

    def save(self) -> None:
        """Write the rows of all calls; inside the caller's transaction."""
        LlmUsage.objects.bulk_create(self.rows)

    def _connected(self) -> LlmClient:
        if self._client is None:
            self._client = client_for(self.project, small=self.small)
        return self._client


def client_for(project: Project, *, small: bool = False) -> LlmClient:
    """The study's endpoint. Raises LlmNotConfigured, integrations.privacy.OutsideRefused."""
    preset = _setting("LLM_PRESET", project.llm_preset)
    model = _setting("LLM_MODEL", project.llm_model)
    if small:
        model = _setting("LLM_SMALL_MODEL", project.llm_small_model) or model
    if not preset:
        raise LlmNotConfigured(0, "no preset")
    try:
        return LlmClient(
            base_url=_setting("LLM_BASE_URL", project.llm_base_url),
            api_key=_setting("LLM_API_KEY", project.llm_api_key),
            model=model,
            preset=preset,
            timeout=float(getattr(settings, "LLM_TIMEOUT_S", 60.0)),
        )
    except (KeyError, ValueError) as error:
        raise LlmNotConfigured(0, "preset, address or model") from error


def _setting(name: str, stored: str) -> str:
    """The environment wins over what the console stores; a demo default comes last (contracts.md)."""
    default: str = getattr(settings, name, "")
    explicit = os.environ.get(name) or os.environ.get(f"{name}_FILE")
    return default if explicit else stored or default


def used_today(project: Project) -> int:
    """Tokens since midnight of the study's time zone."""
    zone = ZoneInfo(project.timezone)
    midnight = datetime.combine(now().astimezone(zone).date(), time.min, zone)
    rows = LlmUsage.objects.filter(project=project, at__gte=midnight)
    sums = rows.aggregate(input=Sum("input_tokens"), output=Sum("output_tokens"))
    return (sums["input"] or 0) + (sums["output"] or 0)
