"""The actions of this app in the audit trail, what it tells `/metrics`, its steps of setting a study up."""

from __future__ import annotations

import logging
from collections.abc import Iterator

from django.db import DatabaseError
from django.utils.timezone import now
from django.utils.translation import gettext_noop as _
from prometheus_client import REGISTRY
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from projects import audit
from study.models import SyncState
from study.setup import own, steps

audit.register(
    **{
        "study.setting": _("Setting of the study's data changed"),
        "redcap.accept": _("Another REDCap project confirmed"),
        "roster.moves_held": _("Moves between sites wait for confirmation"),
        "roster.moves_accepted": _("Moves between sites confirmed"),
        "blinding.on": _("Study blinded"),
        "blinding.off": _("Blinding of a study ended"),
        "blinding.member": _("Who is unblinded changed"),
        "blinding.break": _("Code of a subject broken"),
    }
)


logger = logging.getLogger(__name__)


class SyncCollector(Collector):
    """How current the readings of each study are: gauges for `/metrics`; each scrape asks the database."""

    def describe(self) -> list[GaugeMetricFamily]:
        """Nothing: without this, registering would already collect."""
        return []

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """The gauges; none where the database does not answer, so that /metrics itself stays up."""
        try:
            states = [*SyncState.objects.select_related("project").order_by("project__code")]
        except DatabaseError as error:
            logger.error("metrics of the readings: %s", type(error).__name__)
            return
        labels = ["cause", "project"]
        failing = GaugeMetricFamily(
            "iit_redcap_failing", "Studies whose REDCap fails", labels=labels
        )
        for state in states:
            if state.cause:
                failing.add_metric([state.cause, state.project.code], 1)
        yield failing
        for name, column, text in (
            ("read", "polled_at", "Age of the readings"),
            ("sweep", "swept_at", "Age of the last full sweep"),
        ):
            gauge = GaugeMetricFamily(f"iit_redcap_{name}_age_seconds", text, labels=["project"])
            for state in states:
                if at := getattr(state, column):
                    gauge.add_metric([state.project.code], (now() - at).total_seconds())
            yield gauge


REGISTRY.register(SyncCollector())
steps.register_steps(*own.STEPS)
