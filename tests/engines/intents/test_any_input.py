"""Whatever is typed: no error, the same answer twice, bounded work."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.assistant.read.intents import Intent
from engines.assistant.read.offline import detect
from engines.assistant.read.spelling import MAX_CHARACTERS, normalise

ALPHABET = (
    "P0123456789VDSH-零一二八十号患者受试查质控周报入组没有,。?! \n"
    "“”'\"、再然后先之前不用记住以后👍\ud800Ａ１ﷺ"
)
PIECES = [
    "P001",
    "7号患者",
    "质控",
    "周报",
    "，",
    "然后",
    "不用",
    "记住",
    "V2D28",
    "之前先",
    " ",
    "2024-01-02",
]
texts = st.one_of(
    st.text(st.characters(codec=None), max_size=300),
    st.text(ALPHABET, max_size=200),
    st.lists(st.sampled_from(PIECES), max_size=40).map("".join),
)


@pytest.mark.full
@settings(max_examples=400, deadline=None)
@given(texts)
def test_any_text_has_an_answer(text: str) -> None:
    found = detect(text)
    assert found.intents
    assert set(found.intents) <= set(Intent)
    assert 0 <= found.confidence <= 1
    assert all(value == value.upper() and " " not in value for value in found.record_ids)
    assert found == detect(text)


@pytest.mark.full
@settings(max_examples=400, deadline=None)
@given(texts)
def test_normalising_twice_changes_nothing(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once
    assert len(once) <= MAX_CHARACTERS


@pytest.mark.full
@pytest.mark.parametrize(
    "piece",
    [
        "查",
        "P001,",
        "质控 ",
        "不用",
        "零",
        "“",
        "7号和",
        "1-",
        "A-1-",
        "。",
        "\n",
        "再查",
        "ﷺ",
        "张的",
    ],
)
def test_ten_thousand_characters_are_answered(piece: str) -> None:
    found = detect(piece * (10_000 // len(piece)))
    assert found.intents


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\x00", "\u200b", "\ud800", "。", "🙂"])
def test_empty_messages_are_small_talk_or_doubt(text: str) -> None:
    assert len(detect(text).intents) == 1
