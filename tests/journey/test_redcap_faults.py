"""What goes wrong with REDCap is shown for what it is, in chat, run and console, and never as clean."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from engines.models import PendingAction
from study import sync
from study.models import SyncState
from tests.engines.chat.kit import ask, silenced
from tests.engines.sop.kit import run_qc
from tests.support.study import Study

HTML = "<html><body>502 Bad Gateway</body></html>"
FAULTS: dict[str, tuple[str, Any]] = {
    "403 midway": ("status", 403),
    "500 empty": ("status", 500),
    "502 HTML": ("status", 502),
    "200 and HTML": ("body", HTML),
    "truncated JSON": ("body", '[{"record_id": "P016", "alt": "3'),
    "no rows": ("body", "[]"),
    "cut off": ("reset", None),
}
CLEAN = ("没有", "0 条", "0 例", "共 0", "已通过")
pytestmark = [pytest.mark.django_db, pytest.mark.parametrize("fault", FAULTS)]


def fails(study: Study, fault: str) -> None:
    """From now on the exports go wrong."""
    kind, value = FAULTS[fault]
    study.stand_ins.fault("redcap", kind, value, times=None)


@pytest.mark.full
def test_chat_says_from_when_its_data_are_and_why(study: Study, fault: str) -> None:
    silenced(study)
    sync.sweep(study.project)
    fails(study, fault)
    reply = ask("zhangyi", "P016的ALT最高到过多少").text
    assert "185" in reply
    assert "数据截至" in reply
    assert SyncState.objects.get().get_cause_display() in reply


@pytest.mark.parametrize("text", ["P016有哪些不良事件", "哪些受试者ALT高于上限"])
def test_chat_denies_nothing_that_was_never_read(study: Study, fault: str, text: str) -> None:
    silenced(study)
    fails(study, fault)
    reply = ask("zhangyi", text).text
    assert "REDCap" in reply
    assert not [word for word in CLEAN if word in reply]


@pytest.mark.full
def test_a_check_shows_the_failure_and_closes_nothing(
    study: Study, fault: str, admin_client: Client
) -> None:
    run_qc(study, "P004")
    opened = set(PendingAction.objects.filter(state="open").values_list("pk", flat=True))
    assert opened
    fails(study, fault)
    run = run_qc(study, "P004")
    assert run.final_state != "end_success"
    assert set(PendingAction.objects.filter(state="open").values_list("pk", flat=True)) == opened
    page = admin_client.get(f"/admin/engines/taskrun/{run.pk}/change/").content.decode()
    assert "REDCap" in page
