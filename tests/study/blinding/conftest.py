"""Studies with arms behind stand-ins of their own, blinded; zhangyi (PI) is unblinded in none of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.core.cache import cache
from django.db import transaction
from pytest_django import Settings

from study.blinding import services
from tests.study.blinding import twins
from tests.support.prompts import told_to_models
from tests.support.stand_ins import StandIns
from tests.support.study import Study, seed_afresh

Open = Callable[[str], Study]
OfBoth = Callable[[Callable[[Study], Any]], list[Any]]


@pytest.fixture(scope="session")
def twin_servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, StandIns]]:
    path = tmp_path_factory.mktemp("twins")
    made = {twin: StandIns(twins.folder(path, twin)) for twin in "ab"}
    yield made
    for servers in made.values():
        servers.stop()


@pytest.fixture
def open_twin(db: None, twin_servers: dict[str, StandIns], settings: Settings) -> Iterator[Open]:
    """The study of a twin, open as a new one is."""
    used: list[StandIns] = []

    def opened(twin: str) -> Study:
        servers = twin_servers[twin]
        servers.reset()
        settings.SIM_PORT = servers.port
        settings.WECOM_API_BASE = f"{servers.url}/wecom/cgi-bin"
        settings.LLM_BASE_URL = f"{servers.url}/llm/v1"
        used.append(servers)
        return seed_afresh(servers)

    yield opened
    for servers in used:
        assert told_to_models(servers.requests("llm")) == []


@pytest.fixture
def of_both(open_twin: Open) -> OfBoth:
    """What is told of each twin, the other one never having been there."""

    def told(tell: Callable[[Study], Any]) -> list[Any]:
        found = []
        for twin in "ab":
            cache.clear()
            with transaction.atomic():
                found.append(tell(open_twin(twin)))
                transaction.set_rollback(True)
        return found

    return told


@pytest.fixture
def study(open_twin: Open) -> Study:
    """Twin a, blinded."""
    found = open_twin("a")
    services.switch_on(project=found.project, fields=twins.fields(), actor="test")
    for member in found.members.values():
        member.project.refresh_from_db()
    return found
