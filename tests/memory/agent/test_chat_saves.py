"""A message that is no business of the study is still read for what its sender says of themselves."""

from __future__ import annotations

from typing import Any

import pytest

from memory.models import MemoryTurn
from tests.engines.chat.kit import ask
from tests.memory.agent.kit import SCENARIO, SCENARIO_ITEMS, extracted, kept
from tests.support.study import Study
from tests.support.tasks import drain


@pytest.mark.full
def test_the_seeds_first_message_is_kept_through_the_chat(
    study: Study, immigration: Any, django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        ask("zhangyi", SCENARIO)
    study.stand_ins.script(extracted(*SCENARIO_ITEMS))
    assert "memory.tasks.save_info" in drain()
    assert any("32" in content for content in kept("zhangyi"))
    assert any("杭州" in content for content in kept("zhangyi"))


def test_the_clinical_house_keeps_nothing_of_it(study: Study, settings: Any) -> None:
    settings.MEMORY_SCHEMA = "clinical"
    ask("zhangyi", SCENARIO)
    assert not MemoryTurn.objects.exists()
