"""The stand-ins over real HTTP, with a small study of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.simulators.sim_study import (
    TODAY,
    Sim,
    configure,
    metadata_rows,
    serve_study,
    study_parts,
    write_study,
)


@pytest.fixture
def study_dir(tmp_path: Path) -> Path:
    return write_study(tmp_path / "study", study_parts())


@pytest.fixture
def blank_sim(study_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sim]:
    """REDCap and Dify before `manage.py demo` configured them."""
    monkeypatch.setenv("DEMO_TODAY", TODAY.isoformat())
    yield from serve_study(study_dir)


@pytest.fixture
def sim(blank_sim: Sim) -> Sim:
    """REDCap and Dify, configured."""
    configure(blank_sim)
    return blank_sim


@pytest.fixture
def classic(tmp_path: Path) -> Iterator[Sim]:
    """A classic project without repeats or groups."""
    parts = {
        "project": {"project_id": 3, "is_longitudinal": 0},
        "instruments": [{"instrument_name": "demographics", "instrument_label": "Demographics"}],
        "records": [
            {"record": n, "event": "", "instrument": "", "instance": None, "values": {"sex": "1"}}
            for n in ("1", "2")
        ],
    }
    rows = [row for row in metadata_rows() if row["form_name"] == "demographics"]
    for sim in serve_study(write_study(tmp_path / "classic", parts, rows)):
        configure(sim)
        yield sim
