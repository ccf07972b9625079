"""Putting a study's models to the frozen set of `acceptance.jsonl`, on the demo study, by the real road.

A house of its own is started: an empty folder, SQLite, the stand-ins, the day that the set was written for.
Of the real house it is given the models' addresses and keys alone, by the environment of the process that
asks; no other setting, no database and nothing of a study.
"""

from __future__ import annotations

import base64
import json
import os
import secrets
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from django.conf import settings

from core.integrations.llm import PRESETS
from core.language.reply_words import stands
from core.llm.providers import provider_of
from core.llm.standing import ASK, MODEL_OF, SAY
from demo.own_house import opened
from projects.models import Project

TIMES = 3
"""Each question is asked so often; a case passes if every reply does (pass^3)."""
LEAST, MOST_WRONG = 0.92, 0
SET = Path(__file__).with_name("acceptance.jsonl")
_KEPT = (
    *(
        "PATH",
        "HOME",
        "LANG",
        "LC_ALL",
        "TZ",
        "TMPDIR",
        "PYTHONPATH",
        "VIRTUAL_ENV",
        "LD_LIBRARY_PATH",
    ),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"),
    *("http_proxy", "https_proxy", "no_proxy", "SYSTEMROOT"),
)
"""What of our environment a program needs to run and to reach the model."""
Json = dict[str, Any]


def cases() -> list[Json]:
    """The frozen set: `id`, `user`, `text`.

    `says`: facts that must stand in the reply (of a list: one); `not`: facts that would be wrong; `asked_back`:
    to ask is the right answer.
    """
    return [json.loads(line) for line in SET.read_text("utf-8").splitlines()]


def model_of(project: Project) -> dict[str, str]:
    """The study's models as the environment of a house names them. Raises LlmNotConfigured."""
    chat, small = (provider_of(project, MODEL_OF[one]) for one in (SAY, ASK))
    own = {"LLM": chat, "LLM_SMALL": small}
    told = {}
    for prefix, one in own.items():
        preset = PRESETS[one.preset]
        told[f"{prefix}_PRESET"] = one.preset
        told[f"{prefix}_BASE_URL"] = one.base_url or preset.base_url
        told[f"{prefix}_MODEL"] = one.model or preset.model
        told[f"{prefix}_API_KEY"] = one.key
    return told


def bare() -> dict[str, str]:
    """The environment of a house that knows nothing of ours, with keys made for it."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return kept | {
        "ENV_FILE": os.devnull,
        "SECRET_KEY": secrets.token_urlsafe(48),
        "FIELD_ENCRYPTION_KEYS": base64.b64encode(secrets.token_bytes(32)).decode("ascii"),
        "PRIVATE_HTTP_HOSTS": ",".join(settings.PRIVATE_HTTP_HOSTS),
        "LLM_TIMEOUT_S": str(settings.LLM_TIMEOUT_S),
        "REQUIRE_MODEL_ACCEPTANCE": "0",
        "LOG_LEVEL": "ERROR",
    }


def play(
    model: Mapping[str, str], asked: Sequence[Json], tell: Callable[[Json], None]
) -> list[Json]:
    """Ask each case three times, each in a new session; `tell` hears of every case as it is done.

    Cases with `verdicts`, `replies` and `calls` of the models. Raises SystemExit where the house does not
    start.
    """
    with (
        tempfile.TemporaryDirectory(prefix="iit-acceptance-") as folder,
        opened(Path(folder), given=bare()) as house,
    ):
        house.model = model
        done = []
        with house.asking() as road:
            for case in asked:
                line = {"user": case["user"], "text": case["text"], "new": True}
                done.append(_judged(case, [road.ask(line) for _time in range(TIMES)]))
                tell(done[-1])
        return done


def _judged(case: Json, answers: Sequence[Json]) -> Json:
    return {
        "id": case["id"],
        "user": case["user"],
        "text": case["text"],
        "verdicts": [verdict(case, one) for one in answers],
        "replies": [_reply(one) for one in answers],
        "calls": sum(int(one.get("calls") or 0) for one in answers),
        "tokens": sum(int(one.get("tokens") or 0) for one in answers),
    }


def verdict(case: Mapping[str, Any], answer: Mapping[str, Any]) -> str:
    """passed, wrong (states what is not so), asked back, or missing."""
    reply, asks = _reply(answer), bool(answer.get("asked_back"))
    # Choices that are offered state nothing, rightly or wrongly.
    if asks and not case.get("asked_back"):
        return "asked back"
    if any(stands(one, reply) for one in case.get("not", ())):
        return "wrong"
    if case.get("asked_back"):
        return "passed" if asks else "missing"
    wanted = [[one] if isinstance(one, str) else one for one in case["says"]]
    is_there = all(any(stands(one, reply) for one in some) for some in wanted)
    return "passed" if is_there and reply else "missing"


def _reply(answer: Mapping[str, Any]) -> str:
    return str(answer.get("reply") or answer.get("error") or "")


def figures(done: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
    """Cases that passed every time, and wrong replies of all."""
    passed = sum(set(one["verdicts"]) == {"passed"} for one in done)
    return passed, sum(verdict == "wrong" for one in done for verdict in one["verdicts"])
