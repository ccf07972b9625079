"""A question that counts from the last review counts from one that the reader may know of."""

from __future__ import annotations

import pytest
from django.utils.timezone import now

from engines.models import Review
from tests.engines.chat.kit import ask
from tests.study.blinding import life, workflows
from tests.study.blinding.conftest import OfBoth
from tests.support.study import Study


def told(study: Study) -> str:
    """The answer where the reviews of the first subject are decided, if it has some."""
    life.blinded(study)
    study.project.refresh_from_db()
    skill = life.skill(study, "qc_process:level", workflows.TELLING)
    for record_id in life.SUBJECTS:
        life.run_of(study, skill, record_id)
    raised = Review.objects.filter(unblinds=True)
    assert raised.exists()
    raised.filter(record_id=life.SUBJECTS[0]).update(decided_at=now())
    return ask("zhangyi", "上次复核以来有什么变化").text


@pytest.mark.full
def test_a_review_that_unblinds_dates_no_question_of_the_blinded(of_both: OfBoth) -> None:
    one, other = of_both(told)
    assert one == other
