"""A subject's id as it was heard or badly typed is taken for the one that fits, and the reader is told so."""

from __future__ import annotations

from tests.engines.chat.kit import ask, mute
from tests.support.study import Study


def test_what_an_id_was_taken_for_is_said(study: Study) -> None:
    mute(study)
    reply = ask("zhangyi", "P0O1的ECOG评分")
    assert reply.text.startswith("“P0O1”按 P001 理解。")
    assert "ECOG" in reply.text.partition("理解。")[2]
