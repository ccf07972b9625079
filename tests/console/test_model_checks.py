"""What a check of the study's models found, on the first page and in its list."""

from __future__ import annotations

from collections.abc import Callable

from django.test import Client
from django.urls import reverse

from core.llm import standing
from core.llm.providers import client_for
from tests.support.study import Study


def test_the_first_page_says_it_to_who_can_change_it(
    study: Study, as_user: Callable[..., Client]
) -> None:
    home = reverse("admin:index")
    assert "model-off" not in as_user("admin").get(home).content.decode()
    purpose = standing.MODEL_OF[standing.ASK]
    endpoint = client_for(study.project, purpose).endpoint
    standing.keep(study.project, purpose, endpoint, None, {standing.ASK: 3}, "ask.v1")
    page = as_user("admin").get(home).content.decode()
    assert 'data-test="model-off"' in page
    assert "model-off" not in as_user("wanghushi").get(home).content.decode()
    listed = as_user("admin").get(reverse("admin:llm_llmcheck_changelist")).content.decode()
    assert "3/10" in listed
