"""What was changed in the data since when, as a question in chat."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils.timezone import now

from engines.models import Review
from study import sync
from study.models import Reading
from tests.engines.chat.kit import ask, silenced
from tests.engines.sop.kit import change, review_of, run_qc
from tests.engines.sop.test_findings_life import rows_of
from tests.support.study import Study

pytestmark = pytest.mark.django_db


@pytest.fixture
def changed(study: Study) -> Study:
    """The weight of P001 is another since a moment ago, and no model helps."""
    sync.sweep(study.project)
    place = next(row["redcap_event_name"] for row in rows_of(study, "P001") if row.get("weight_kg"))
    change(study, "P001", str(place), weight_kg="91.5")
    sync.poll(study.project)
    silenced(study)
    return study


@pytest.mark.parametrize("question", ["昨天以来改了什么", "P001最近改了什么", "P001的体重改过吗"])
def test_what_changed_is_told_with_before_and_after(changed: Study, question: str) -> None:
    reply = ask("zhangyi", question)
    assert "→ 91.5" in reply.text
    assert "体重" in reply.text
    assert f"{now():%Y-}" in reply.text


@pytest.mark.full
def test_nothing_changed_is_said_over_whom(changed: Study) -> None:
    assert ask("zhangyi", "P002最近改了什么").text == "P002 没有读到数据改动。"
    assert "您可见的" in ask("crc_b", "昨天以来改了什么").text


@pytest.mark.full
def test_since_the_last_review_counts_from_its_decision(changed: Study) -> None:
    assert "尚无已决定的复核" in ask("zhangyi", "上次复核以来有什么变化").text
    review = review_of(run_qc(changed, "P012"))
    # Times are told by the second: what was read in the second of the decision counts as a change since.
    newest = max(Reading.objects.values_list("first_seen", flat=True))
    Review.objects.filter(pk=review.pk).update(decided_at=newest + timedelta(seconds=1))
    text = ask("zhangyi", "上次复核以来有什么变化").text
    assert text.startswith("上次复核(")
    assert "没有读到数据改动" in text
