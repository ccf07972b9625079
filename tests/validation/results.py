"""How the tests ended: the files that `make test` and `make test-all` leave in var/, one each run."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element

from defusedxml import ElementTree

ORDER = ("failed", "skipped", "passed")
"""Of a test told twice (once for its end) the worse counts."""


@dataclass(frozen=True)
class Run:
    """One run of the suite: when (ISO 8601, as pytest writes it), of which commit, on which database.

    `ended`: how the cases of each test ended, by file and name without parameters; "" is the whole file, where
    it could not be collected. `is_current`: whether just what is checked out now was tested.
    """

    name: str
    at: str
    about: Mapping[str, str]
    ended: Mapping[str, Mapping[str, Sequence[str]]]
    is_current: bool = False

    def of(self, test: str) -> Counter[str]:
        """How many cases of a file or of one test of it (`file::name`) ended how."""
        path, _, name = test.partition("::")
        tests = self.ended.get(path, {})
        return Counter(
            end for one, ends in tests.items() if name in ("", one) or not one for end in ends
        )


def runs(folder: Path, commit: str) -> list[Run]:
    """Those of a folder, the newest first. Raises ParseError for a file that was cut.

    `commit`: what is checked out, as `tests.run.commit` says it; one with changes is no commit.
    """
    found = [_run(file, commit) for file in folder.glob("junit-*.xml")]
    return sorted(found, key=lambda one: one.at, reverse=True)


def _run(file: Path, commit: str) -> Run:
    root = ElementTree.parse(file).getroot()
    suite = root if root.tag == "testsuite" else root.find("testsuite")
    assert suite is not None, file
    about = {p.get("name", ""): p.get("value", "") for p in suite.findall("properties/property")}
    name = file.stem.removeprefix("junit-")
    is_current = commit.isalnum() and about.get("commit") == commit
    return Run(name, suite.get("timestamp", ""), about, _ended(suite), is_current)


def _ended(suite: Element) -> dict[str, dict[str, list[str]]]:
    cases: dict[tuple[str, str], str] = {}
    for case in suite.iter("testcase"):
        module, name = case.get("classname", ""), case.get("name", "")
        if not module:  # a file that could not be collected
            module, name = name, ""
        key = module.replace(".", "/") + ".py", name
        cases[key] = min(cases.get(key, "passed"), _end(case), key=ORDER.index)
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for (path, name), end in cases.items():
        found[path][name.partition("[")[0]].append(end)
    return found


def _end(case: Element) -> str:
    tags = {child.tag for child in case}
    if tags & {"failure", "error"}:
        return "failed"
    return "skipped" if "skipped" in tags else "passed"
