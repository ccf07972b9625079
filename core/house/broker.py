"""`djangodb://`: Celery's broker as one table (design.md 3, reference/django_style.md 5).

A message is claimed by a conditional UPDATE that moves `visible_at` into the future (the lease) and is
deleted when it is acknowledged. A worker that dies loses its lease, so nothing is lost; a message may be
delivered twice, which our tasks stand because their rows are the truth.
"""

from __future__ import annotations

import json
import uuid
from datetime import datetime, timedelta
from queue import Empty
from typing import Any, ClassVar

from django.db import DatabaseError, InterfaceError, connection
from django.utils.timezone import now
from kombu.transport import virtual

from core.house.models import BrokerMessage

LEASE_S = 360


class Channel(virtual.Channel):
    """Puts, claims and deletes rows of `iit_broker_messages`."""

    supports_fanout = False

    @property
    def lease(self) -> timedelta:
        """How long a claimed message stays hidden."""
        options = self.connection.client.transport_options
        return timedelta(seconds=options.get("visibility_timeout", LEASE_S))

    def _put(self, queue: str, message: dict[str, Any], **_: Any) -> None:
        BrokerMessage.objects.create(
            queue=queue, body=json.dumps(message), visible_at=_visible_at(message)
        )

    def _get(self, queue: str, timeout: float | None = None) -> dict[str, Any]:
        due = BrokerMessage.objects.filter(queue=queue, visible_at__lte=now())
        for row in due.order_by("id")[:5]:
            claim = uuid.uuid4().hex
            mine = BrokerMessage.objects.filter(pk=row.pk, visible_at=row.visible_at)
            if mine.update(visible_at=now() + self.lease, claim=claim) == 1:
                message: dict[str, Any] = json.loads(row.body)
                message["properties"]["delivery_tag"] = claim
                return message
        raise Empty

    def _size(self, queue: str) -> int:
        return BrokerMessage.objects.filter(queue=queue).count()

    def _purge(self, queue: str) -> int:
        return BrokerMessage.objects.filter(queue=queue).delete()[0]

    def _restore(self, message: virtual.Message) -> None:
        # Still our row: make it visible again instead of storing a second one.
        BrokerMessage.objects.filter(claim=message.delivery_tag).update(visible_at=now(), claim="")

    def _restore_at_beginning(self, message: virtual.Message) -> None:
        self._restore(message)

    def basic_ack(self, delivery_tag: str, multiple: bool = False) -> None:
        """Delete the message, unless its lease ran out and another worker has it."""
        BrokerMessage.objects.filter(claim=delivery_tag).delete()
        super().basic_ack(delivery_tag, multiple)

    def basic_reject(self, delivery_tag: str, requeue: bool = False) -> None:
        """Give the message back, or drop it."""
        if not requeue:
            BrokerMessage.objects.filter(claim=delivery_tag).delete()
        super().basic_reject(delivery_tag, requeue)


def _visible_at(message: dict[str, Any]) -> datetime:
    """Now, or the time of a message that must wait: the table keeps it, not a worker's memory."""
    eta = message.get("headers", {}).get("eta")
    at = now()
    return max(at, datetime.fromisoformat(eta)) if eta else at


class Transport(virtual.Transport):
    """Registered as `djangodb` in iit_manager.celery."""

    Channel = Channel
    polling_interval = 0.2
    driver_type = driver_name = "djangodb"
    default_connection_params: ClassVar[dict[str, Any]] = {}
    connection_errors: tuple[Any, ...] = (
        *virtual.Transport.connection_errors,
        DatabaseError,
        InterfaceError,
    )

    def driver_version(self) -> str:
        """There is no driver to have a version."""
        return "1"

    def establish_connection(self) -> Any:
        """Start on a usable database connection, also after the database was away."""
        if connection.errors_occurred and not connection.in_atomic_block:
            connection.close_if_unusable_or_obsolete()
        return super().establish_connection()
