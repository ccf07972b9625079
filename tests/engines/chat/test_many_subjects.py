"""Many subjects in one question: what was not read is said, never left out in silence (design.md 9.8)."""

from __future__ import annotations

import re

import pytest

from study.models import Subject
from tests.engines.chat.kit import ask, mute
from tests.support.study import Study


def ids(study: Study, count: int) -> list[str]:
    rows = Subject.objects.filter(project=study.project, record_id__startswith="P")
    return list(rows.order_by("record_id").values_list("record_id", flat=True)[:count])


def read(study: Study) -> set[str]:
    """Subjects whose values REDCap was asked for after the first reading of the roster."""
    bodies = [str(row["body"]) for row in study.stand_ins.requests("redcap")]
    return {hit for body in bodies for hit in re.findall(r"P\d{3}", body)}


@pytest.mark.full
@pytest.mark.parametrize("asked", [6, 8])
@pytest.mark.parametrize("question", ["{}的ECOG评分", "{}的V2什么时候做"])
def test_all_that_were_named_are_told(study: Study, asked: int, question: str) -> None:
    wanted = ids(study, asked)
    mute(study)
    reply = ask("zhangyi", question.format("、".join(wanted)))
    assert all(record in reply.text for record in wanted), reply.text


def test_five_are_read_without_a_word(study: Study) -> None:
    wanted = ids(study, 5)
    mute(study)
    five = ask("zhangyi", f"{'、'.join(wanted)}的ECOG评分").text
    assert not re.search(r"请分次|separately", five)
    assert set(wanted) <= read(study)
