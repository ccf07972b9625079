"""Doing several reads at once: the slowest one decides, not their sum (design.md 8)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

from django.db import connection, connections
from django.utils import translation

from core.house.request_cache import forget, remembered

R = TypeVar("R")
WORKERS = 5
"""As many subjects as one question may name."""


def run_all(jobs: Sequence[Callable[[], R]]) -> list[R]:
    """The results in the order of the jobs. Raises what the first failing job raised.

    One after another inside a transaction: its uncommitted rows are invisible to other connections.
    """
    if len(jobs) < 2 or connection.in_atomic_block:
        return [job() for job in jobs]
    language = translation.get_language()

    def run(job: Callable[[], R]) -> R:
        try:
            with translation.override(language), remembered():
                return job()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(min(len(jobs), WORKERS)) as pool:
        # What is watched or set for this thread holds for its jobs.
        running = [pool.submit(copy_context().run, run, job) for job in jobs]
        results = [job.result() for job in running]
    forget()
    return results
