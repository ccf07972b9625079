"""A member with a site meets no subject of another one, also through hot memory, facts and reports."""

from __future__ import annotations

import re

import pytest

from memory.models import UserMemory, WeeklyReport
from memory.reports.history import book
from study.models import Subject
from tests.engines.chat.kit import ask, mute, sent
from tests.engines.chat.test_scope import EVERY_INTENT
from tests.memory.hot_kit import LINES, base
from tests.support.study import Study


def hidden(study: Study) -> list[str]:
    rows = Subject.objects.filter(project=study.project, site="site_a")
    return [rid for rid in rows.values_list("record_id", flat=True) if not rid.isdigit()]


def named(ids: list[str], text: str) -> list[str]:
    return [rid for rid in ids if re.search(rf"(?<![A-Z0-9]){rid}(?!\d)", text)]


@pytest.fixture
def spread(study: Study) -> Study:
    """Every shared memory speaks of the other site, in every section."""
    ids = hidden(study)
    assert len(ids) > 10
    lines = [
        f"{line} {ids[n]}" if line and not line.startswith("#") else line
        for n, line in enumerate(LINES)
    ]
    base(study, *lines, "- 本中心例会改为周三")
    for report in WeeklyReport.objects.filter(project=study.project):
        report.summary += "\n" + "\n".join(f"- 关键决策:{rid} 加做随访" for rid in ids)
        report.save()
    UserMemory.objects.create(
        project=study.project,
        user_id="wanghushi",
        memory_type="PREFERENCE",
        importance=60,
        field="statement",
        content=f"{ids[0]} 优先",
    )
    return study


@pytest.mark.full
@pytest.mark.parametrize("silent", [False, True])
def test_nothing_of_the_other_site_over_all_intents(spread: Study, silent: bool) -> None:
    if silent:
        mute(spread)
    ids = hidden(spread)
    for question in [*EVERY_INTENT, "他们中心的情况记得吗?", "周报里提到哪些受试者"]:
        # What was typed may be repeated.
        told = named(ids, ask("crc_b", question).text)
        assert [rid for rid in told if rid not in question] == [], question
    for service in ("llm", "dify"):
        assert named(ids, sent(spread, service)) == []
    assert "本中心例会改为周三" in sent(spread)


@pytest.mark.full
def test_the_other_site_does_read_it(spread: Study) -> None:
    ask("wanghushi", "我们之前为什么暂停筛选?")
    assert len(named(hidden(spread), sent(spread))) > 5


def test_pages_of_the_history_book(spread: Study) -> None:
    ids = hidden(spread)
    text = "\n".join(page.text for page in book(spread.project, spread["crc_b"]))
    assert named(ids, text) == []
    assert text.strip()
