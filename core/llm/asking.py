"""The LLM of a study: which endpoint, how many tokens a day, and a row for every call.

Nothing here writes: rows are handed out by `usage_rows` for the transaction after the last call.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from datetime import datetime, time
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import F, Sum
from django.utils.timezone import now

from core.integrations.llm import (
    Completion,
    LlmAbilityMissing,
    LlmClient,
    LlmError,
    LlmIncomplete,
    LlmProtocolError,
    LlmUnavailable,
    Message,
)
from core.llm import acceptance, breaker, standing
from core.llm.models import LlmUsage
from core.llm.providers import clients_for
from core.privacy.gate import Gate
from core.privacy.outbound_policy import PrivacyError
from projects.endpoints import Purpose
from projects.models import Project

logger = logging.getLogger(__name__)


class TokenCapReached(LlmError):
    """The study used up its tokens of today."""


@dataclass
class Llm:
    """One request's use of the study's LLM. Make it before threads start; `ask` uses the cache alone.

    `model_purpose`: whose model is asked (`of` gives that of another one).
    `gate`: what the messages went through, where no trace keeps what it replaced.
    """

    project: Project
    user_id: str = ""
    model_purpose: Purpose = Purpose.CHAT
    rows: list[LlmUsage] = field(default_factory=list)
    gate: Gate | None = None

    def __post_init__(self) -> None:
        self._left = self.project.llm_daily_token_cap - used_today(self.project)
        self._clients: list[LlmClient] | None = None
        self._standings = standing.findings_of(self.project)
        self._barred = acceptance.barred(self.project)
        self._choosers = acceptance.choosers(self.project)

    def of(self, purpose: Purpose) -> Llm:
        """The model of another purpose for the same request: one budget and one list of rows."""
        other = copy(self)
        other.model_purpose, other._clients = purpose, None
        return other

    @property
    def tokens(self) -> int:
        """Tokens of this request so far."""
        return sum(row.input_tokens + row.output_tokens for row in self.rows)

    @property
    def has_tools(self) -> bool:
        """Whether an endpoint that is up and may choose takes tools. Raises LlmNotConfigured, PrivacyError."""
        clients = self._choosing(self._connected())
        up = [client for client in clients if not breaker.is_open(client.endpoint)] or clients
        return any(self._takes_tools(client) for client in up)

    def may(self, ability: str) -> bool:
        """Whether the first endpoint that is up may be asked for it. Raises LlmNotConfigured, PrivacyError."""
        clients = self._connected()
        up = [client for client in clients if not breaker.is_open(client.endpoint)]
        if ability == standing.SAY:
            up = self._choosing(up)
        return bool(up) and ability not in self._barred and self._standing(up[0]).may(ability)

    @property
    def is_plain(self) -> bool:
        """Whether no model of the purpose may choose what an answer shows (core.llm.acceptance)."""
        if standing.SAY in self._barred:
            return True
        try:
            return not self._choosing(self._connected())
        except (LlmError, PrivacyError):
            return False  # to ask it says why

    @property
    def model(self) -> str:
        """The model that answered last."""
        return self.rows[-1].model if self.rows else ""

    @property
    def asked(self) -> list[dict[str, str]]:
        """Each purpose with the provider and model that were asked for it, once, in order."""
        names = ("model_purpose", "provider", "model")
        told = dict.fromkeys(tuple(getattr(row, name) for name in names) for row in self.rows)
        return [dict(zip(("purpose", "provider", "model"), one, strict=True)) for one in told]

    def ask(
        self,
        messages: Sequence[Message],
        *,
        purpose: str,
        version: str,
        tools: Sequence[Mapping[str, Any]] | None = None,
        schema: Mapping[str, Any] | None = None,
        must_call: bool = False,
        temperature: float = 0.7,
        top_p: float = 0.9,
        max_tokens: int = 500,
        tries: int = 3,
        is_choice: bool = False,
    ) -> Completion:
        """Ask the model (seed 003, 6: 0.7, 0.9, 500 are the defaults of answers to people).

        `must_call`: one of the `tools` has to be called. `is_choice`: what comes back chooses what an answer
        shows, so that no endpoint but an accepted one is asked (core.llm.acceptance).
        Raises TokenCapReached, LlmNotConfigured, integrations.llm.LlmError, PrivacyError.
        """
        if self._left - self.tokens <= 0:
            raise TokenCapReached(0, "daily token cap")
        options = {
            "tools": tools,
            "schema": schema,
            "must_call": must_call,
            "temperature": temperature,
            "top_p": top_p,
            "max_tokens": max_tokens,
            "tries": tries,
        }
        return self._first_of(self._able(tools, is_choice), messages, purpose, version, options)

    def _able(self, tools: object, is_choice: bool) -> list[LlmClient]:
        """The endpoints worth asking, in order. Raises LlmUnavailable when all are left alone."""
        clients = self._connected()
        if is_choice:
            clients = self._choosing(clients)
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
                broke = isinstance(error, LlmUnavailable | LlmProtocolError)
                if broke and not isinstance(error, LlmIncomplete):
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
            model_purpose=self.model_purpose,
            provider=client.preset,
            model=client.model,
            prompt_version=version,
        )
        self.rows.append(row)
        started = now()
        if options.get("schema") is not None:
            client.mode = breaker.mode_of(client.endpoint) or self._standing(client).mode
        asked_first = client.modes[:1]
        try:
            done = client.complete(messages, **options)
        except (LlmError, PrivacyError) as error:
            row.ok = False
            if isinstance(error, LlmIncomplete):
                row.input_tokens, row.output_tokens = error.usage.input, error.usage.output
            row.duration = int((now() - started).total_seconds() * 1000)
            raise
        breaker.worked(client.endpoint)
        if options.get("schema") is not None and (client.mode,) != asked_first:
            breaker.answers_by(client.endpoint, client.mode)
        row.input_tokens, row.output_tokens = done.usage.input, done.usage.output
        row.duration = done.duration_ms
        return done

    def save(self) -> None:
        """Write the rows of all calls; inside the caller's transaction."""
        replaced = self.gate.replaced if self.gate else []
        for row in self.rows:
            row.replaced = replaced
        LlmUsage.objects.bulk_create(self.rows)

    def _standing(self, client: LlmClient) -> standing.Standing:
        return self._standings.get((self.model_purpose, client.endpoint), standing.UNKNOWN)

    def _connected(self) -> list[LlmClient]:
        if self._clients is None:
            self._clients = clients_for(self.project, self.model_purpose)
        return self._clients

    def _choosing(self, clients: Sequence[LlmClient]) -> list[LlmClient]:
        chosen = self._choosers
        return [client for client in clients if chosen is None or client.endpoint in chosen]

    def _takes_tools(self, client: LlmClient) -> bool:
        return client.has_tools and not breaker.lacks_tools(client.endpoint)


def midnight_of(project: Project) -> datetime:
    """When today began in the study's time zone: caps are counted from there."""
    zone = ZoneInfo(project.timezone)
    return datetime.combine(now().astimezone(zone).date(), time.min, zone)


def used_today(project: Project) -> int:
    """Tokens since midnight of the study's time zone."""
    rows = LlmUsage.objects.filter(project=project, at__gte=midnight_of(project))
    used: int = rows.aggregate(used=Sum(F("input_tokens") + F("output_tokens"), default=0))["used"]
    return used
