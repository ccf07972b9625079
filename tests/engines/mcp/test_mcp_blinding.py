"""A blinded reader's program is told the same bytes whichever arm a subject is in."""

from __future__ import annotations

import json

import pytest
from django.core.cache import cache
from django.db import transaction

from engines.mcp_server import tools
from projects.models import ApiToken, Project
from study.blinding import services
from tests.engines.mcp.kit import READ_AT, token
from tests.study.blinding import twins
from tests.study.blinding.conftest import Open, open_twin, twin_servers

__all__ = ["open_twin", "twin_servers"]
pytestmark = [pytest.mark.django_db, pytest.mark.full]


def _asked() -> list[tuple[str, dict[str, object]]]:
    fields = sorted(twins.BLINDED)
    return [
        *(("query_study", {"select": [field]}) for field in fields),
        *(("query_study", {"aggregate": "count", "by": [field]}) for field in fields),
        ("query_study", {"aggregate": "count", "by": ["@site", "sex"]}),
        ("query_study", {"select": ["@status", "alt", "@visits.state"]}),
        ("query_study", {"select": ["@findings.text", "@runs.status"]}),
        ("check_visit_window", {"record_id": "P001"}),
        ("list_findings", {"all": True}),
        ("search_protocol", {"query": "随机分组"}),
    ]


def _told(open_twin: Open, twin: str, owner: str, limit: int) -> list[str]:
    """What a blinded reader's program is told of one twin; nothing of it stays."""
    cache.clear()
    with transaction.atomic():
        study = open_twin(twin)
        services.switch_on(project=study.project, fields=twins.fields(), actor="test")
        Project.objects.update(small_cell=limit)
        token(owner)
        mine = ApiToken.objects.select_related("user").latest("created_at")
        replies = [tools.call(mine, name, said) for name, said in _asked()]
        transaction.set_rollback(True)
    assert [one for one in replies if not one.is_error and json.loads(one.text)]
    return [READ_AT.sub("", reply.text) for reply in replies]


@pytest.mark.parametrize("limit", [0, 5])
@pytest.mark.parametrize("owner", ["zhangyi", "wanghushi"])
def test_the_arm_changes_no_byte(owner: str, limit: int, open_twin: Open) -> None:
    one, other = (_told(open_twin, twin, owner, limit) for twin in "ab")
    assert one == other
    # A refusal names the field that was asked for: what the client said is nothing it is told.
    asked = [json.dumps(said, ensure_ascii=False) for _name, said in _asked()]
    told = [(word, n) for word in twins.SECRETS for n, reply in enumerate(one) if word in reply]
    assert not [(word, n) for word, n in told if word not in asked[n]]
