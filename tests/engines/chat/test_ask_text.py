"""`manage.py ask` takes what the API takes as a question, and nothing else (contracts.md, Commands)."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from memory.models import ConversationHistory
from tests.support.study import Study


@pytest.mark.parametrize("text", ["", "   ", "a\0b", "\udcff", "x" * 10_001], ids=range(5))
def test_ask_refuses_what_the_api_refuses(text: str, study: Study) -> None:
    with pytest.raises(CommandError) as caught:
        call_command("ask", "--user", "zhangyi", text, stdout=StringIO())
    assert caught.value.returncode == 2
    assert not ConversationHistory.objects.exists()
