"""Running queued Celery tasks in this process, in order, through the real broker."""

from __future__ import annotations

from functools import cache
from queue import Empty

from house import wakes
from iit_manager.celery import app


def drain(limit: int = 500) -> list[str]:
    """Take messages until none is left; returns the names of the tasks that ran."""
    _imported()
    ran: list[str] = []
    with app.connection_for_read() as connection, connection.SimpleQueue("celery") as queue:
        for _ in range(limit):
            wakes.flush()  # what the last task queued may still be on its way
            try:
                message = queue.get(block=False)
            except Empty:
                break
            name = message.headers["task"]
            args, kwargs, _embed = message.payload
            app.tasks[name](*args, **kwargs)
            message.ack()
            ran.append(name)
    return ran


def purge() -> None:
    """Drop queued messages."""
    with app.connection_for_write() as connection, connection.SimpleQueue("celery") as queue:
        queue.clear()


@cache
def _imported() -> None:
    """Once a process: Celery has the models checked each time."""
    app.loader.import_default_modules()
