"""Whatever a model writes, it is checked: no text makes the check fail, or take long to do so."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engines.grounding.test_classes_of_lies import FALSE, SOURCES, TRUE, problems

SAID = [answer for told in (TRUE, FALSE) for answers in told.values() for answer in answers]
PIECES = sorted({piece for answer in SAID for piece in answer.replace("。", ",").split(",")})
SIGNS = [*"。,\n()~至-±%未²٣👍", "分别", "1e9", "9" * 40]
MIXED = st.lists(st.one_of(st.sampled_from(PIECES), st.sampled_from(SIGNS), st.text(max_size=8)))


@settings(deadline=None)
@given(st.sampled_from(sorted(SOURCES)), MIXED)
def test_any_answer_is_checked(source: str, pieces: list[str]) -> None:
    assert isinstance(problems("".join(pieces), SOURCES[source]), list)


@settings(deadline=None)
@given(st.sampled_from(sorted(SOURCES)), MIXED)
def test_a_number_of_nowhere_is_never_missed(source: str, pieces: list[str]) -> None:
    said = "".join(pieces)
    assert problems(f"{said}\n体重为 7319.25 kg。", SOURCES[source])
