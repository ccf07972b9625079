"""`djangodb://`: what is sent is delivered, once at a time, and gone when acknowledged (design.md 3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from queue import Empty
from typing import Any

import pytest
from django.db import transaction
from django.utils.timezone import now
from kombu import Connection

import iit_manager.celery  # noqa: F401 - registers the transport
from core.house.models import BrokerMessage
from tests.house.kit import failing, together

pytestmark = [pytest.mark.django_db, pytest.mark.database]
QUEUE = "test"


@pytest.fixture
def broker() -> Iterator[Connection]:
    with Connection("djangodb://", transport_options={"visibility_timeout": 100}) as connection:
        yield connection


def send(broker: Connection, *bodies: Any, **headers: Any) -> None:
    with broker.SimpleQueue(QUEUE) as queue:
        for body in bodies:
            queue.put(body, headers=headers)


def take(broker: Connection, queue: str = QUEUE) -> Any:
    """The next message, unacknowledged; None when there is none. The channel stays open."""
    channel = broker.default_channel
    raw = channel.basic_get(queue)
    return raw and channel.message_to_python(raw)


def test_messages_arrive_in_order_and_are_gone_when_acknowledged(broker: Connection) -> None:
    send(broker, {"n": 1}, {"n": 2}, {"text": "患者 P001 入组"})
    for expected in ({"n": 1}, {"n": 2}, {"text": "患者 P001 入组"}):
        message = take(broker)
        assert message.decode() == expected
        message.ack()
    assert take(broker) is None
    assert not BrokerMessage.objects.exists()


def test_a_claimed_message_is_hidden_until_its_lease_ends(broker: Connection) -> None:
    send(broker, 1)
    message = take(broker)
    row = BrokerMessage.objects.get()
    left = row.visible_at - now()
    assert timedelta(seconds=90) < left <= timedelta(seconds=100)
    assert row.claim == message.delivery_tag
    assert take(broker) is None


def test_a_lost_worker_loses_its_lease_not_the_message(broker: Connection) -> None:
    send(broker, "work")
    lost = take(broker)
    BrokerMessage.objects.update(visible_at=now())
    again = take(broker)
    assert again.decode() == "work"
    assert again.delivery_tag != lost.delivery_tag
    lost.ack()  # the worker was only slow: the message is another one's by now
    assert BrokerMessage.objects.count() == 1
    again.ack()
    assert not BrokerMessage.objects.exists()


def test_a_rejected_message_comes_again_or_never(broker: Connection) -> None:
    send(broker, 1)
    take(broker).reject(requeue=True)
    assert BrokerMessage.objects.count() == 1
    message = take(broker)
    assert message.decode() == 1
    message.reject()
    assert not BrokerMessage.objects.exists()


def test_a_channel_that_closes_gives_back_what_it_holds(broker: Connection) -> None:
    send(broker, "a", "b")
    with broker.clone() as other:
        assert take(other).decode() == "a"
        assert take(other).decode() == "b"
        assert take(broker) is None
    assert {take(broker).decode(), take(broker).decode()} == {"a", "b"}
    assert BrokerMessage.objects.count() == 2


def test_a_message_with_an_eta_waits_in_the_table(broker: Connection) -> None:
    eta = now() + timedelta(minutes=5)
    send(broker, "later", eta=eta.isoformat())
    send(broker, "now")
    send(broker, "past", eta=(now() - timedelta(days=1)).isoformat())
    assert BrokerMessage.objects.order_by("id")[0].visible_at == eta
    assert [take(broker).decode(), take(broker).decode(), take(broker)] == ["now", "past", None]
    BrokerMessage.objects.filter(claim="").update(visible_at=now())
    assert take(broker).decode() == "later"


def test_queues_do_not_mix(broker: Connection) -> None:
    send(broker, 1)
    assert take(broker, "celery") is None
    with broker.SimpleQueue(QUEUE) as queue, broker.SimpleQueue("celery") as other:
        assert (queue.qsize(), other.qsize()) == (1, 0)
        assert other.clear() == 0
        assert queue.clear() == 1
        with pytest.raises(Empty):
            queue.get(block=False)


def test_what_a_transaction_sends_goes_with_it(broker: Connection) -> None:
    with failing(transaction.atomic):
        send(broker, 1)
    assert take(broker) is None


@pytest.mark.full
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("consumers", [2, 5])
def test_two_consumers_never_get_the_same_message(broker: Connection, consumers: int) -> None:
    number = 60
    send(broker, *range(number))
    taken: Counter[int] = Counter()

    def consume() -> int:
        mine = 0
        with Connection("djangodb://") as own:
            while BrokerMessage.objects.filter(claim="").exists():
                message = take(own)
                if message is not None:
                    taken[message.decode()] += 1
                    message.ack()
                    mine += 1
        return mine

    outcomes = together(*[consume] * consumers)
    assert sum(outcomes) == number, outcomes  # type: ignore[arg-type]
    assert taken == Counter(range(number))
    assert not BrokerMessage.objects.exists()


@pytest.mark.full
@pytest.mark.django_db(transaction=True)
def test_senders_and_consumers_together_lose_nothing(broker: Connection) -> None:
    number = 40
    taken: list[str] = []

    def produce(name: str) -> object:
        def run() -> bool:
            with Connection("djangodb://") as own:
                send(own, *[f"{name}{n}" for n in range(number)])
            return True

        return run

    def consume() -> bool:
        with Connection("djangodb://") as own:
            while len(taken) < 2 * number:
                message = take(own)
                if message is not None:
                    taken.append(message.decode())
                    message.ack()
        return True

    outcomes = together(produce("a"), produce("b"), consume)  # type: ignore[arg-type]
    assert outcomes == [True, True, True]
    assert Counter(taken) == Counter(f"{name}{n}" for name in "ab" for n in range(number))


def test_the_transport_says_nothing_about_a_host(
    broker: Connection, caplog: pytest.LogCaptureFixture
) -> None:
    broker.ensure_connection(max_retries=1)
    assert not [record for record in caplog.records if "hostname" in record.message]
