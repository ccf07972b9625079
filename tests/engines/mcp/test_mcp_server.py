"""The MCP server over HTTP: what it tells, whose, and who is refused (issue 27, O.4)."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import httpx2
import pytest
from django.core.cache import cache
from django.core.management import call_command
from django.utils.timezone import now
from pytest_django import Settings

from core.privacy.obfuscation_decoder import Written
from projects import reads
from projects.models import ApiToken, AuditEntry, Project, Read, TokenScope
from study.identities import known_identifiers
from study.request_cache import Reader
from tests.engines.mcp.kit import call, listed, served, status, token
from tests.house.kit import make_project
from tests.support import contents
from tests.support.study import Study

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.full]
ALL = {"query_study", "search_protocol", "check_visit_window", "list_findings"}
QUERY = {"select": ["alt", "@site"], "rows": "latest"}


@pytest.fixture
def url(transactional_db: None) -> Iterator[str]:
    with served() as found:
        yield found


@pytest.fixture
def open_study(study: Study) -> Study:
    """A study that lets programs read rows."""
    Project.objects.update(small_cell=0)
    return study


@pytest.mark.parametrize("owner", ["zhangyi", "wanghushi", "crc_b"])
def test_a_query_is_answered_as_its_owner_is_answered(
    owner: str, open_study: Study, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps(QUERY) + "\n"))
    out = io.StringIO()
    call_command("query", user=owner, stdout=out)
    told = call(url, token(owner), "query_study", **QUERY)
    assert not told.is_error
    assert told.data["facts"]
    assert told.data == json.loads(out.getvalue())


@pytest.mark.parametrize(
    ("scopes", "rows", "counts"),
    [
        ((), ALL, {"query_study", "search_protocol"}),
        ((TokenScope.READ,), ALL, {"query_study", "search_protocol"}),
        ((TokenScope.ASK,), {"search_protocol"}, {"search_protocol"}),
        ((TokenScope.COUNTS,), {"query_study"}, {"query_study"}),
        ((TokenScope.RUN, TokenScope.DECIDE), set(), set()),
    ],
)
def test_the_list_holds_what_the_token_may(
    scopes: tuple[TokenScope, ...], rows: set[str], counts: set[str], study: Study, url: str
) -> None:
    key = token("zhangyi", *scopes)
    assert listed(url, key) == counts
    Project.objects.update(small_cell=0)
    assert listed(url, key) == rows
    said = {
        "query_study": {"aggregate": "count"},
        "search_protocol": {"query": "入选标准"},
        "check_visit_window": {"record_id": "P001"},
        "list_findings": {},
    }
    answered = {name for name in ALL if not call(url, key, name, **said[name]).is_error}
    assert answered == rows
    Project.objects.update(small_cell=5)
    answered = {name for name in ALL if not call(url, key, name, **said[name]).is_error}
    assert answered == counts


def test_another_sites_subject_reads_like_an_invented_one(open_study: Study, url: str) -> None:
    key = token("wanghushi")
    mine = call(url, token("zhangyi"), "query_study", select=["@site"]).data["facts"]
    foreign = next(fact["subject"] for fact in mine if fact["value"] != "site_a")
    for name, said in (
        ("query_study", lambda who: {"subjects": [who], "select": ["alt"]}),
        ("check_visit_window", lambda who: {"record_id": who}),
        ("list_findings", lambda who: {"record_id": who, "all": True}),
    ):
        there, none = (call(url, key, name, **said(who)) for who in (foreign, "P0000"))
        assert _timeless(there.data) == _timeless(none.data), name
        assert foreign not in there.text


def _timeless(data: Any) -> Any:
    return {key: value for key, value in data.items() if key != "read_at"}


def test_another_study_reads_like_an_invented_one(open_study: Study, url: str) -> None:
    make_project("BETA")
    key = token("zhangyi")
    there = call(url, key, "query_study", project="BETA", aggregate="count")
    none = call(url, key, "query_study", project="GAMMA", aggregate="count")
    assert there.is_error
    assert there.text == none.text


def test_nothing_identifying_leaves(open_study: Study, url: str) -> None:
    key = token("zhangyi")
    for field in ("subject_name", "phone", "id_card", "birth_date", "egfr_mutation"):
        told = call(url, key, "query_study", select=[field])
        assert told.is_error
    forms = call(url, key, "query_study", select=["demographics"])
    said = forms.text + call(url, key, "list_findings", all=True).text
    known = known_identifiers(Reader(open_study.project))
    assert [form.value for _start, _end, form in known.found(Written.of(said).folded)] == []


def test_an_end_of_the_token_or_of_the_login_ends_it_at_the_next_call(
    open_study: Study, url: str
) -> None:
    for end in (
        lambda row: row.delete(),
        lambda row: ApiToken.objects.filter(pk=row.pk).update(expires_at=now() - timedelta(1)),
        lambda row: type(row.user).objects.filter(pk=row.user_id).update(is_active=False),
    ):
        key = token("crc_b")
        assert status(url, key) == 200
        end(ApiToken.objects.latest("created_at"))
        assert status(url, key) == 401


def test_a_member_who_left_is_told_nothing(open_study: Study, url: str) -> None:
    key = token("crc_b")
    open_study["crc_b"].__class__.objects.filter(pk=open_study["crc_b"].pk).update(is_active=False)
    assert listed(url, key) == set()
    assert call(url, key, "query_study", aggregate="count").is_error


def test_strangers_pages_of_others_and_unknown_hosts_are_refused(study: Study, url: str) -> None:
    key = token("zhangyi")
    assert status(url, "0" * 40) == 401
    assert status(url, key, Authorization="") == 401
    assert status(url, key, Origin="https://evil.example") == 403
    assert status(url, key, Host="evil.example") == 400
    assert status(url, key, Host="[::1") == 400
    assert status(url, key, Origin="https://[::1") == 400
    assert status(url, key) == 200


def test_of_several_headers_of_proxies_the_nearest_counts(
    study: Study, url: str, settings: Settings
) -> None:
    settings.TRUSTED_PROXIES = ["127.0.0.1"]
    said = [("X-Forwarded-For", "203.0.113.9"), ("X-Forwarded-For", "198.51.100.7")]
    httpx2.post(url, headers=[("Authorization", f"Bearer {'0' * 40}"), *said], timeout=60)
    entry = AuditEntry.objects.filter(action="login.failed").latest("id")
    assert entry.new["address"] == "198.51.100.7"


def test_too_large_too_deep_and_nul_are_refused_and_nothing_is_written(
    open_study: Study, url: str
) -> None:
    key = token("zhangyi")
    status(url, key)
    before = contents.snapshot()
    assert status(url, key, '{"a":"' + "x" * 1_100_000 + '"}') == 413
    deep: Any = {"field": "alt", "op": ">", "value": 1}
    for _ in range(80):
        deep = {"all": [deep]}
    for said in (
        {"where": [deep]},
        {"where": [{"field": "alt", "op": "=", "value": "x" * 70_000}]},
        {"select": ["a\0b"]},
        {"project": "a\0"},
        {"nothing": 1},
    ):
        assert call(url, key, "query_study", **said).is_error
    for name in ("check_visit_window", "list_findings"):
        assert call(url, key, name, record_id="\0").is_error
        assert call(url, key, name, record_id="x" * 5000).is_error
        assert call(url, key, name, record_id=["P001"]).is_error
    assert call(url, key, "send_message", roles=["PI"], text="x").is_error
    written = contents.changed(before)
    assert {*written} <= {Read._meta.label}


def test_each_call_is_a_noted_read(open_study: Study, url: str) -> None:
    Read.objects.all().delete()
    call(url, token("wanghushi"), "check_visit_window", record_id="P001")
    call(url, token("zhangyi", TokenScope.COUNTS), "query_study", aggregate="count")
    noted = {(row.actor, row.login, row.record_id, row.door) for row in Read.objects.all()}
    assert {(login, record, door) for _actor, login, record, door in noted} == {
        ("wanghushi", "P001", "mcp"),
        ("zhangyi", "", "mcp"),
    }
    Read.objects.update(at=now() - timedelta(hours=3))
    assert reads.write() == 2
    assert AuditEntry.objects.filter(action="record.read").count() == 2


def test_a_loop_is_slowed_down(study: Study, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engines.mcp_server.server.A_MINUTE", 2)
    cache.clear()
    key = token("zhangyi")
    for _ in range(2):
        assert not call(url, key, "query_study", aggregate="count").is_error
    told = call(url, key, "query_study", aggregate="count")
    assert told.is_error
    assert told.data is None
