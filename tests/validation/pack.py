"""The pack itself: each requirement with its tests and how they last ended, as a page and as a sheet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import chain

from tests.validation.requirements import RISKS, Requirement, Topic
from tests.validation.results import Run

VERDICTS = {
    "no test": "没有测试",
    "failed": "未通过",
    "not run": "未运行",
    "other commit": "其他提交",
    "skipped": "已跳过",
    "passed": "通过",
}
"""What can be said of a requirement, the worst first; so stand the rows."""
RISK = {"high": "高", "medium": "中", "low": "低"}
HEADER = (
    "编号 ID",
    "要求 Requirement (zh)",
    "Requirement (en)",
    "来源 Source",
    "风险 Risk",
    "测试 Tests",
    "结果 Result",
    "各次运行 Runs",
    "法规主题（仅标题） Topics (titles only)",
)
_STYLE = """
body{font:14px/1.5 "Noto Sans CJK SC","Microsoft YaHei",sans-serif;margin:2rem;color:#111;background:#fff}
table{border-collapse:collapse;width:100%;margin:1rem 0}th,td{border:1px solid #999;padding:.3rem .5rem;
text-align:left;vertical-align:top;overflow-wrap:anywhere}th{background:#eee}thead{display:table-header-group}
tr{break-inside:avoid}code{font-size:12px}.failed,.none{background:#fdd}.open{background:#ffefc2}
@media print{body{margin:0;font-size:10px}@page{size:A4 landscape;margin:12mm}}
"""
_CLASS = {"no test": "none", "failed": "failed", "not run": "open", "skipped": "open", "passed": ""}
_CLASS |= {"other commit": "open"}


@dataclass(frozen=True)
class Line:
    """A requirement with what the runs say of it: a verdict, and for each run how many cases ended how."""

    requirement: Requirement
    verdict: str
    runs: tuple[tuple[Run, Counter[str]], ...]
    topics: tuple[str, ...]


def lines(
    promised: Sequence[Requirement], titles: Sequence[Topic], runs: Sequence[Run]
) -> list[Line]:
    """Those without a passing test first, of these the gravest risk first."""
    made = [_line(one, titles, runs) for one in promised]
    places = [*VERDICTS]
    return sorted(
        made,
        key=lambda one: (
            places.index(one.verdict),
            RISKS.index(one.requirement.risk),
            one.requirement.id,
        ),
    )


def _line(one: Requirement, titles: Sequence[Topic], runs: Sequence[Run]) -> Line:
    told = [(run, sum((run.of(test) for test in one.tests), Counter[str]())) for run in runs]
    of = tuple(
        f"{topic.document} {topic.title}" for topic in titles if one.id in topic.requirements
    )
    return Line(one, verdict(one, runs), tuple((run, ends) for run, ends in told if ends), of)


def verdict(one: Requirement, runs: Sequence[Run]) -> str:
    """A key of VERDICTS: each test must have passed in a run of what is checked out, and none failed in one."""
    if not one.tests:
        return "no test"
    ended = _ends(one, [run for run in runs if run.is_current])
    if any(ends["failed"] for ends in ended):
        return "failed"
    if not all(ended):
        return "other commit" if all(_ends(one, runs)) else "not run"
    return "passed" if all(ends["passed"] for ends in ended) else "skipped"


def _ends(one: Requirement, runs: Sequence[Run]) -> list[Counter[str]]:
    return [sum((run.of(test) for run in runs), Counter[str]()) for test in one.tests]


def rows(told: Sequence[Line]) -> list[tuple[str, ...]]:
    """The cells of the sheet, below HEADER."""
    return [
        (
            line.requirement.id,
            line.requirement.zh,
            line.requirement.en,
            f"{line.requirement.source} · {line.requirement.section}",
            f"{RISK[line.requirement.risk]} {line.requirement.risk}",
            "\n".join(line.requirement.tests),
            f"{VERDICTS[line.verdict]} {line.verdict}",
            "\n".join(f"{_named(run)}: {_counted(ends)}" for run, ends in line.runs),
            "\n".join(line.topics),
        )
        for line in told
    ]


def page(told: Sequence[Line], titles: Sequence[Topic], runs: Sequence[Run], made_at: str) -> str:
    """The page: one file that needs nothing else, in Chinese and English side by side."""
    found = Counter(line.verdict for line in told)
    sums = [[f"{zh} {key}", str(found[key])] for key, zh in VERDICTS.items()]
    parts = chain(
        [
            "<!doctype html><html lang=zh-Hans><meta charset=utf-8><title>验证包 Validation pack</title>"
        ],
        [f"<style>{_STYLE}</style><h1>IIT Manager 验证包 Validation pack</h1>"],
        [f"<p>生成时间 Made: {escape(made_at)}</p>"],
        _table(("结果 Result", "要求数 Requirements"), sums),
        ["<h2>测试运行 Test runs</h2>"],
        _table(RUN_HEADER, map(_of_run, runs))
        if runs
        else ["<p>没有测试结果：请先运行 make test。 No results: run make test first.</p>"],
        ["<h2>要求与测试 Requirements and tests</h2>"],
        _table(HEADER, rows(told), [_CLASS[line.verdict] for line in told]),
        [
            "<h2>法规主题（仅列标题，不作合规声明） Topics (titles only; no statement of compliance)</h2>"
        ],
        _table(("文件 Document", "标题 Title", "要求 Requirements"), map(_of_topic, titles)),
    )
    return "\n".join(parts) + "\n</html>\n"


RUN_HEADER = (
    "运行 Run",
    "时间 When",
    "提交 Commit",
    "数据库 Database",
    "版本 Versions",
    "参数 Arguments",
)


def _of_run(run: Run) -> Sequence[str]:
    about = (run.about.get(key, "?") for key in ("commit", "database", "versions", "arguments"))
    return (_named(run), run.at, *about)


def _named(run: Run) -> str:
    return run.name if run.is_current else f"{run.name} ({VERDICTS['other commit']} other commit)"


def _of_topic(topic: Topic) -> Sequence[str]:
    return topic.document, topic.title, " ".join(topic.requirements) or "—"


def _counted(ends: Counter[str]) -> str:
    return ", ".join(f"{VERDICTS[key]} {key} {ends[key]}" for key in VERDICTS if ends[key])


def _table(
    header: Sequence[str], body: Iterable[Sequence[str]], classes: Sequence[str] = ()
) -> Iterable[str]:
    yield "<table><thead><tr>" + "".join(f"<th>{escape(one)}" for one in header) + "</thead><tbody>"
    for number, row in enumerate(body):
        mark = f" class={classes[number]}" if classes and classes[number] else ""
        cells = "".join(f"<td>{escape(cell).replace(chr(10), '<br>')}" for cell in row)
        yield f"<tr{mark}>{cells}"
    yield "</tbody></table>"
