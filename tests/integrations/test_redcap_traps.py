"""What is no data never becomes data: the traps of reference/redcap_dify.md 1.2, 1.8 and 2.1."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.integrations.redcap import (
    ExportShape,
    RedcapClient,
    RedcapError,
    RedcapPermissionError,
    RedcapProtocolError,
    RedcapUnavailable,
    TokenBucket,
)
from tests.hospital import FULL, Canned, Hospital, canned, open_hospital

HTML = "<!DOCTYPE html><html><body>502 Bad Gateway</body></html>"
MEMORY = (
    '{"error":"REDCap ran out of server memory. The request cannot be processed. '
    'Please try importing/exporting a smaller amount of data."}'
)
SHAPE = ExportShape(
    metadata=[
        {"field_name": "record_id", "form_name": "demo"},
        {"field_name": "sex", "form_name": "demo"},
        {"field_name": "note", "form_name": "demo"},
    ],
    export_field_names=[
        {"original_field_name": name, "choice_value": "", "export_field_name": name}
        for name in ("record_id", "sex", "note", "demo_complete")
    ],
    longitudinal=False,
)


@pytest.fixture
def hospital(tmp_path: Path) -> Iterator[Hospital]:
    with open_hospital(tmp_path) as opened:
        yield opened


def client(url: str, waits: list[float] | None = None, shape: ExportShape = SHAPE) -> RedcapClient:
    sleep = (waits if waits is not None else []).append
    return RedcapClient(url, FULL, limiter=TokenBucket(1000, 1000), shape=shape, sleep=sleep)


def read(*answers: Canned, waits: list[float] | None = None) -> tuple[Any, int]:
    """Answers in turn, the last one for good -> (rows read, requests made)."""
    left, asked = list(answers), []

    def answer(form: dict[str, str]) -> Canned:
        asked.append(form)
        return left.pop(0) if len(left) > 1 else left[0]

    with canned(answer) as url:
        try:
            return client(url, waits).records(["1"]).rows, len(asked)
        except RedcapError as error:
            return error, len(asked)


def body(*rows: Any) -> bytes:
    return json.dumps(list(rows)).encode()


ROW = {"record_id": "1", "sex": "2", "note": "", "demo_complete": "2"}


@pytest.mark.parametrize(
    "text",
    [
        HTML,
        f"<b>Fatal error</b><br/>{MEMORY}",
        "",
        " ",
        "\n",
        json.dumps([ROW])[:-9],
        "record_id,sex\n1,2",
        "ERROR: something",
        "null",
        "7",
        '"[]"',
        "true",
        "{}",
        '{"0": {"record_id": "1"}}',
        '["1"]',
        "[[]]",
        "[null]",
        '[{"record_id": "1", "sex": NaN, "note": "", "demo_complete": ""}]',
        '[{"sex": "1"}]',
        json.dumps([{**ROW, "sex": None}]),
        json.dumps([{**ROW, "sex": True}]),
        json.dumps([{**ROW, "sex": ["1"]}]),
        json.dumps([{**ROW, "sex": {"a": "1"}}]),
        "[" * 100_000,
    ],
)
def test_with_status_200(text: str) -> None:
    found, asked = read((200, text.encode()))

    assert isinstance(found, RedcapProtocolError)
    assert asked == 1


def test_undecodable_bytes() -> None:
    assert isinstance(read((200, b'[{"record_id": "\xff"}]'))[0], RedcapProtocolError)


def test_an_error_with_status_200() -> None:
    found, asked = read((200, MEMORY.encode()))

    assert type(found) is RedcapError
    assert (found.status, asked) == (200, 1)
    assert "smaller amount" in found.text
    assert "smaller amount" not in str(found)


def test_an_empty_error_is_still_an_error() -> None:
    assert type(read((200, b'{"error": ""}'))[0]) is RedcapError


@pytest.mark.parametrize("status", [408, 500, 502, 503, 504])
@pytest.mark.parametrize("text", ["", HTML, MEMORY, "[]"])
def test_a_passing_failure_is_tried_again(status: int, text: str) -> None:
    waits: list[float] = []

    found, asked = read((status, text.encode()), (status, b""), (200, body(ROW)), waits=waits)

    assert (found, asked) == ((ROW,), 3)
    assert len(waits) == 2
    assert 0 < waits[0] <= 1 <= waits[1] * 2 <= 4


@pytest.mark.parametrize("status", [408, 500, 502, 503, 504])
@pytest.mark.parametrize("text", ["", HTML, MEMORY, "[]", json.dumps([ROW])])
def test_a_lasting_failure_is_no_data(status: int, text: str) -> None:
    found, asked = read((status, text.encode()))

    assert isinstance(found, RedcapUnavailable)
    assert (found.status, asked) == (status, 3)
    assert "<" not in found.text


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 501])
def test_a_refusal_is_not_tried_again(status: int) -> None:
    found, asked = read((status, b'{"error": "no"}'))

    kinds = {403: RedcapPermissionError, 429: RedcapUnavailable}
    assert type(found) is kinds.get(status, RedcapError)
    assert (found.status, found.text, asked) == (status, "no", 1)


@pytest.mark.parametrize("status", [201, 202, 206, 400, 401, 404, 413, 501])
def test_another_status_with_rows_is_no_data(status: int) -> None:
    assert isinstance(read((status, body(ROW)))[0], RedcapProtocolError)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_refused(status: int) -> None:
    """A login page behind a redirect is not REDCap, and the token goes nowhere else."""
    elsewhere: list[dict[str, str]] = []

    def other(form: dict[str, str]) -> Canned:
        elsewhere.append(form)
        return 200, body(ROW)

    with (
        canned(other) as target,
        canned(lambda _: (status, b""), {"Location": target}) as url,
        pytest.raises(RedcapProtocolError),
    ):
        client(url).records(["1"])
    assert elsewhere == []


def test_an_empty_list_is_an_answer() -> None:
    assert read((200, b"[]")) == ((), 1)


def test_a_byte_order_mark_is_no_harm() -> None:
    assert read((200, b"\xef\xbb\xbf" + body(ROW)))[0] == (ROW,)


def test_numbers_become_text_and_instances_integers() -> None:
    shape = ExportShape(SHAPE.metadata, SHAPE.export_field_names, longitudinal=False)
    row = {**ROW, "record_id": 1, "note": 1.5, "redcap_repeat_instance": "2"}

    with canned(lambda _: (200, body(row))) as url:
        (found,) = client(url, shape=shape).records(["1"]).rows

    assert (found["record_id"], found["note"], found["redcap_repeat_instance"]) == ("1", "1.5", 2)


def test_rows_nobody_asked_for_are_dropped() -> None:
    """REDCap 9.5 answered all forms to an unknown one; ids must match to the letter."""
    found, _ = read((200, body(ROW, {**ROW, "record_id": "01"}, {**ROW, "record_id": "2"})))

    assert [row["record_id"] for row in found] == ["1"]


def test_a_column_that_one_row_lacks_is_missing() -> None:
    short = {"record_id": "1", "sex": "2", "demo_complete": ""}
    with canned(lambda _: (200, body(ROW, short))) as url:
        export = client(url).records(["1"])

    assert export.missing_columns == ("note",)


def test_a_longitudinal_row_without_event_is_refused() -> None:
    shape = ExportShape(SHAPE.metadata, SHAPE.export_field_names, longitudinal=True)
    with canned(lambda _: (200, body(ROW))) as url, pytest.raises(RedcapProtocolError):
        client(url, shape=shape).records(["1"])


def test_one_failed_batch_fails_the_whole_read() -> None:
    answers = iter([(200, b"[]"), *[(502, HTML.encode())] * 3])
    ids = [str(n) for n in range(150)]

    with canned(lambda _: next(answers)) as url, pytest.raises(RedcapUnavailable):
        client(url).records(ids)


def test_an_outage_never_means_classic(hospital: Hospital) -> None:
    """PyCap answers False, and keeps it (2.1)."""
    redcap = RedcapClient(
        hospital.redcap_url, FULL, limiter=TokenBucket(1000, 1000), sleep=lambda _: None
    )
    hospital.fault("status", 502, times=3)
    with pytest.raises(RedcapUnavailable):
        redcap.events()

    assert redcap.events()


def test_reset_and_silence_are_tried_again(hospital: Hospital) -> None:
    redcap = RedcapClient(
        hospital.redcap_url, FULL, limiter=TokenBucket(1000, 1000), sleep=lambda _: None
    )
    hospital.fault("reset", times=1)
    hospital.fault("timeout_after", 0, times=1)

    assert redcap.project()["project_id"] == 14
    assert len(hospital.forms("project")) == 3


@pytest.mark.parametrize(
    ("content", "answer"),
    [
        ("project", b"[]"),
        ("project", b"{}"),
        ("project", b'{"is_longitudinal": null, "has_repeating_instruments_or_events": 0}'),
        ("metadata", b"[]"),
        ("metadata", b"[{}]"),
        ("exportFieldNames", b"[{}]"),
        ("instrument", b"{}"),
        ("dag", b'["site_a"]'),
        ("log", b"{}"),
        ("version", HTML.encode()),
        ("version", b""),
    ],
)
def test_every_content_has_its_shape(content: str, answer: bytes) -> None:
    names = {
        "exportFieldNames": "export_field_names",
        "instrument": "instruments",
        "dag": "dags",
    }
    with canned(lambda _: (200, answer)) as url, pytest.raises(RedcapProtocolError):
        getattr(client(url), names.get(content, content))()
