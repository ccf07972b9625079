"""The hook of REDCap takes what anybody may send it (contracts.md, HTTP; redcap_dify.md 1.10)."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.api.conftest import House
from tests.support.tasks import drain

pytestmark = pytest.mark.django_db(transaction=True)
FORM = "application/x-www-form-urlencoded"
CHANGED = "engines.tasks.read_changed"


def url(house: House) -> str:
    return f"/redcap/det/{house.alpha.redcap_det_secret}/"


@pytest.mark.full
@pytest.mark.parametrize("slash", ["/", ""])
def test_a_change_is_passed_on_and_answered_with_nothing(slash: str, house: House) -> None:
    address = url(house).rstrip("/") + slash
    answer = Client().post(address, "record=A1&project_id=9", content_type=FORM)
    assert (answer.status_code, answer.content) == (200, b"")
    assert drain()[:1] == [CHANGED]


@pytest.mark.full
@pytest.mark.parametrize("record", ["", "A%00", "A%0A1", "x" * 101])
def test_what_is_no_subjects_number_starts_nothing(record: str, house: House) -> None:
    answer = Client().post(url(house), f"record={record}", content_type=FORM)
    assert (answer.status_code, answer.content) == (200, b"")
    assert drain() == []


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        ("record=" + "x" * 3_000_000, FORM, 413),
        ("&".join(f"f{number}=1" for number in range(2000)), FORM, 400),
        ("garbage", "multipart/form-data", 400),
    ],
    ids=range(3),
)
def test_a_form_nobody_can_read_is_refused_without_a_word(
    body: str, kind: str, status: int, house: House, caplog: pytest.LogCaptureFixture
) -> None:
    answer = Client().post(url(house), body, content_type=kind)
    assert (answer.status_code, answer.content) == (status, b"")
    # A body that is too large is refused before the secret is looked at, so it tells nothing of it.
    foreign = Client().post("/redcap/det/wrong/", body, content_type=kind).status_code
    assert foreign == (413 if status == 413 else 404)
    assert not [record for record in caplog.records if record.exc_info]
    assert drain() == []


@pytest.mark.full
@pytest.mark.parametrize("secret", ["wrong/", "wrong", "%00/", "x" * 3000 + "/", "/"])
def test_a_wrong_secret_is_a_404(secret: str, house: House) -> None:
    answer = Client().post(f"/redcap/det/{secret}", {"record": "A1"})
    assert answer.status_code == 404
    assert house.alpha.redcap_det_secret.encode() not in answer.content


@pytest.mark.full
@pytest.mark.parametrize("method", ["get", "put", "patch", "delete", "options"])
def test_it_only_takes_posts(method: str, house: House) -> None:
    assert getattr(Client(), method)(url(house)).status_code == 405
