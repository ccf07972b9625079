"""Ages and counts in `/metrics` (issue 5, Operations)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client
from django.utils.timezone import now
from prometheus_client import CollectorRegistry

from tests.wechat.working import receive
from wechat import metrics
from wechat.models import Alert, InboxMessage, OutboxMessage
from wechat.outbound import alerts

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("people")]


def value(name: str, **labels: str) -> float | None:
    registry = CollectorRegistry()
    registry.register(metrics.ChannelCollector())
    return registry.get_sample_value(name, labels or None)


def test_what_waits_is_counted_with_its_age() -> None:
    receive("你好")
    InboxMessage.objects.update(received_at=now() - timedelta(seconds=90))
    OutboxMessage.objects.create(
        key="k#1", to_user="a", kind="text", payload="{}", possible_duplicate=True
    )
    OutboxMessage.objects.update(created_at=now() - timedelta(hours=1))
    alerts.sound(Alert.Code.KEY)
    assert value("iit_wechat_inbox_rows", status="new") == 1
    assert value("iit_wechat_inbox_rows", status="failed") == 0
    assert 89 < (value("iit_wechat_inbox_oldest_seconds") or 0) < 120
    assert 3599 < (value("iit_wechat_outbox_oldest_seconds") or 0) < 3700
    assert value("iit_wechat_possible_duplicates") == 1
    assert value("iit_wechat_alerts", code="key") == 1


def test_the_oldest_that_waits_counts() -> None:
    ages = {"new": 50, "processing": 500, "done": 5000}
    for status, seconds in ages.items():
        at = now() - timedelta(seconds=seconds)
        InboxMessage.objects.create(
            dedup_key=status, from_user="a", msg_type="text", status=status, received_at=at
        )
    assert 499 < (value("iit_wechat_inbox_oldest_seconds") or 0) < 550
    assert 4999 < (value("iit_wechat_last_inbound_seconds") or 0) < 5050
    for status, seconds in (("pending", 50), ("sending", 500), ("sent", 5000), ("held", 5000)):
        row = OutboxMessage.objects.create(
            key=status, to_user="a", kind="text", payload="{}", status=status
        )
        at = now() - timedelta(seconds=seconds)
        OutboxMessage.objects.filter(pk=row.pk).update(created_at=at)
    assert 499 < (value("iit_wechat_outbox_oldest_seconds") or 0) < 550


def test_an_empty_house_has_no_age() -> None:
    assert value("iit_wechat_inbox_oldest_seconds") == 0
    assert value("iit_wechat_last_inbound_seconds") == 0


def test_they_are_on_the_page(client: Client) -> None:
    metrics.register_collector()
    assert b'iit_wechat_outbox_rows{status="sent"} 0.0' in client.get("/metrics").content


def test_registering_asks_nothing_of_the_database(django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        CollectorRegistry(auto_describe=True).register(metrics.ChannelCollector())


def test_a_database_that_is_down_does_not_take_the_page_along(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def down() -> list[Any]:
        raise OperationalError

    monkeypatch.setattr(metrics, "_counts", down)
    answer = client.get("/metrics")
    assert answer.status_code == 200
    assert b"iit_wechat" not in answer.content
