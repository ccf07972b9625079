"""One access token for all processes, one refresh at a time (reference/wecom.md 3.1; O3-O5)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
import time_machine
from django.db import connection
from django.utils.timezone import now

from core.integrations.wecom import Kind, SendError, Token, TokenRefused
from tests.wecom_standin import GETTOKEN, WecomSim, text
from wechat.models import AccessToken
from wechat.outbound import gateway
from wechat.outbound.tokens import DatabaseTokens, key_of

pytestmark = pytest.mark.database


class Fetches:
    """Counts how often WeCom is asked."""

    def __init__(self, *answers: Token | SendError) -> None:
        self.answers = list(answers)
        self.count = 0

    def __call__(self) -> Token:
        self.count += 1
        answer = self.answers.pop(0)
        if isinstance(answer, SendError):
            raise TokenRefused(answer)
        return answer


def store() -> DatabaseTokens:
    return DatabaseTokens("corp:1:x", sleep=lambda seconds: None)


def travel(seconds: float) -> time_machine.travel:
    return time_machine.travel(now() + timedelta(seconds=seconds), tick=False)


@pytest.mark.django_db
def test_a_token_is_kept_until_five_minutes_before_its_end() -> None:
    fetch = Fetches(Token("T1", 7200), Token("T2", 7200))
    assert store().get(fetch) == "T1"
    with travel(6890):
        assert store().get(fetch) == "T1"
    with travel(6910):
        assert store().get(fetch) == "T2"
    assert fetch.count == 2


@pytest.mark.django_db
def test_a_short_lived_token_is_used_for_half_its_life() -> None:
    fetch = Fetches(Token("T1", 60), Token("T2", 60))
    assert [store().get(fetch), store().get(fetch)] == ["T1", "T1"]
    with travel(31):
        assert store().get(fetch) == "T2"


@pytest.mark.django_db
def test_a_stale_token_is_fetched_anew_unless_somebody_has_done_so() -> None:
    fetch = Fetches(Token("T1", 7200), Token("T2", 7200))
    store().get(fetch)
    assert store().get(fetch, stale="T1") == "T2"
    assert store().get(fetch, stale="T1") == "T2"
    assert fetch.count == 2


@pytest.mark.django_db
def test_the_same_token_again_ends_the_search() -> None:
    """WeCom may return the token it has just refused (3.1)."""
    fetch = Fetches(Token("T1", 7200), Token("T1", 7200))
    store().get(fetch)
    assert store().get(fetch, stale="T1") == "T1"


@pytest.mark.django_db
def test_a_refused_secret_opens_the_circuit() -> None:
    fetch = Fetches(SendError(Kind.ALERT, 40001, "no", 1200.0), Token("T1", 7200))
    for _ in range(3):
        with pytest.raises(TokenRefused) as raised:
            store().get(fetch)
    assert fetch.count == 1
    assert raised.value.error.kind is Kind.ALERT
    assert 0 < raised.value.error.wait_s <= 1200
    with travel(1201):
        assert store().get(fetch) == "T1"


@pytest.mark.django_db
def test_a_passing_failure_does_not_open_it() -> None:
    fetch = Fetches(SendError(Kind.RETRY, -1), Token("T1", 7200))
    with pytest.raises(TokenRefused):
        store().get(fetch)
    assert store().get(fetch) == "T1"


@pytest.mark.full
@pytest.mark.django_db
def test_who_waits_too_long_for_another_process_tries_later() -> None:
    store().get(Fetches(Token("T1", 7200)))
    AccessToken.objects.update(refresh_until=now() + timedelta(seconds=20), expires_at=now())
    fetch = Fetches()
    with pytest.raises(TokenRefused) as raised:
        store().get(fetch)
    assert raised.value.error.kind is Kind.RETRY


@pytest.mark.django_db
def test_a_process_that_died_while_fetching_is_replaced() -> None:
    store().get(Fetches(Token("T1", 7200)))
    AccessToken.objects.update(refresh_until=now() + timedelta(seconds=20), expires_at=now())
    with travel(21):
        assert store().get(Fetches(Token("T2", 7200))) == "T2"


@pytest.mark.django_db
def test_the_token_is_encrypted_at_rest() -> None:
    store().get(Fetches(Token("secret-token", 7200)))
    with connection.cursor() as cursor:
        cursor.execute("SELECT token FROM iit_wechat_tokens")
        assert "secret-token" not in cursor.fetchone()[0]


def test_a_corrected_secret_starts_afresh() -> None:
    keys = {key_of("c", 1, "old"), key_of("c", 1, "new"), key_of("c", 2, "new")}
    assert len(keys) == 3
    assert not any("new" in key for key in keys)


@pytest.mark.full
@pytest.mark.django_db(transaction=True)
def test_twenty_cold_workers_make_one_call(wecom: WecomSim) -> None:
    """O4."""
    wecom.fault(GETTOKEN, "delay", 0.2)

    def send(number: int) -> object:
        try:
            return gateway.client().send(text(content=str(number)))
        finally:
            connection.close()

    with ThreadPoolExecutor(20) as pool:
        results = list(pool.map(send, range(20)))
    assert not [result for result in results if isinstance(result, SendError)]
    assert len(wecom.calls(GETTOKEN)) == 1
    assert len(wecom.delivered()) == 20
