"""The clock of a process that is started with this folder on its PYTHONPATH: CHAOS_AHEAD_S seconds off."""

import os
from datetime import datetime, timedelta

from django.utils import timezone

_real, _ahead = timezone.now, timedelta(seconds=float(os.environ.get("CHAOS_AHEAD_S", "0")))


def _now() -> datetime:
    return _real() + _ahead


timezone.now = _now
