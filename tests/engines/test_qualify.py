"""`manage.py qualify`: what is not as released is found, the scripted set passes, the report can be signed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from engines.qualification import operational, release
from engines.qualification.steps import StepFailed, expect, take_steps

ROOT = Path(__file__).resolve().parents[2]


def test_a_changed_a_missing_and_an_added_file_are_found(tmp_path: Path) -> None:
    for name in ("kept.py", "changed.py", "gone.py"):
        (tmp_path / name).write_text(name)
    (tmp_path / ".env").write_text("a secret")
    manifest = release.write(tmp_path).read_text()
    assert ".env" not in manifest
    assert release.differences(tmp_path) == []
    (tmp_path / "changed.py").write_text("other")
    (tmp_path / "gone.py").unlink()
    (tmp_path / "added.py").write_text("")
    assert release.differences(tmp_path) == ["added.py", "changed.py", "gone.py"]


@pytest.mark.parametrize("language", ["", ".zh"])
def test_the_documented_report_is_no_file_of_the_release(tmp_path: Path, language: str) -> None:
    told = (ROOT / f"docs/operating/qualify{language}.md").read_text("utf-8")
    (place,) = re.findall(r"iit qualify --report (\S+)", told)
    opt, var = tmp_path / "opt/iit", tmp_path / "var/lib/iit"
    for folder in (opt, var):
        folder.mkdir(parents=True)
    (opt / "kept.py").write_text("kept")
    release.write(opt)
    # A relative path is below the folder of the release, where the command is run.
    report = tmp_path / place.lstrip("/") if place.startswith("/") else opt / place
    report.with_name(f"{report.name}.html").write_text("seen")
    assert release.differences(opt) == []


def test_a_step_that_breaks_fails_without_its_text_and_stops_no_other() -> None:
    def breaks() -> str:
        raise ValueError("张三")

    def refuses() -> str:
        expect(False, "not as it should be")
        return "never"

    found = take_steps([("a", "A", breaks), ("b", "B", refuses), ("c", "C", lambda: "seen")])
    assert [(one.passed, one.seen) for one in found] == [
        (False, "ValueError"),
        (False, "not as it should be"),
        (True, "seen"),
    ]


def test_the_operational_set_runs_on_no_database_but_its_own(tmp_path: Path) -> None:
    with pytest.raises(operational.NotItsOwn):
        operational.outcomes(tmp_path)


def test_the_steps_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = ({"==": [{"var": "age"}, 18]}, {"age": "18"}, "FAIL")
    monkeypatch.setattr(operational, "_RULES", (wrong,))
    monkeypatch.setattr(operational, "_VISITS", (("2026-01-20", "in_window"),))
    with pytest.raises(StepFailed):
        operational._rules()
    with pytest.raises(StepFailed):
        operational._visits()


@pytest.mark.slow
def test_the_whole_command_on_a_house_that_nobody_prepared(tmp_path: Path) -> None:
    """The operation passes; the installation fails on the demo's settings and says on which."""
    own = {"VAR_DIR": str(tmp_path / "var"), "DATABASE_URL": "", "REDIS_URL": "", "DEBUG": "1"}
    own["AUDIT_ANCHORS"] = str(tmp_path / "anchors.jsonl")
    command = [sys.executable, "manage.py", "qualify", "--report", str(tmp_path / "report.v1")]
    done = subprocess.run(
        [*command, "--who", "somebody", "--language", "zh-hans"],
        cwd=ROOT,
        env=os.environ | own,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stderr
    told = json.loads((tmp_path / "report.v1.json").read_text(encoding="utf-8"))
    assert [one for one in told["operation"] if not one["passed"]] == []
    assert len(told["operation"]) == 7
    failed = {one["key"] for one in told["installation"] if not one["passed"]}
    assert failed >= {"settings", "migrations", "proxy"}
    assert not failed & {"versions", "packages", "font", "time_zone"}
    page = (tmp_path / "report.v1.html").read_text(encoding="utf-8")
    assert "somebody" in page
    assert "签名" in page
    assert (tmp_path / "report.v1.pdf").read_bytes().startswith(b"%PDF")
    assert not (tmp_path / "anchors.jsonl").exists()
