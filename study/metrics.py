"""How current the readings of each study are, for `/metrics`, read when asked for."""

from __future__ import annotations

import logging
from collections.abc import Iterator

from django.db import DatabaseError
from django.utils.timezone import now
from prometheus_client import REGISTRY
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from study.models import SyncState

logger = logging.getLogger(__name__)


class SyncCollector(Collector):
    """Gauges of the readings; each scrape asks the database."""

    def describe(self) -> list[GaugeMetricFamily]:
        """Nothing: without this, registering would already collect."""
        return []

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """The gauges; none where the database does not answer, so that /metrics itself stays up."""
        try:
            yield from _gauges()
        except DatabaseError as error:
            logger.error("metrics of the readings: %s", type(error).__name__)


def register() -> None:
    """Put the collector into the process's registry, once."""
    if not _registered:
        REGISTRY.register(SyncCollector())
        _registered.append(True)


_registered: list[bool] = []


def _gauges() -> list[GaugeMetricFamily]:
    failing = GaugeMetricFamily(
        "iit_redcap_failing", "Studies whose REDCap fails", labels=["cause", "project"]
    )
    polled, swept = (
        GaugeMetricFamily(f"iit_redcap_{name}_age_seconds", text, labels=["project"])
        for name, text in (("read", "Age of the readings"), ("sweep", "Age of the last full sweep"))
    )
    for state in SyncState.objects.select_related("project").order_by("project__code"):
        code = state.project.code
        if state.cause:
            failing.add_metric([state.cause, code], 1)
        for gauge, at in ((polled, state.polled_at), (swept, state.swept_at)):
            if at:
                gauge.add_metric([code], (now() - at).total_seconds())
    return [failing, polled, swept]
