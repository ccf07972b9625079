"""The Celery app; the broker only wakes, the database is the truth (design.md 4)."""

import os

from celery import Celery
from celery.signals import beat_init, worker_init, worker_process_init, worker_ready
from kombu.transport import TRANSPORT_ALIASES

from house.garbage import settle
from iit_manager.priority import give_way
from privacy.gate import Gate

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "iit_manager.settings")
# kombu refuses a dotted class in the broker URL: it must be registered by name.
TRANSPORT_ALIASES["djangodb"] = "house.broker:Transport"

app = Celery("iit_manager")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
for starting in (worker_init, beat_init):
    starting.connect(give_way)


def _warm(**_signal: object) -> None:
    """The patterns of the privacy gate are made before the first message, and stay."""
    Gate().text("")
    settle()


for started in (worker_process_init, worker_ready):
    started.connect(_warm)
