"""A serious event without a report date: clock, card, overdue finding, closing by data, each at its time.

All by what the house is used by: the settings page, REDCap, the timed jobs, WeCom, the pages of people.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.engines.cron.kit import at, clock
from tests.support.study import Study
from tests.support.tasks import drain
from wechat.models import OutboxMessage

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.full]
USER, NEW = "wanghushi", 9
CLOCKS = "/admin/engines/safetyclock/?state__exact=running&record_id__exact=P001"
FINDINGS = "/admin/engines/pendingaction/?record_id__exact=P001&skill_type=qc_process:sae_clock"


def browser(name: str) -> Client:
    client = Client()
    client.cookies["django_language"] = "zh-hans"
    user = User.objects.get(username=name)
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def page(address: str) -> str:
    answer = browser(USER).get(address)
    assert answer.status_code == 200, address
    return answer.content.decode()


def enter(study: Study, **values: str) -> None:
    """Somebody enters the event in REDCap."""
    place = {"record": "P001", "event": "log_arm_1", "instrument": "ae", "instance": NEW}
    told = {"ae_term": "皮疹", "ae_grade": "3", "ae_serious": "1"} | values
    study.stand_ins.post("redcap/records", [place | {"values": told}])


def timed() -> None:
    """The jobs that beat starts, as often as they come within some minutes; what they wake is worked off."""
    from engines.tasks import sweep_runs
    from study.tasks import read_studies
    from wechat.tasks import sweep

    for _again in range(3):
        for job in (read_studies, sweep_runs, sweep):
            job()
            drain()


def cards(study: Study, kind: str = "template_card") -> list[dict[str, Any]]:
    """What WeCom showed this person of the new event."""
    rows = [row for row in study.stand_ins.sent() if row["type"] == kind and row["to"] == USER]
    return [
        row["content"] for row in rows if f"第 {NEW} 条" in row["content"]["main_title"]["title"]
    ]


def test_each_at_its_time(study: Study) -> None:
    today = clock(study, "00:00")
    with at(clock(study, "08:00")):
        said = {"is_on": "on", "serious": "ae_serious", "code": "1", "known": "ae_start"}
        said |= {"field_sponsor": "sae_report_date", "hours_sponsor": "24"}
        settings = "/admin/engines/safetyclock/settings/"
        assert browser("admin").post(settings, said).status_code == 302
        timed()
        assert cards(study) == []
    with at(clock(study, "09:00")):
        enter(study, ae_start=f"{today:%Y-%m-%d}")
        timed()
        [started] = cards(study)
        assert started["main_title"]["title"] == "P001 的严重事件(第 9 条)需要上报"
        due = f"{today + timedelta(days=1):%Y-%m-%d} 00:00"
        assert {"keyname": "申办方", "value": f"截止 {due},限 24 小时"} in [
            {name: one[name] for name in ("keyname", "value")}
            for one in started["horizontal_content_list"]
        ]
        assert all("url" in one and "key" not in one for one in started["button_list"])
        assert "皮疹" not in str(started)
        assert f"#{NEW}" in page(CLOCKS)
        assert "严重事件" in page("/admin/")
    with at(clock(study, "18:00")):
        timed()
        assert [one["main_title"]["title"][-6:] for one in cards(study)][1:] == ["时限即将到期"]
    with at(clock(study, "23:59")):
        timed()
        assert "24 小时" not in page(FINDINGS)
    with at(clock(study, "00:00", days=1)):
        timed()
        assert len(cards(study)) == 3
        assert "24 小时" in page(FINDINGS)
        assert "逾期未报" in page(CLOCKS)
        assert cards(study, "update_template_card") == []
    with at(clock(study, "10:00", days=1)):
        reported = f"{today + timedelta(days=1):%Y-%m-%d}"
        enter(study, ae_start=f"{today:%Y-%m-%d}", sae_report_date=reported)
        timed()
        assert f"#{NEW}" not in page(CLOCKS)
        assert len(cards(study)) == 3, "nothing is left to tell"
        shown = cards(study, "update_template_card")
        assert len(shown) == 3
        assert {one["sub_title_text"] for one in shown} == {f"P001 申办方: 已上报 {reported}"}
        assert "数据修改后已解决" in page(FINDINGS)
        failed = OutboxMessage.objects.filter(status__in=OutboxMessage.DEAD_LETTERS)
        assert not failed.exists()
