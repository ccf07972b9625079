"""The processes of `make run` and how each is started."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field

from django.conf import settings


@dataclass(frozen=True)
class Spec:
    """A name, a command and what the environment says beside our own."""

    name: str
    command: list[str]
    env: dict[str, str] = field(default_factory=dict)


def specs(house_token: str) -> list[Spec]:
    """Stand-ins, web, worker, beat, where configured the long connection.

    `house_token`: by which the stand-ins know whose they are.
    """
    python = sys.executable
    celery = [python, "-m", "celery", "-q", "-A", "iit_manager"]
    common = {"PORT": str(settings.PORT), "SIM_PORT": str(settings.SIM_PORT)} | wecom()
    # A demo is often tried as root, in a container.
    quiet = common | {"PYTHONWARNINGS": "ignore:You're running the worker"}
    simulators = [python, "-m", "simulators", "--port", str(settings.SIM_PORT)]
    return [
        Spec("simulators", simulators, common | {"SIM_HOUSE_TOKEN": house_token}),
        Spec(
            "web",
            [
                *[python, "-m", "gunicorn", "iit_manager.wsgi"],
                *["--worker-class", "gthread", "--workers", "1", "--threads", "12"],
                *["--bind", f"127.0.0.1:{settings.PORT}", "--timeout", "60"],
                *["--graceful-timeout", "5", "--log-level", "warning"],
                *["--limit-request-line", "8190"],
            ],
            common,
        ),
        Spec(
            "worker",
            [
                *[*celery, "worker", "--pool", "threads", "--concurrency", "4"],
                *["--without-gossip", "--without-mingle", "--loglevel", "warning"],
            ],
            quiet,
        ),
        Spec(
            "beat",
            [*celery, "beat", "--pidfile", "", "--loglevel", "warning"],
            common,
        ),
        *_socket(common),
    ]


def _socket(common: dict[str, str]) -> list[Spec]:
    """The holder of the smart bot's long connection, where one is configured."""
    if not (settings.WECOM_AIBOT_ID and settings.WECOM_AIBOT_SECRET):
        return []
    return [Spec("wecom_socket", [sys.executable, "manage.py", "wecom_socket"], common)]


def wecom() -> dict[str, str]:
    """The WeCom values the stand-in must share with us; they may come from defaults or `.env`."""
    names = (
        *("CORP_ID", "AGENT_ID", "SECRET", "TOKEN", "AES_KEY"),
        *("AIBOT_ID", "AIBOT_TOKEN", "AIBOT_AES_KEY", "AIBOT_SECRET"),
    )
    values = {f"WECOM_{name}": str(getattr(settings, f"WECOM_{name}")) for name in names}
    return {name: value for name, value in values.items() if value and name not in os.environ}
