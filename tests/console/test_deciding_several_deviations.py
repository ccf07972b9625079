"""Several deviations decided at once: each as it was shown, told where somebody was faster; taken back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from django.test import Client
from django.utils.translation import override

from engines import deviations
from engines.models import Deviation
from projects.models import AuditEntry
from tests.console.test_safety_pages import REGISTER, overdue, proposed
from tests.support.study import Study

pytestmark = pytest.mark.django_db
__all__ = ["overdue"]
AsUser = Callable[..., Client]
TOLD = {"apply": "1", "grade": "minor", "reason": "访视延误", "measure": "培训"}


def asked(client: Client, action: str, rows: Iterable[Deviation]) -> tuple[str, dict[str, Any]]:
    """The page that an action opens, and what its form would send."""
    chosen = {"action": action, "_selected_action": [str(one.pk) for one in rows]}
    page = client.post(REGISTER, chosen).content.decode()
    hidden = re.findall(r'name="(seen_[^"]+)" value="([^"]*)"', page)
    return page, chosen | dict(hidden)


def both() -> list[Deviation]:
    return [proposed("P001"), proposed("P020")]


def test_several_are_graded_with_one_reason(as_user: AsUser, overdue: Study) -> None:
    client = as_user("admin", "zh-hans")
    page, form = asked(client, "confirm_deviations", both())
    assert all(one.text in page and one.record_id in page for one in both())
    assert " checked" not in page, "nothing is chosen before a person chooses"
    for lacking, why in (({"grade": ""}, "请选择重大或一般"), ({"reason": " "}, "请说明原因。")):
        again = client.post(REGISTER, form | TOLD | lacking)
        assert why in again.content.decode()
        assert {one.state for one in both()} == {"proposed"}
    done = client.post(REGISTER, form | TOLD, follow=True).content.decode()
    assert "已处理 2 条偏离" in done
    assert {(one.state, one.grade, one.measure) for one in both()} == {
        ("confirmed", "minor", "培训")
    }
    entries = AuditEntry.objects.filter(action="deviation.decide", actor="admin")
    assert {entry.record_id for entry in entries} == {"P001", "P020"}


@pytest.mark.full
def test_what_somebody_else_decided_meanwhile_stays(as_user: AsUser, overdue: Study) -> None:
    client = as_user("admin", "zh-hans")
    _page, form = asked(client, "reject_deviations", both())
    first, _second = both()
    told: dict[str, Any] = {"state": "confirmed", "reason": "漏报", "actor": "zhangyi"}
    deviations.decide(deviation=first, seen=first.mark, grade="major", **told)
    done = client.post(REGISTER, form | TOLD, follow=True).content.decode()
    with override("zh-hans"):
        assert f"P001 ({first.get_source_display()}): 期间已有他人作出决定" in done
    assert "已处理 1 条偏离" in done
    one, other = both()
    assert (one.state, one.grade, one.decided_by) == ("confirmed", "major", "zhangyi")
    assert other.state == "rejected"
    seen = one.mark
    deviations.decide(deviation=one, seen=seen, grade="minor", **told)
    with pytest.raises(deviations.Undecided):
        deviations.decide(deviation=proposed("P001"), seen=seen, grade="major", **told)
    assert proposed("P001").grade == "minor", "of the same state, and still another decision"


@pytest.mark.full
def test_a_decision_is_taken_back_with_its_reason(as_user: AsUser, overdue: Study) -> None:
    client = as_user("admin", "zh-hans")
    _page, form = asked(client, "reject_deviations", both())
    client.post(REGISTER, form | TOLD)
    _page, form = asked(client, "take_back_deviations", both())
    done = client.post(REGISTER, form | {"apply": "1", "reason": "点错了"}, follow=True)
    assert "已处理 2 条偏离" in done.content.decode()
    for one in both():
        assert (one.state, one.grade, one.reason, one.decided_by) == ("proposed", "", "", "")
    last = AuditEntry.objects.filter(action="deviation.decide").order_by("-number")[0]
    assert (last.new["state"], last.reason) == ("proposed", "点错了")
    again = client.post(REGISTER, form | {"apply": "1", "reason": "点错了"}, follow=True)
    assert "尚无决定" in again.content.decode()


@pytest.mark.full
def test_others_rows_and_onlookers_decide_nothing(as_user: AsUser, overdue: Study) -> None:
    for name in ("crc_b", "auditor"):
        _page, form = asked(as_user(name, "zh-hans"), "confirm_deviations", [proposed("P001")])
        form |= {f"seen_{proposed('P001').pk}": "proposed"}
        as_user(name).post(REGISTER, form | TOLD)
        assert proposed("P001").state == "proposed", name
