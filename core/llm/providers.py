"""Which endpoint is asked: that of the study and purpose, the house's, and the second provider.

The environment wins over the console (contracts.md, Settings): an address or preset that it names is
everybody's. Else a purpose has what the console gives it, then what it gives the chat, then the defaults.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from django.conf import settings

from core.integrations.llm import PRESETS, LlmClient, LlmUnavailable, Preset
from core.privacy.outbound_policy import PrivacyError
from projects import endpoints
from projects.endpoints import Purpose
from projects.models import Project

logger = logging.getLogger(__name__)


class LlmNotConfigured(LlmUnavailable):
    """No address or model is set."""


@dataclass(frozen=True)
class Provider:
    """Where a model is asked: `preset` tells what the endpoint can do; a blank address is the preset's."""

    preset: str
    base_url: str
    key: str
    model: str


def clients_for(project: Project, purpose: Purpose = Purpose.CHAT) -> list[LlmClient]:
    """The purpose's endpoint, then the fallback of the environment.

    Raises LlmNotConfigured, privacy.gate.OutsideRefused when there is neither.
    """
    found: list[LlmClient] = []
    problem: Exception | None = None
    makers: tuple[Callable[[], LlmClient | None], ...] = (
        partial(client_for, project, purpose),
        fallback,
    )
    for make in makers:
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
    return _client(Provider(preset, base_url, key, _setting("LLM_FALLBACK_MODEL", "")))


def client_for(project: Project, purpose: Purpose = Purpose.CHAT) -> LlmClient:
    """The purpose's endpoint. Raises LlmNotConfigured, privacy.gate.OutsideRefused."""
    found = provider_of(project, purpose)
    if not found.preset:
        raise LlmNotConfigured(0, "no preset")
    return _client(found)


def preset_of(project: Project, purpose: Purpose = Purpose.CHAT) -> Preset:
    """What the purpose's endpoint can do; the first call refuses an unknown preset, with its own error."""
    return PRESETS.get(provider_of(project, purpose).preset, PRESETS["local"])


def provider_of(project: Project, purpose: Purpose = Purpose.CHAT) -> Provider:
    """Provider and model of a purpose. Raises LlmNotConfigured where a file that is named is not there."""
    preset = _setting("LLM_PRESET", project.llm_preset)
    # The default address is that of the default preset: another one has its own.
    is_default = not (_explicit("LLM_BASE_URL") or project.llm_base_url)
    is_other = is_default and preset != settings.LLM_PRESET
    base_url = "" if is_other else _setting("LLM_BASE_URL", project.llm_base_url)
    chat = Provider(
        preset,
        base_url,
        _key(project, preset, base_url),
        _setting("LLM_MODEL", project.llm_model),
    )
    own = str(getattr(project, f"{purpose.prefix}_model"))
    if purpose is Purpose.CHAT:
        return chat
    if purpose is Purpose.SMALL and _explicit("LLM_SMALL_BASE_URL"):
        return _small_of_environment(chat)
    if not _is_pinned() and endpoints.has_own(project, purpose):
        return _own(project, purpose, chat)
    return _of_chat(project, purpose, chat, own)


def _of_chat(project: Project, purpose: Purpose, chat: Provider, own: str) -> Provider:
    """The chat's provider with the purpose's model; a name that belongs to another provider says nothing."""
    if endpoints.has_own(project, purpose):
        own = ""
    name = "LLM_SMALL_MODEL" if purpose is Purpose.SMALL else "LLM_MODEL"
    return replace(chat, model=_setting(name, own or chat.model))


def _own(project: Project, purpose: Purpose, chat: Provider) -> Provider:
    """A provider of the purpose's own: the chat's key goes to it only at the chat's address."""
    given = partial(getattr, project)
    preset: str = given(f"{purpose.prefix}_preset") or chat.preset
    base_url: str = given(f"{purpose.prefix}_base_url")
    if not (base_url or _address(preset, "")):
        raise LlmNotConfigured(0, "no address")
    key: str = given(f"{purpose.prefix}_api_key")
    if not key and endpoints.is_same(
        _address(preset, base_url), _address(chat.preset, chat.base_url)
    ):
        key = chat.key
    model: str = given(f"{purpose.prefix}_model")
    if purpose is Purpose.SMALL:
        model = _setting("LLM_SMALL_MODEL", model)
    # The chat's model is known by its name where the provider is of the same kind.
    return Provider(preset, base_url, key, model or (chat.model if preset == chat.preset else ""))


def _small_of_environment(chat: Provider) -> Provider:
    """The provider of small work that the environment names beside the chat's; no key of another address."""
    base_url, preset = _explicit("LLM_SMALL_BASE_URL"), _explicit("LLM_SMALL_PRESET") or chat.preset
    is_same = endpoints.is_same(_address(preset, base_url), _address(chat.preset, chat.base_url))
    key = _explicit("LLM_SMALL_API_KEY") or (chat.key if is_same else "")
    model = _explicit("LLM_SMALL_MODEL") or (chat.model if preset == chat.preset else "")
    return Provider(preset, base_url, key, model)


def _is_pinned() -> bool:
    """Whether the environment names the endpoint."""
    return any(_explicit(name) for name in ("LLM_PRESET", "LLM_BASE_URL"))


def _key(project: Project, preset: str, base_url: str) -> str:
    """The house's key goes to the house's address; to one that the study chose goes the study's own."""
    house = _address(settings.LLM_PRESET, settings.LLM_BASE_URL)
    if endpoints.is_same(_address(preset, base_url), house):
        return _setting("LLM_API_KEY", project.llm_api_key)
    own: str = project.llm_api_key
    return own


def _address(preset: str, base_url: str) -> str:
    return base_url or PRESETS.get(preset, PRESETS["local"]).base_url


def _client(found: Provider) -> LlmClient:
    try:
        return LlmClient(
            base_url=found.base_url,
            api_key=found.key,
            model=found.model,
            preset=found.preset,
            timeout=float(settings.LLM_TIMEOUT_S),
            pause=settings.LLM_RETRY_PAUSE_S,
        )
    except (KeyError, ValueError) as error:
        raise LlmNotConfigured(0, "preset, address or model") from error


def _setting(name: str, stored: str) -> str:
    """The environment wins over what the console stores; a demo default comes last (contracts.md)."""
    default: str = getattr(settings, name, "")
    explicit = _explicit(name)
    return (default or explicit) if explicit else stored or default


def _explicit(name: str) -> str:
    return os.environ.get(name) or _from_file(name)


def _from_file(name: str) -> str:
    path = os.environ.get(f"{name}_FILE")
    try:
        return Path(path).read_text(encoding="utf-8").strip() if path else ""
    except OSError as error:
        raise LlmNotConfigured(0, f"{name}_FILE") from error
