"""What the client sends: exports only, arrays, JSON, the token and nothing that shows it."""

from __future__ import annotations

import logging
import pickle
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.integrations.redcap import (
    RedcapClient,
    RedcapError,
    RedcapPermissionError,
    RedcapUnavailable,
    TokenBucket,
)
from core.integrations.redcap.transport import ALLOWED, Transport
from tests.hospital import FULL, NO_EXPORT, Hospital, canned, open_hospital

SECRET = "0123456789ABCDEF0123456789ABCDEF"


@pytest.fixture
def hospital(tmp_path: Path) -> Iterator[Hospital]:
    with open_hospital(tmp_path) as opened:
        yield opened


def client(url: str, token: str = FULL) -> RedcapClient:
    return RedcapClient(url, token, limiter=TokenBucket(1000, 1000), sleep=lambda _: None)


def everything(redcap: RedcapClient) -> None:
    redcap.project(), redcap.metadata(), redcap.events(), redcap.instruments()
    redcap.form_event_mapping(), redcap.repeating(), redcap.export_field_names(), redcap.dags()
    redcap.records(), redcap.records(["7"], fields=["sex"]), redcap.log()
    redcap.version()


def test_only_exports_are_ever_sent(hospital: Hospital) -> None:
    everything(client(hospital.redcap_url))

    for form in hospital.forms():
        assert form["content"] in ALLOWED
        assert form.get("action", "export") == "export"
        assert form["format"] == form["returnFormat"] == "json"
        assert "data" not in form
    assert {form["content"] for form in hospital.forms()} == set(ALLOWED)


@pytest.mark.parametrize(
    ("content", "params"),
    [
        ("user", {}),
        ("generateNextRecordName", {}),
        ("file", {}),
        ("Record", {}),
        ("record", {"action": "import"}),
        ("record", {"action": "delete"}),
        ("record", {"token": "x"}),
        ("record", {"format": "csv"}),
        ("project", {"content": "record"}),
    ],
)
def test_nothing_else_can_be_asked(
    hospital: Hospital, content: str, params: dict[str, Any]
) -> None:
    transport = Transport(hospital.redcap_url, FULL, TokenBucket(1000, 1000))

    with pytest.raises(ValueError, match=r"not among|set by the client"):
        transport.ask_json(content, params)
    assert not hospital.forms()


def test_lists_are_sent_as_arrays(hospital: Hospital) -> None:
    client(hospital.redcap_url).records(["7", "P001"], fields=["sex"])

    form = hospital.forms("record")[0]
    assert (form["records[0]"], form["records[1]"]) == ("7", "P001")
    assert (form["fields[0]"], form["fields[1]"]) == ("record_id", "sex")
    assert not {"records", "fields"} & form.keys()


def test_site_and_form_status_are_always_asked_for(hospital: Hospital) -> None:
    client(hospital.redcap_url).records(["7"])

    form = hospital.forms("record")[0]
    assert form["exportDataAccessGroups"] == "true"
    assert form["exportBlankForGrayFormStatus"] == "true"
    assert (form["type"], form["rawOrLabel"]) == ("flat", "raw")


@pytest.mark.parametrize("url", ["https://x/redcap", "ftp://x/api/", "x/api/", "", "https://x/api"])
def test_an_address_that_is_no_api_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="api"):
        RedcapClient(url, FULL)


def test_a_wrong_token_is_not_tried_again(hospital: Hospital) -> None:
    with pytest.raises(RedcapPermissionError) as refused:
        client(hospital.redcap_url, SECRET).project()

    assert refused.value.status == 403
    assert refused.value.text == "You do not have permissions to use the API"
    assert len(hospital.forms()) == 1


def test_a_token_without_export_right_is_told_apart_from_an_empty_study(
    hospital: Hospital,
) -> None:
    with pytest.raises(RedcapPermissionError):
        client(hospital.redcap_url, NO_EXPORT).records(["7"])


def failures(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


@pytest.mark.parametrize("kind", ["refused", "error", "gateway"])
def test_the_token_shows_nowhere(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    text = f'{{"error":"bad request token={SECRET}"}}'.encode()
    status = {"refused": 403, "error": 400, "gateway": 502}[kind]

    with canned(lambda _: (status, text)) as url, pytest.raises(RedcapError) as caught:
        client(url, SECRET).project()

    seen = [caplog.text, caught.value.text, repr(client("https://x/api/", SECRET))]
    for error in failures(caught.value):
        lines = traceback.TracebackException.from_exception(error, capture_locals=True).format()
        seen += [str(error), repr(error), *lines, repr(vars(error)), repr(pickle.dumps(str(error)))]
    mine = [line for line in seen if "test_redcap_requests" not in line]
    assert not [line for line in mine if SECRET in line]


def test_a_lost_connection_does_not_carry_the_request_along(hospital: Hospital) -> None:
    hospital.fault("reset", times=3)

    with pytest.raises(RedcapUnavailable) as caught:
        client(hospital.redcap_url, SECRET).project()

    assert list(failures(caught.value)) == [caught.value]
    assert not hasattr(caught.value, "request")
