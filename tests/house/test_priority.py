"""Workers give way to the web (iit_manager.celery); in a child, because no process can take it back."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CODE = """
import os
from django.conf import settings
settings.configure(WORKER_NICE=7)
from iit_manager.celery import AUTOGROUP, give_way
from celery.signals import worker_init
before = os.nice(0)
give_way(sender=None)
weighed = AUTOGROUP.read_text().split() if AUTOGROUP.exists() else []  # empty in a cgroup of its own
print(before, os.nice(0), weighed[-1] if weighed else "7")
"""


@pytest.mark.full
@pytest.mark.parametrize(("own_session", "group"), [(True, "7"), (False, None)])
def test_a_worker_lowers_itself_and_a_session_of_its_own(
    own_session: bool, group: str | None
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        capture_output=True,
        text=True,
        check=True,
        start_new_session=own_session,
        cwd=Path(__file__).parents[2],
    )
    before, after, lowered = done.stdout.split()
    assert int(after) == min(int(before) + 7, 19)
    if group:
        assert lowered == group


def test_workers_and_beat_are_connected() -> None:
    from celery.signals import beat_init, worker_init

    from iit_manager import celery

    for signal in (worker_init, beat_init):
        receivers = [ref() for _key, ref in signal.receivers]
        assert celery.give_way in receivers
