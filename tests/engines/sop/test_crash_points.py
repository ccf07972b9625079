"""Processes killed at every boundary of their work (issue B, must show 2).

Enumerated, not sampled: the number of points grows with the code. On SQLite every point is tried; on
PostgreSQL, where a fresh database takes long, every STRIDE-th. CRASH_STRIDE chooses another step (CI has
only minutes). `run`: a run through all kinds of nodes,
with the decision of a person in the middle. `ahead`: a run that reaches that decision in the transaction
that creates it. `joined`: two runs that wait for one review, and one that follows what was decided.
`message`: one chat message from callback to reply. `order`: a message that orders a run, with its result.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.engines.sop.crash_process import lab
from tests.support.stand_ins import StandIns

STRIDE = 7
SQL = {"commit", "set_autocommit", "http", "INSERT", "UPDATE"}

pytestmark = [
    *(pytest.mark.slow, pytest.mark.smoke, pytest.mark.strided),
    pytest.mark.xdist_group("sop_crash"),
]


@pytest.mark.parametrize("story", ["run", "ahead", "joined", "message", "order"])
def test_killed_at_every_boundary(
    story: str, stand_ins: StandIns, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    default = STRIDE if os.environ.get("DATABASE_URL") else 1
    stride = int(os.environ.get("CRASH_STRIDE", default))
    lines, code, log = lab(stand_ins, tmp_path, story, stride)

    assert lines, log
    total = lines[0]["points"]
    points = [line for line in lines if "point" in line]
    with capsys.disabled():
        print(f"\n{story}: {total} points, {len(points)} tried: {lines[0]['kinds']}")
    assert [line for line in points if line["error"]] == []
    assert [line["point"] for line in points] == [*range(1, total + 1, stride)]
    assert lines[-1] == {"beyond": 0}, "the story has more boundaries than were counted"
    assert code == 0, log
    assert set(lines[0]["kinds"]) >= SQL
