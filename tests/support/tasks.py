"""Running queued Celery tasks in this process, in order, through the real broker."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import cycle

from core.house import task_queue
from iit_manager.celery import app


def drain(limit: int = 500) -> list[str]:
    """Take messages until none is left; returns the names of the tasks that ran."""
    return [*running(limit)]


def running(limit: int = 500) -> Iterator[str]:
    """The name of each task once it ran; a message of each queue in turn, as a worker takes them."""
    _imported()
    empty, names = 0, cycle(app.amqp.queues)
    with app.connection_for_read() as connection:
        channel = connection.default_channel
        for queue in app.amqp.queues.values():
            queue(channel).declare()
        while limit and empty < len(app.amqp.queues):
            task_queue.flush()  # what the last task queued may still be on its way
            raw = channel.basic_get(next(names))
            if raw is None:
                empty += 1
                continue
            message, empty = channel.message_to_python(raw), 0
            name = message.headers["task"]
            args, kwargs, _embed = message.payload
            app.tasks[name](*args, **kwargs)
            message.ack()
            limit -= 1
            yield name


def purge() -> None:
    """Drop queued messages."""
    with app.connection_for_write() as connection:
        for name in app.amqp.queues:
            with connection.SimpleQueue(name) as queue:
                queue.clear()


@cache
def _imported() -> None:
    """Once a process: Celery has the models checked each time."""
    app.loader.import_default_modules()
