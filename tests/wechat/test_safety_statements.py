"""The sweeps of serious events and their page take no more statements with 300 clocks than with three."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from engines import safety
from engines.models import ClockStage, SafetyClock
from tests.engines.cron.kit import at, clock
from tests.engines.safety_kit import switched_on
from tests.support.study import Study
from wechat.models import Card
from wechat.outbound import safety_notices

pytestmark = [pytest.mark.django_db, pytest.mark.full]


def more(study: Study, numbers: range) -> None:
    """Running clocks of P001, told of by a card each."""
    now = clock(study, "09:00")
    about = {"project": study.project, "record_id": "P001", "instrument": "ae"}
    times = {"first_read_at": now, "started_at": now, "due_at": clock(study, "09:00", days=1)}
    rows = [
        SafetyClock(instance=str(n), recipient="sponsor", hours=24, **about, **times)
        for n in numbers
    ]
    clocks = SafetyClock.objects.bulk_create(rows)
    told = {"stage": "started", "told_at": now}
    stages = [ClockStage(clock=one, due_at=one.due_at, **told) for one in clocks]
    for stage in ClockStage.objects.bulk_create(stages):
        ref = f"{stage.pk}-zh-hans"
        card = {"task_id": f"safety_{ref}@1", "to_user": "wanghushi", "content": "{}"}
        Card.objects.create(
            kind="safety", ref=ref, seen=str(stage.pk), project=study.project, **card
        )


def statements(client: Client) -> tuple[int, int]:
    """Of both sweeps, and of the list."""
    with CaptureQueriesContext(connection) as swept:
        safety.sweep()
        safety_notices.tell_all()
    with CaptureQueriesContext(connection) as shown:
        assert client.get("/admin/engines/safetyclock/").status_code == 200
    return len(swept), len(shown)


def test_they_do_not_grow_with_rows(study: Study) -> None:
    client = Client()
    with at(clock(study, "09:00")):
        client.force_login(User.objects.get(username="wanghushi"))
        switched_on(study)
        more(study, range(900, 903))
        statements(client)
        few = statements(client)
        more(study, range(1000, 1297))
        assert statements(client) == few
        assert few[0] < 15, few
