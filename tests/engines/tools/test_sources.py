"""Where an answer comes from: each place once, whenever it was read."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engines.assistant.tools.results import Status, ToolResult, sources_of

EARLY, LATE = "2026-11-23T01:00:00+00:00", "2026-11-23T01:00:01+00:00"


def read(record_id: str, read_at: str | None, status: Status = Status.OK) -> ToolResult:
    source = {"kind": "redcap", "record_id": record_id, "read_at": read_at}
    return ToolResult("study_data", status, sources=(source,))


def test_a_subject_that_was_read_twice_is_one_source() -> None:
    for times in ((EARLY, LATE), (LATE, EARLY), (None, EARLY), (EARLY, None)):
        told = sources_of(read("P020", at) for at in times)
        assert told == [{"kind": "redcap", "record_id": "P020", "read_at": EARLY}]


def test_two_subjects_are_two_in_the_order_of_the_answer() -> None:
    told = sources_of([read("P020", LATE), read("P003", EARLY), read("P020", EARLY)])
    assert [(one["record_id"], one["read_at"]) for one in told] == [
        ("P020", EARLY),
        ("P003", EARLY),
    ]


def test_what_was_not_read_is_no_source() -> None:
    assert sources_of([read("P020", EARLY, Status.NOT_FOUND)]) == []


@given(st.lists(st.tuples(st.sampled_from("AB"), st.sampled_from((EARLY, LATE)))))
def test_no_reading_is_changed_by_being_told(reads: list[tuple[str, str]]) -> None:
    results = [read(*one) for one in reads]
    before = [dict(one.sources[0]) for one in results]
    told = sources_of(results)
    assert [dict(one.sources[0]) for one in results] == before
    assert {one["record_id"] for one in told} == {name for name, _at in reads}
