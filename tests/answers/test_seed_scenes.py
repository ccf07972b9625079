"""The three scenes of seed 000 and the five of seed 003, end to end in a house whose model says nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from demo.own_house import opened
from tests.answers.judge import Sort, of
from tests.answers.model import served
from tests.answers.play import load, played

SCENES = load(Path(__file__).with_name("seeds.jsonl"))


@pytest.mark.full
def test_each_scene_is_answered_by_its_content(tmp_path: Path) -> None:
    with served() as model, opened(tmp_path, model.url) as house:
        rows = played(house, model, SCENES)
    judged = {row.case["id"]: (row, *of(row.case, row.answer, row.twin)) for row in rows}
    failed = {
        name: (sort, why, row.answer.get("reply"))
        for name, (row, sort, why) in judged.items()
        if sort is not Sort.USEFUL
    }
    assert not failed
