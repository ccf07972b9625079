"""The Celery app; the broker only wakes, the database is the truth (design.md 4)."""

import os
from contextlib import suppress
from pathlib import Path

from celery import Celery
from celery.signals import beat_init, worker_init, worker_process_init, worker_ready
from django.conf import settings
from kombu.transport import TRANSPORT_ALIASES

from core.house import key_ring
from core.house.gc_tuning import freeze_loaded
from core.privacy.gate import Gate

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "iit_manager.settings")
# kombu refuses a dotted class in the broker URL: it must be registered by name.
TRANSPORT_ALIASES["djangodb"] = "core.house.broker:Transport"

app = Celery("iit_manager")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


AUTOGROUP = Path("/proc/self/autogroup")


def give_way(**_signal: object) -> None:
    """Lower this process by WORKER_NICE: WeCom waits five seconds for the web, people longer for answers.

    Linux weighs sessions against each other first (sched_autogroup), so a process that has one for itself
    lowers the session, too; in a session it shares, `nice` alone decides.
    """
    os.nice(settings.WORKER_NICE)
    if os.getsid(0) == os.getpid():
        with suppress(OSError):
            AUTOGROUP.write_text(str(settings.WORKER_NICE))


def _require_keys(**_signal: object) -> None:
    """Celery only tells what the system checks find: with the keys of another database nothing starts."""
    try:
        key_ring.check()
    except key_ring.WrongKeys as error:
        raise SystemExit(f"iit.E006: {error}") from error


for starting in (worker_init, beat_init):
    starting.connect(give_way)
    starting.connect(_require_keys)


def _warm(**_signal: object) -> None:
    """The patterns of the privacy gate are made before the first message, and stay."""
    Gate().text("")
    freeze_loaded()


for started in (worker_process_init, worker_ready):
    started.connect(_warm)
