"""Ages and counts of inbox and outbox for `/metrics`, read when asked for (wecom.md 9.8)."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

from django.db import DatabaseError
from django.db.models import Count, Min, QuerySet
from django.utils.timezone import now
from prometheus_client import REGISTRY
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from wechat.models import Alert, BotConnection, InboxMessage, OutboxMessage, Stream

logger = logging.getLogger(__name__)


class ChannelCollector(Collector):
    """Gauges of the WeCom channel; each scrape asks the database."""

    def describe(self) -> list[GaugeMetricFamily]:
        """Nothing: without this, registering would already collect."""
        return []

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """The gauges; none where the database does not answer, so that /metrics itself stays up."""
        try:
            yield from [*_counts(), *_ages(), *_troubles()]
        except DatabaseError as error:
            logger.error("metrics of the channel: %s", type(error).__name__)


def register_collector() -> None:
    """Put the collector into the process's registry, once."""
    if not _registered:
        REGISTRY.register(ChannelCollector())
        _registered.append(True)


_registered: list[bool] = []


def _counts() -> Iterator[GaugeMetricFamily]:
    for name, model in (("inbox", InboxMessage), ("outbox", OutboxMessage)):
        text = f"Rows of the {name} by status"
        gauge = GaugeMetricFamily(f"iit_wechat_{name}_rows", text, labels=["status"])
        rows = model._default_manager.order_by().values_list("status").annotate(n=Count("pk"))
        found = dict(rows)
        for status in model.Status.values:
            gauge.add_metric([status], found.get(status, 0))
        yield gauge


def _ages() -> Iterator[GaugeMetricFamily]:
    inbox = InboxMessage.objects.filter(status__in=InboxMessage.UNFINISHED)
    outbox = OutboxMessage.objects.filter(status__in=OutboxMessage.UNSENT)
    newest = InboxMessage.objects.order_by("-pk").values_list("received_at", flat=True).first()
    ages = {
        "inbox_oldest": ("oldest message that is not answered", _age(inbox, "received_at")),
        "outbox_oldest": ("oldest message that is not sent", _age(outbox, "created_at")),
        "last_inbound": ("newest callback", (now() - newest).total_seconds() if newest else 0.0),
    }
    for name, (what, seconds) in ages.items():
        yield GaugeMetricFamily(f"iit_wechat_{name}_seconds", f"Age of the {what}", value=seconds)


def _age(rows: QuerySet[Any], field: str) -> float:
    oldest = rows.aggregate(at=Min(field))["at"]
    return (now() - oldest).total_seconds() if oldest else 0.0


def _troubles() -> Iterator[GaugeMetricFamily]:
    doubled = OutboxMessage.objects.filter(possible_duplicate=True).count()
    text = "Sends that may have arrived twice"
    yield GaugeMetricFamily("iit_wechat_possible_duplicates", text, value=doubled)
    waiting = Stream.objects.filter(finished_at=None).count()
    yield GaugeMetricFamily("iit_wechat_streams_unfinished", "Answers in work", value=waiting)
    held = BotConnection.objects.filter(lease_until__gt=now(), connected_at__isnull=False).count()
    text = "Whether the smart bot's long connection stands"
    yield GaugeMetricFamily("iit_wechat_long_connection", text, value=held)
    alerts = GaugeMetricFamily("iit_wechat_alerts", "Open alerts by cause", labels=["code"])
    rows = Alert.objects.filter(cleared_at=None).order_by().values_list("code")
    found = dict(rows.annotate(n=Count("pk")))
    for code in Alert.Code.values:
        alerts.add_metric([code], found.get(code, 0))
    yield alerts
