"""Two processes in the same instant, again and again: one journal, nothing doubled (issue B, must show 2).

`workers`: two claim one run. `tellers`: two make messages of its events. `approvals`: a resume is pressed
twice. `decisions`: one approves, one rejects.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.engines.sop.crash_process import lab
from tests.support.stand_ins import StandIns

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("sop_crash")]
# A fresh database takes long on PostgreSQL.
ROUNDS = 4 if os.environ.get("DATABASE_URL") else 12


@pytest.mark.parametrize("race", ["workers", "tellers", "approvals", "decisions"])
def test_two_at_once(race: str, stand_ins: StandIns, tmp_path: Path) -> None:
    lines, code, log = lab(stand_ins, tmp_path, race, ROUNDS)

    assert [line["error"] for line in lines] == [""] * ROUNDS, log
    assert code == 0, log
