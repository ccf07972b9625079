"""Is the house alive, is it ready, what does it count (contracts.md, HTTP)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.timezone import now
from django.views.decorators.http import require_safe
from kombu.exceptions import OperationalError
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from core.house import key_ring, machine
from core.house.inspection import may_inspect
from core.house.models import Heartbeat
from iit_manager.celery import app
from projects.models import AuditHead
from wechat.aibot import lease

STALE = timedelta(seconds=90)
"""Six beats: a process that is silent for longer counts as gone."""


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """200 as long as the process answers."""
    return HttpResponse("ok", content_type="text/plain")


@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """200 when database, broker, clock, disk, worker and beat work, else 503 with what does not."""
    wanted = CHECKS | {name: _alive(name) for name in processes()}
    checks = {name: _outcome(check) for name, check in wanted.items()}
    ready = all(value == "ok" for value in checks.values())
    status = {"status": "ready" if ready else "not ready", "checks": checks}
    return JsonResponse(status, status=200 if ready else 503)


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Prometheus text format; 403 to who may not inspect the house (`core.house.inspection`)."""
    if not may_inspect(request):
        return HttpResponse("forbidden", content_type="text/plain", status=403)
    return HttpResponse(generate_latest(), content_type=CONTENT_TYPE_LATEST)


def _outcome(check: Callable[[], str]) -> str:
    try:
        return check()
    except (DatabaseError, OperationalError, OSError, key_ring.WrongKeys) as error:
        return type(error).__name__


def _database() -> str:
    AuditHead.objects.exists()
    key_ring.check()
    return "ok"


def _broker() -> str:
    with app.connection_for_read() as connection:
        connection.ensure_connection(max_retries=1, timeout=2)
    return "ok"


def _clock() -> str:
    return "ok" if abs(machine.clock_skew_s()) <= machine.SKEW_WRONG_S else "wrong"


def _disk() -> str:
    return "ok" if machine.disk_left() > machine.DISK_FULL else "full"


def _alive(process: str) -> Callable[[], str]:
    def check() -> str:
        row = Heartbeat.objects.filter(name=process).first()
        if row is None:
            return "never seen"
        return "ok" if now() - row.at < STALE else "silent"

    return check


def processes() -> tuple[str, ...]:
    """Those that must give signs of life."""
    return ("worker", "beat", *([lease.PROCESS] if lease.is_configured() else []))


CHECKS = {"database": _database, "broker": _broker, "clock": _clock, "disk": _disk}
