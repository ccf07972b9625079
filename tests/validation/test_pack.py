"""The pack tells of each requirement how its tests ended, and who reads its exit code learns of the worst."""

from __future__ import annotations

from pathlib import Path

import pytest
from defusedxml import ElementTree
from openpyxl import load_workbook

from tests.run import say_of_what
from tests.validation import __main__ as command
from tests.validation import pack, requirements, results

ROW = "R-001,甲<b>,a,seed 000,1,high,tests/house/test_keys.py tests/house/test_env.py::test_one\n"
HEAD = "id,zh,en,source,section,risk,tests\n"
CASE = '<testcase classname="{}" name="{}">{}</testcase>'


CLEAN, OTHER = "0123456789ab", "ba9876543210"


def told(
    folder: Path, *cases: tuple[str, str, str], name: str = "make-test", commit: str = CLEAN
) -> list[results.Run]:
    body = "".join(
        CASE.format(module and f"tests.house.{module}", *rest) for module, *rest in cases
    )
    file = folder / f"junit-{name}.xml"
    file.write_text(
        f'<testsuites><testsuite timestamp="2026-11-29T10:00:00">{body}</testsuite></testsuites>'
    )
    say_of_what(file, ["--quick"], {"DATABASE_URL": "postgres://nobody@nowhere/x"})
    tree = ElementTree.parse(file)
    for one in tree.iter("property"):
        if one.get("name") == "commit":
            one.set("value", commit)
    tree.write(file)
    return results.runs(folder, CLEAN)


PASSED = ("test_keys", "test_a[1]", ""), ("test_env", "test_one[x]", "")


@pytest.mark.full
@pytest.mark.parametrize(
    ("cases", "verdict"),
    [
        (PASSED, "passed"),
        (PASSED[:1], "not run"),
        ((*PASSED, ("test_env", "test_two", "<failure/>")), "passed"),
        ((*PASSED, ("test_keys", "test_b", "<error/>")), "failed"),
        ((*PASSED, ("test_keys", "test_a[1]", "<error/>")), "failed"),
        ((PASSED[0], ("test_env", "test_one", "<skipped/>")), "skipped"),
        ((*PASSED, ("", "tests.house.test_keys", "<error/>")), "failed"),
        ((*PASSED, ("", "tests.house.test_env", "<error/>")), "failed"),
    ],
)
def test_what_is_said_of_a_requirement(
    tmp_path: Path, cases: tuple[tuple[str, str, str], ...], verdict: str
) -> None:
    [one] = requirements.requirements(HEAD + ROW, {})
    assert pack.verdict(one, told(tmp_path, *cases)) == verdict


def test_only_a_run_of_what_is_checked_out_counts(tmp_path: Path) -> None:
    [one] = requirements.requirements(HEAD + ROW, {})
    for commit in (OTHER, f"{CLEAN} + changes", ""):
        runs = told(tmp_path, *PASSED, commit=commit)
        assert pack.verdict(one, runs) == "other commit"
        assert results.runs(tmp_path, commit)[0].is_current == (commit == OTHER)
    [line] = pack.lines([one], [], runs)
    assert "other commit" in pack.rows([line])[0][7]
    failed = told(tmp_path, ("test_keys", "test_a", "<failure/>"), name="of-before", commit=OTHER)
    assert pack.verdict(one, failed) == "other commit"
    assert pack.verdict(one, told(tmp_path, *PASSED)) == "passed"


def test_what_has_no_passing_test_stands_first(tmp_path: Path) -> None:
    more = "R-002,乙,b,seed 000,1,low,\nR-003,丙,c,seed 000,1,low,tests/house/test_logs.py\n"
    promised = requirements.requirements(HEAD + ROW + more, {})
    lines = pack.lines(promised, [], told(tmp_path, *PASSED))
    assert [one.requirement.id for one in lines] == ["R-002", "R-003", "R-001"]


def test_the_page_says_when_what_and_on_what_and_runs_nothing(tmp_path: Path) -> None:
    promised = requirements.requirements(HEAD + ROW, {})
    runs = told(tmp_path, *PASSED)
    page = pack.page(pack.lines(promised, [], runs), [], runs, "2026-11-29T11:00:00+08:00")
    assert "甲&lt;b&gt;" in page
    assert "<b>" not in page
    assert "2026-11-29T10:00:00" in page
    assert "postgres" in page
    assert "--quick" in page
    assert "http" not in page
    assert "<script" not in page


@pytest.mark.full
def test_the_command_writes_both_files_and_ends_with_one_where_a_test_failed(
    tmp_path: Path,
) -> None:
    told(tmp_path, ("test_keys", "test_a", ""))
    assert command.main(tmp_path, CLEAN) == 0
    sheet = load_workbook(tmp_path / "validation/pack.xlsx").active
    assert sheet is not None
    assert sheet.max_row == len(requirements.read()[0]) + 1
    told(tmp_path, ("test_keys", "test_a", "<failure/>"), name="embedded")
    assert command.main(tmp_path, OTHER) == 0
    assert command.main(tmp_path, CLEAN) == 1
    assert "class=failed" in (tmp_path / "validation/pack.html").read_text(encoding="utf-8")


def test_without_any_run_the_page_says_what_to_do(tmp_path: Path) -> None:
    assert command.main(tmp_path) == 0
    assert "make test" in (tmp_path / "validation/pack.html").read_text(encoding="utf-8")
