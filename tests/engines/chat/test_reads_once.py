"""A message reads each table it needs once, and the next message reads it again."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection
from django.utils.timezone import now

from engines.assistant.chat.turn import prepare
from memory.reports.history import book
from study.models import Subject
from tests.engines.chat.kit import ask, prompts, sent
from tests.memory.hot_kit import base, said
from tests.memory.test_year_digest import fill
from tests.support.study import Study

QUESTION = "当初为什么放慢入组?"
ONCE = {
    "iit_dictionaries",
    "iit_llm_check",
    "iit_llm_usage",
    "iit_memory_tombstones",
    "iit_project_memory",
    "iit_skills",
    "iit_subjects",
    "iit_sync_state",
    "iit_user_memory",
    "iit_weekly_reports",
}
_TABLES = re.compile(r'FROM "(iit_\w+)"')


@contextmanager
def statements() -> Iterator[list[str]]:
    """What the block sends; also statements of which Django's own log does not know the text."""
    seen: list[str] = []

    def note(execute: Callable[..., Any], sql: str, *more: Any) -> Any:
        seen.append(sql)
        return execute(sql, *more)

    with connection.execute_wrapper(note):
        yield seen


def assemble(study: Study, userid: str) -> list[str]:
    """Statements of one history question before its first outside call, without those of the cache."""
    with statements() as seen:
        turn = prepare(study.project, study[userid], QUESTION, now())
        book(turn.project, turn.member, scope=turn.scope)
    return [sql for sql in seen if "iit_cache" not in sql]


@pytest.mark.parametrize("userid", ["zhangyi", "crc_b"])
@pytest.mark.parametrize("weeks", [15, 160])
def test_once_for_a_message(study: Study, userid: str, weeks: int) -> None:
    fill(study, weeks)
    said(study, "我只看入组进度", userid, own=True)
    ask(userid, QUESTION)
    seen = assemble(study, userid)
    assert Counter(_TABLES.findall("\n".join(seen))) == dict.fromkeys(ONCE, 1)
    assert len(seen) == len(ONCE) - 1, "dictionary and age of the roster together"


@pytest.mark.full
def test_a_subject_that_moves_is_out_of_sight_with_the_next_message(study: Study) -> None:
    of_b = Subject.objects.filter(project=study.project, site="site_b", record_id__startswith="P")
    moved = of_b.order_by("record_id").first()
    assert moved is not None
    base(study, f"- {moved.record_id} 的随访改为周三")
    ask("crc_b", "大家最近都在忙些啥")
    assert moved.record_id in sent(study)
    study.stand_ins.reset()
    # Only the site: no reading of the roster tells of it.
    Subject.objects.filter(pk=moved.pk).update(site="site_a")
    ask("crc_b", "大家最近都在忙些啥")
    assert prompts(study)
    assert moved.record_id not in sent(study)


@pytest.mark.full
def test_what_a_study_has_set_is_read_once_a_message(study: Study) -> None:
    ask("zhangyi", "还在筛选的有几个")
    with statements() as seen:
        ask("zhangyi", "还在筛选的有几个")
    read = Counter(table for sql in seen for table in _TABLES.findall(sql))
    assert (read["iit_field_roles"], read["iit_visit_plan"], read["iit_synonyms"]) == (1, 1, 1)
