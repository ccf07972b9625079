"""Every promise is numbered and held by tests that are there; a promise without a test is found."""

from __future__ import annotations

from tests.validation import requirements
from tests.validation.requirements import FEATURES, Topic, faults, features

HEAD = "id,zh,en,source,section,risk,tests\n"
HELD = "tests/house/test_keys.py"


def of(rows: str, lines: str = "", titles: tuple[Topic, ...] = ()) -> list[str]:
    held = features(lines)
    return [*faults(requirements.requirements(HEAD + rows, held), titles, held)]


def test_each_promise_has_its_tests_and_each_feature_its_promise() -> None:
    """Where this fails for a new line of docs/features.md: add it to docs/validation/requirements.csv."""
    promised, titles = requirements.read()
    held = features(FEATURES.read_text(encoding="utf-8"))
    assert [*faults(promised, titles, held)] == []


def test_the_seeds_the_rules_and_the_features_are_all_there() -> None:
    promised, _titles = requirements.read()
    sources = {
        one.source.split()[0] + one.source.split()[1][:3]
        for one in promised
        if "seed" in one.source
    }
    assert sources == {f"seed{number:03}" for number in range(5)}
    rules = {one.section for one in promised if one.source == "rule that always holds"}
    assert rules == {str(number) for number in range(1, 13)}


def test_a_promise_without_a_test_is_found() -> None:
    assert of("R-001,甲,a,seed 000,1,high,\n") == ["R-001 has no test"]


def test_a_test_that_is_not_there_is_found() -> None:
    rows = "R-001,甲,a,seed 000,1,high,tests/no_such.py tests/house/test_keys.py::test_no_such\n"
    assert len(of(rows)) == 2


def test_a_feature_without_a_promise_is_found_and_the_other_way_round() -> None:
    lines = f"| feature | test |\n|---|---|\n| b | `{HELD}` |\n"
    assert of("", lines) == ["no requirement for the feature: b"]
    row = "R-201,乙,{},docs/features.md,Trust,low,\n"
    assert of(row.format("b"), lines) == []
    assert "no feature for the requirement: c" in of(row.format("c"), lines)


def test_two_of_one_number_and_a_title_of_none_are_found() -> None:
    row = f"R-001,甲,a,seed 000,1,high,{HELD}\n"
    lost = Topic("ICH E6(R3)", "4.2.1", ("R-002",))
    assert of(row + row, titles=(lost,)) == [
        "R-001 stands there 2 times",
        "4.2.1 names R-002, which is not there",
    ]
