"""The daily ten probes: a bad day makes answers plain, a day that cannot be told changes nothing."""

from __future__ import annotations

from typing import Any

import pytest
import time_machine
from django.urls import reverse
from django.utils.timezone import now
from pytest_django import Settings

from core.house import clock
from core.llm import acceptance, standing
from core.llm.asking import Llm
from core.llm.models import LlmCanary, LlmUsage
from engines import llm_canary, llm_study, tasks
from projects.models import AuditEntry, Project
from study.models import Subject
from tests.engines.accepted import accepted
from tests.engines.chat.kit import prompts, sent
from tests.engines.test_llm_check import GOLD, Model, asks
from tests.support.study import Study
from tests.support.tasks import drain
from wechat.models import OutboxMessage

DAY_S = 86400


@pytest.fixture(autouse=True)
def _required(settings: Settings, study: Study) -> None:
    settings.REQUIRE_MODEL_ACCEPTANCE = True
    acceptance.sign(accepted(study.project), "admin", "admin")


def capable(study: Study, wrong: int = 0) -> None:
    """The next day's probes answered rightly, but for the first `wrong` of each kind."""
    first = llm_canary.EACH * (clock.today(study.project.timezone).toordinal() % 2)
    played: list[dict[str, Any]] = []
    for n in range(first, first + llm_canary.EACH):
        bad = n - first < wrong
        played += asks([GOLD[n - 1 if bad else n]])
        # A reading that does not fit the words is asked again.
        played += asks([GOLD[n - 1]]) if bad else []
        marks = [] if bad else sorted(llm_study.said(n).must)
        played.append(Model.plan(marks))
    study.stand_ins.post("llm/script", played)


def may(study: Study) -> set[str]:
    llm = Llm(study.project)
    return {one for one in standing.MODEL_OF if llm.of(standing.MODEL_OF[one]).may(one)}


def told() -> list[str]:
    rows = OutboxMessage.objects.filter(key__startswith="canary:").order_by("pk")
    return [row.to_user for row in rows]


@pytest.mark.full
def test_a_day_of_ten(study: Study) -> None:
    capable(study)
    row = llm_canary.check(study.project)
    assert row is not None
    assert row.met == 10
    assert may(study) == {standing.ASK, standing.SAY}
    assert LlmUsage.objects.filter(project=study.project, purpose="check").count() == 10
    assert told() == []
    ids = Subject.objects.values_list("record_id", flat=True)
    assert not [one for one in ids if len(one) > 2 and one in sent(study)]


def test_it_falls_and_comes_back(study: Study, client: Any) -> None:
    project = study.project
    tasks.check_models()
    drain()
    assert LlmCanary.objects.get().met == 0
    assert may(study) == set()
    assert told() == ["admin"]
    client.force_login(
        study["admin"].person.user, backend="django.contrib.auth.backends.ModelBackend"
    )
    client.cookies["django_language"] = "en"
    assert "got 0 of 10 right" in client.get(reverse("admin:index")).content.decode()
    before = len(prompts(study))
    assert llm_canary.check(project) is None
    tasks.check_models()
    drain()
    assert len(prompts(study)) == before
    with time_machine.travel(now().timestamp() + DAY_S):
        capable(study)
        assert llm_canary.check(project)
        assert may(study) == {standing.ASK, standing.SAY}
        assert told() == ["admin", "admin"]
    entries = AuditEntry.objects.filter(action="model.canary").order_by("pk")
    assert [one.new["plain"] for one in entries] == [True, False]


@pytest.mark.full
def test_two_slips_of_ten_are_borne(study: Study) -> None:
    capable(study, wrong=1)
    row = llm_canary.check(study.project)
    assert row is not None
    assert row.met == 8
    assert may(study) == {standing.ASK, standing.SAY}


@pytest.mark.full
def test_a_model_that_is_away_says_nothing_of_it(study: Study) -> None:
    study.stand_ins.post("llm/script", [{"status": 503, "any_request": True}] * 10)
    row = llm_canary.check(study.project)
    assert row is not None
    assert row.met is None
    assert may(study) == {standing.ASK, standing.SAY}
    assert told() == []
    study.stand_ins.post("llm/script", [])
    again = llm_canary.check(study.project)
    assert again is not None
    assert again.met == 0
    assert LlmCanary.objects.count() == 1


@pytest.mark.full
def test_it_keeps_to_the_tokens_of_the_day(study: Study) -> None:
    Project.objects.update(llm_daily_token_cap=1)
    study.project.refresh_from_db()
    row = llm_canary.check(study.project)
    assert row is not None
    assert row.met is None
    # One reading and its repair.
    assert len(prompts(study)) <= 2


@pytest.mark.full
def test_where_no_acceptance_is_asked_for_nobody_is_asked(study: Study, settings: Settings) -> None:
    settings.REQUIRE_MODEL_ACCEPTANCE = False
    tasks.check_models()
    drain()
    assert prompts(study) == []
