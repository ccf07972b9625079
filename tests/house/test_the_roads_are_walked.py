"""The roads of docs/architecture.md are walked: every function that a road names runs, by its tasks alone.

Tables and classes are named there, too; only functions are looked for.
"""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest
from django.test import Client

from engines import sop
from engines.models import Review, TaskRun
from memory.models import ProjectMemory
from skills.models import Skill
from tests.console.conftest import as_user as as_user
from tests.console.test_memory_pages import edit
from tests.engines.sop.kit import human, new_skill, soft
from tests.support.study import Study
from tests.support.tasks import drain
from tests.wechat.working import click, receive
from wechat.models import Card

pytestmark = pytest.mark.django_db(transaction=True)
ROOT = Path(__file__).resolve().parents[2]
PLACE = re.compile(r"`([\w/]+\.py):([\w.]+)`")


@contextmanager
def walked() -> Iterator[set[tuple[str, str]]]:
    """The functions of the house that run meanwhile, here and in threads that are begun: (file, name)."""
    codes, found = set[CodeType](), set[tuple[str, str]]()

    def note(frame: FrameType, _event: str, _what: Any) -> None:
        codes.add(frame.f_code)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
        found |= {(code.co_filename.removeprefix(f"{ROOT}/"), code.co_qualname) for code in codes}


def road(title: str) -> list[tuple[str, str]]:
    """The functions of a road, without what makes up for lost wakes."""
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    own = text.split(f"### {title}", 1)[1].split("\n##", 1)[0].split("A wake that is lost", 1)[0]
    return [(file, name) for file, name in PLACE.findall(own) if is_function(name)]


def is_function(name: str) -> bool:
    last = name.split(".")[-1].lstrip("_")
    return last[0].islower()


def not_walked(title: str, found: set[tuple[str, str]]) -> list[tuple[str, str]]:
    named = road(title)
    assert len(named) > 4
    return [place for place in named if place not in found]


@pytest.mark.full
def test_a_message(study: Study) -> None:
    with walked() as found:
        receive("P001 入组了吗?另外方案里的排除标准是什么")
        drain()
    assert not_walked("A message", found) == []


@pytest.mark.full
def test_an_approval(study: Study, as_user: Callable[..., Client]) -> None:
    nodes = {"ask": human(on_approve="judge"), "judge": soft()}
    skill = new_skill(study, nodes, kind="qc_process:roads")
    runs = [ordered(study, skill, record) for record in ("P001", "P001", "P003", "P004")]
    drain()
    reviews = {review.record_id: review for review in Review.objects.all()}
    assert len(reviews) == 3
    crc = as_user("wanghushi")
    with walked() as found:
        click(card_of(reviews["P001"]), "approve", "wanghushi")
        one = reviews["P003"]
        crc.post(
            f"/admin/engines/taskrun/{one.task_run_id}/decide/",
            {"approve": "1", "reason": "核对过", "seen": one.seen},
        )
        chosen = {"action": "approve_review", "_selected_action": [str(runs[3].pk)]}
        crc.post("/admin/engines/taskrun/", chosen)
        drain()
    assert not_walked("An approval", found) == []
    for run in runs[:3]:
        run.refresh_from_db()
        assert run.current_node != "ask"


def ordered(study: Study, skill: Skill, record: str) -> TaskRun:
    return sop.start(
        project=study.project, skill=skill, record_id=record, triggered_by="zhangyi", wake=True
    )


def card_of(review: Review) -> str:
    return Card.objects.get(kind="review", ref=str(review.pk)).task_id


@pytest.mark.full
def test_an_edit_of_hot_memory(study: Study, as_user: Callable[..., Client]) -> None:
    memory = ProjectMemory.objects.get(project=study.project)
    with walked() as found:
        edit(as_user("zhangyi"), memory, memory.content + "\n- 新的一行\n", memory.version)
        receive("P001 入组了吗?")
        drain()
    assert not_walked("An edit of hot memory", found) == []


def test_what_nobody_walks_is_found() -> None:
    with walked() as found:
        is_function("atomic")
    assert ("tests/house/test_the_roads_are_walked.py", "is_function") in found
    assert not_walked("A message", found) == road("A message")
