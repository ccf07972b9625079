"""What a token was made for: a run's token decides nothing, a question's token writes no report."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from rest_framework.test import APIClient

from engines.models import Review, TaskRun
from memory.models import WeeklyReport
from projects import tokens
from projects.models import TokenScope
from tests.engines.sop.kit import review_of, run_qc
from tests.support.chat import chat
from tests.support.study import Study

pytestmark = pytest.mark.django_db


def program(*scopes: TokenScope, owner: str = "wanghushi") -> APIClient:
    user = User.objects.get(username=owner)
    caller = APIClient()
    caller.credentials(
        HTTP_AUTHORIZATION=f"Token {tokens.create(user=user, actor=user, scopes=scopes)}"
    )
    return caller


@pytest.mark.full
def test_to_cancel_what_waits_for_a_review_takes_the_scope_of_deciding(study: Study) -> None:
    """Variants: alone, and with every other scope."""
    run = run_qc(study, "P012")
    review = review_of(run)
    others = [one for one in TokenScope if one is not TokenScope.DECIDE]
    for scopes in ((TokenScope.RUN,), others):
        answer = program(*scopes).post(
            f"/api/v1/task-runs/{run.pk}/cancel/", {"reason": "x"}, format="json"
        )
        assert (answer.status_code, answer.json()["code"]) == (403, "scope_missing")
    review.refresh_from_db()
    run.refresh_from_db()
    assert (review.status, run.status) == (Review.Status.OPEN, TaskRun.Status.SUSPENDED)
    both = program(TokenScope.RUN, TokenScope.DECIDE)
    assert (
        both.post(f"/api/v1/task-runs/{run.pk}/cancel/", {"reason": "x"}, format="json").status_code
        == 200
    )


@pytest.mark.parametrize("text", ["生成本周周报", "重新生成上周的周报", "写一份本月的周报"])
def test_a_token_for_questions_writes_no_report(study: Study, text: str) -> None:
    before = [*WeeklyReport.objects.values()]
    asks = program(TokenScope.ASK, owner="zhangyi")
    told = chat(asks, text=text)
    assert [*WeeklyReport.objects.values()] == before
    assert told.json()["reply"]
