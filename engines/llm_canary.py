"""The daily ten probes of each study's models: below the bar answers are plain until a day's check succeeds.

Ten of the invented study of `engines.llm_study`, by turns: nothing of a real one leaves. A model that is away,
or a day whose tokens are used up, says nothing of it: what was known before stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from functools import partial

from django.conf import settings
from django.dispatch import Signal
from django.utils.timezone import now

from core.house import clock
from core.house.db import atomic
from core.llm import acceptance, breaker, standing
from core.llm.asking import used_today
from core.llm.models import LlmCanary, LlmUsage
from core.llm.providers import LlmNotConfigured, client_for
from core.privacy.outbound_policy import PrivacyError
from engines import llm_study
from engines.llm_check import Endpoint, reads, says
from projects import audit
from projects.models import Project

EACH = 5
"""Probes of each ability a day."""

# Sent inside the transaction with `canary` and `is_down`, when a study falls back or comes out of it.
standing_changed = Signal()


def is_due(project: Project) -> bool:
    """Whether the models were not heard today yet, where they have to be accepted at all."""
    today = LlmCanary.objects.filter(project=project, day=clock.today(project.timezone))
    return bool(settings.REQUIRE_MODEL_ACCEPTANCE) and not today.exclude(met=None).exists()


def check(project: Project) -> LlmCanary | None:
    """Ask today's probes once and keep what came of them; None where nothing is due or no model set up."""
    if not is_due(project):
        return None
    try:
        mark = acceptance.fingerprint(acceptance.endpoints_of(project))
        asked = _endpoints(project)
    except (LlmNotConfigured, PrivacyError):
        return None
    today = clock.today(project.timezone)
    met = _probed(project, asked, today)
    with atomic():
        rows = [row for one in asked.values() for row in one.rows]
        for row in rows:
            row.project = project
        LlmUsage.objects.bulk_create(rows)
        return _keep(project, today, mark, met)


def _endpoints(project: Project) -> dict[str, Endpoint]:
    known, found = standing.findings_of(project), {}
    for ability, purpose in standing.MODEL_OF.items():
        client = client_for(project, purpose)
        client.mode = known.get((purpose, client.endpoint), standing.UNKNOWN).mode
        found[ability] = Endpoint(client, purpose)
    return found


def _probed(project: Project, asked: dict[str, Endpoint], today: date) -> int | None:
    """How many of ten were right; None where it cannot be told."""
    if any(breaker.is_open(one.client.endpoint) for one in asked.values()):
        return None
    left = project.llm_daily_token_cap - used_today(project)
    met = 0
    for probe in _probes(asked, today):
        if sum(one.tokens for one in asked.values()) >= left:
            return None
        met += probe()
    is_away = any(one.away for one in asked.values())
    return None if is_away and met < standing.MET else met


def _probes(asked: dict[str, Endpoint], today: date) -> Iterator[Callable[[], bool]]:
    """Half of each kind one day, the others the next."""
    first = EACH * (today.toordinal() % 2)
    for n in range(first, first + EACH):
        yield partial(reads, asked[standing.ASK], llm_study.ASKED[n])
        yield partial(says, asked[standing.SAY], n)


def _keep(project: Project, today: date, mark: str, met: int | None) -> LlmCanary | None:
    """The row of the day; None where another worker was first. Tells when the study falls or rises with it."""
    was_down = acceptance.fallen(project) is not None
    found = {"endpoint": mark, "met": met}
    row, is_new = LlmCanary.objects.get_or_create(project=project, day=today, defaults=found)
    if not is_new:
        unknown = LlmCanary.objects.filter(pk=row.pk, met=None)
        if not unknown.update(**found, at=now()):
            return None
        row.refresh_from_db()
    is_down = acceptance.fallen(project) is not None
    if is_down is not was_down:
        told = {"met": met, "of": 2 * EACH, "plain": is_down}
        audit.record("model.canary", actor="system", project=project, subject=row, new=told)
        standing_changed.send(LlmCanary, canary=row, is_down=is_down)
    return row
