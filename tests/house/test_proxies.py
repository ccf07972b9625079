"""Whom a request comes from: a header counts only from a proxy that the settings name."""

from __future__ import annotations

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import Settings

from core.house.middleware import trust_proxies
from core.house.proxies import (
    client,
    is_named,
    networks,
)
from projects.checks import trusted_proxies
from tests.wechat.callback_kit import Callback, plaintext
from wechat.models import InboxMessage

NAMED = networks(("10.1.0.0/16", "127.0.0.1", "fd00::/8"))


def seen(peer: str, **headers: str) -> HttpRequest:
    """The request as what stands behind the middleware gets it."""
    request = RequestFactory().get("/", REMOTE_ADDR=peer, headers=headers)
    trust_proxies(lambda _request: HttpResponse())(request)
    return request


@pytest.mark.parametrize(
    ("peer", "forwarded", "expected"),
    [
        ("10.1.2.3", "203.0.113.7", "203.0.113.7"),
        ("10.1.2.3", "198.51.100.9, 203.0.113.7", "203.0.113.7"),
        ("127.0.0.1", "203.0.113.7, 10.1.9.9", "203.0.113.7"),
        ("10.1.2.3", "203.0.113.7:51522", "203.0.113.7"),
        ("10.1.2.3", "[2001:db8::7]:443", "2001:db8::7"),
        ("fd00::1", "2001:db8::7", "2001:db8::7"),
        ("::ffff:10.1.2.3", "203.0.113.7", "203.0.113.7"),
        ("10.1.2.3", "", "10.1.2.3"),
        ("10.1.2.3", "203.0.113.7, unknown", "10.1.2.3"),
        ("10.1.2.3", "<script>", "10.1.2.3"),
        ("192.0.2.1", "203.0.113.7", "192.0.2.1"),
        ("10.2.0.1", "203.0.113.7", "10.2.0.1"),
        ("", "203.0.113.7", ""),
    ],
)
def test_the_client_is_the_nearest_that_is_no_named_proxy(
    settings: Settings, peer: str, forwarded: str, expected: str
) -> None:
    settings.TRUSTED_PROXIES = ["10.1.0.0/16", "127.0.0.1", "fd00::/8"]
    request = seen(peer, **{"X-Forwarded-For": forwarded})
    assert request.META["REMOTE_ADDR"] == expected
    assert "X-Forwarded-For" not in request.headers


def asker(peer: str, scheme: str = "https") -> Client:
    """A browser of which a proxy at `peer` says how it was asked."""
    return Client(REMOTE_ADDR=peer, headers={"X-Forwarded-Proto": scheme})


@given(made_up=st.lists(st.ip_addresses().map(str) | st.text(max_size=12)))
def test_whatever_stands_before_it_changes_nothing(made_up: list[str]) -> None:
    assert client("10.1.2.3", [*made_up, "203.0.113.7"], NAMED) == "203.0.113.7"


@given(peer=st.ip_addresses().map(str))
def test_no_other_peer_speaks_for_anybody(peer: str) -> None:
    request = seen(peer, **{"X-Forwarded-Proto": "https"})
    assert is_named(peer, NAMED) or request.META["REMOTE_ADDR"] == peer
    assert not request.is_secure()


def test_https_is_what_a_named_proxy_says(settings: Settings) -> None:
    settings.TRUSTED_PROXIES = ["10.1.2.3"]
    assert seen("10.1.2.3", **{"X-Forwarded-Proto": "https"}).is_secure()
    assert not seen("10.1.2.4", **{"X-Forwarded-Proto": "https"}).is_secure()


@pytest.fixture
def production(settings: Settings) -> None:
    """What DEBUG=0 sets (tests/house/test_production_start.py starts it)."""
    settings.SECURE_SSL_REDIRECT, settings.SECURE_SSL_HOST = True, "iit.example.org"
    settings.SECURE_HSTS_SECONDS = 365 * 86400
    settings.TRUSTED_PROXIES = ["10.1.2.3"]


@pytest.mark.django_db
@pytest.mark.usefixtures("production")
def test_pages_are_https_and_probes_are_plain() -> None:
    plain = Client()
    answer = plain.get("/admin/login/?next=/admin/")
    assert answer.status_code == 301
    assert answer["Location"] == "https://iit.example.org/admin/login/?next=/admin/"
    assert plain.get("/healthz").status_code == 200
    assert plain.get("/readyz").status_code in (200, 503)
    page = asker("10.1.2.3").get("/admin/login/")
    assert page.status_code == 200
    assert page["Strict-Transport-Security"] == "max-age=31536000"
    assert asker("10.1.2.4").get("/admin/login/").status_code == 301


@pytest.mark.django_db
@pytest.mark.usefixtures("production")
@pytest.mark.parametrize("peer", ["10.1.2.3", "10.1.2.4"])
@pytest.mark.parametrize("scheme", ["https", "http"])
def test_callbacks_are_answered_whoever_passes_them_on(peer: str, scheme: str) -> None:
    """Their signature is the authority; a redirect would lose the message."""
    assert Callback(plaintext()).post(asker(peer, scheme)).status_code == 200
    assert InboxMessage.objects.count() == 1


def test_what_is_no_address_is_an_error(settings: Settings) -> None:
    settings.TRUSTED_PROXIES = ["10.1.2.0/24", "nginx"]
    [found] = trusted_proxies()
    assert found.id == "iit.E005"
    assert "nginx" in found.msg


def test_a_production_without_a_named_proxy_is_warned(settings: Settings) -> None:
    settings.DEBUG = False
    settings.TRUSTED_PROXIES = []
    assert [found.id for found in trusted_proxies()] == ["iit.W003"]
    settings.TRUSTED_PROXIES = ["10.1.2.3"]
    assert trusted_proxies() == []
