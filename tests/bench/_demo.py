"""The demo study on SQLite in a folder of its own, the stand-ins in a thread, over real HTTP."""

from __future__ import annotations

import base64
import logging
import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


@contextmanager
def study() -> Iterator[Any]:
    """The project. Django must not be set up yet: each benchmark has a process of its own.

    Background jobs run at once, in the place where they are queued.
    """
    from demo.simulators.__main__ import DEMO_STUDY
    from demo.simulators.registry import build_services
    from demo.simulators.server import start_in_thread
    from demo.simulators.state import State

    state = State()
    server = start_in_thread(state, build_services(state, DEMO_STUDY))
    try:
        with tempfile.TemporaryDirectory(prefix="bench") as folder:
            _set_up(folder, server.url.rstrip("/").rpartition(":")[2])
            from projects.models import Project

            yield Project.objects.get()
            from django.db import connections

            connections.close_all()
    finally:
        server.stop()


def _set_up(folder: str, sim_port: str) -> None:
    for name in ("DATABASE_URL", "REDIS_URL", "LLM_PRESET", "LLM_BASE_URL", "LLM_MODEL"):
        os.environ.pop(name, None)
    key = base64.b64encode(secrets.token_bytes(32)).decode()
    os.environ |= {
        "VAR_DIR": folder,
        "SIM_PORT": sim_port,
        "DEBUG": "1",
        "SECRET_KEY": secrets.token_hex(32),
        "FIELD_ENCRYPTION_KEYS": key,
        "DJANGO_SETTINGS_MODULE": "iit_manager.settings",
    }
    import django
    from django.core.management import call_command

    django.setup()
    logging.disable(logging.ERROR)
    from iit_manager.celery import app

    app.conf.task_always_eager = True
    call_command("migrate", verbosity=0)
    call_command("createcachetable", verbosity=0)
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        call_command("demo", stdout=nowhere)


@dataclass(frozen=True)
class Call:
    """One call to the LLM: what for, tokens in and out by our own offline counter."""

    purpose: str
    input: int
    output: int


@contextmanager
def calls() -> Iterator[list[Call]]:
    """Every call that the product makes to an LLM inside the block, in order."""
    from core.llm.asking import Llm

    real, made = Llm.ask, list[Call]()

    def ask(self: Llm, messages: Any, *, purpose: str, **options: Any) -> Any:
        done = real(self, messages, purpose=purpose, **options)
        made.append(Call(purpose, _size(messages, options), _told(done)))
        return done

    Llm.ask = ask  # type: ignore[method-assign, assignment]
    try:
        yield made
    finally:
        Llm.ask = real  # type: ignore[method-assign]


def _size(messages: Any, options: Any) -> int:
    """Everything that is sent: texts, the tools on offer, the form of the answer."""
    import json

    from core.integrations import tokens

    forms = [form for form in (options.get("tools"), options.get("schema")) if form]
    texts = [message.content or "" for message in messages]
    return sum(map(tokens.count, [*texts, *(json.dumps(f, ensure_ascii=False) for f in forms)]))


def _told(done: Any) -> int:
    from core.integrations import tokens

    asked = "".join(f"{call.name}{call.arguments}" for call in done.tool_calls)
    return tokens.count(f"{done.content or ''}{asked}")
