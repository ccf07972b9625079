"""A body is bounded by its route before anything of it is read, whoever sends it."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.handlers.wsgi import WSGIHandler
from django.test import Client

from core.house.middleware import body_limit
from study.protocol import uploads
from tests.support.addresses import addresses

pytestmark = pytest.mark.django_db
MULTIPART = "multipart/form-data; boundary=x"
MIB = 1_048_576


class Endless(BytesIO):
    """A body that goes on for ever, and counts what is taken of it."""

    taken = 0

    def read(self, size: int | None = -1) -> bytes:
        assert size is not None
        assert size >= 0, "all of it was asked for"
        self.taken += size
        return b"a" * size

    readline = read  # type: ignore[assignment]


def send(path: str, body: BytesIO, **environ: Any) -> tuple[int, bytes]:
    """To our WSGI application, as the server gives it."""
    statuses: list[str] = []
    given = {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": path,
        "QUERY_STRING": "",
        "CONTENT_TYPE": MULTIPART,
        "HTTP_COOKIE": f"csrftoken={'a' * 32}",
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "wsgi.url_scheme": "http",
        "wsgi.input": body,
        "wsgi.errors": BytesIO(),
    } | environ
    answer = WSGIHandler()(given, lambda said, _headers, *_more: statuses.append(said))
    content = b"".join(answer)
    return int(statuses[0].split()[0]), content


DOORS = [
    "/admin/login/",
    "/i18n/setlang/",
    "/admin/",
    "/no-such-page/",
    "/wechat/callback/",
    "/wechat/aibot/",
    "/redcap/det/guess/",
    "/api/v1/chat/",
    "/api/v1/skills/import/",
    "/admin/skills/skill/import/",
    "/healthz",
]


@pytest.mark.parametrize("path", DOORS)
@pytest.mark.parametrize("length", ["419430400", "9" * 5000])
def test_nothing_of_a_large_body_is_read(path: str, length: str) -> None:
    body = Endless()
    status, _content = send(path, body, CONTENT_LENGTH=length)
    assert (status, body.taken) == (413, 0)


@pytest.mark.parametrize("path", DOORS)
def test_of_a_body_without_a_length_no_more_than_the_limit_is_read(path: str) -> None:
    body = Endless()
    status, _content = send(path, body, **{"wsgi.input_terminated": True})
    assert (status, body.taken) == (413, body_limit(path) + 1)


@pytest.mark.parametrize("length", ["-1", "1e9", "٣", "12 34"])
def test_a_length_that_is_none_is_refused(length: str) -> None:
    body = Endless()
    assert send("/admin/login/", body, CONTENT_LENGTH=length)[0] == 400
    assert body.taken == 0


def test_programs_and_people_get_the_refusal_that_they_read(client: Client) -> None:
    length = {"CONTENT_LENGTH": str(400 * MIB)}
    assert send("/redcap/det/guess/", Endless(), **length)[1] == b""
    assert b'"code": "too_large"' in send("/api/v1/chat/", Endless(), **length)[1]
    assert send("/admin/login/", Endless(), **length)[1].decode()


def test_a_body_without_a_length_is_read_as_one_with(client: Client) -> None:
    form = b"username=admin&password=x"
    kind = {"CONTENT_TYPE": "application/x-www-form-urlencoded"}
    chunked = send("/admin/login/", BytesIO(form), **kind, **{"wsgi.input_terminated": True})
    whole = send("/admin/login/", BytesIO(form), **kind, CONTENT_LENGTH=str(len(form)))
    assert chunked[0] == whole[0]


def test_what_takes_files_is_listed_with_its_limit_and_nothing_else() -> None:
    larger = {
        one.path
        for one in addresses()
        if body_limit(one.path) > settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    }
    listed = {one for one in settings.BODY_LIMITS if one.startswith(("/admin/", "/api/"))}
    assert all(any(path.startswith(one) for path in larger) for one in listed)
    assert {one for one in larger if not any(one.startswith(start) for start in listed)} == set()
    *others, largest = sorted((most, path) for path, most in settings.BODY_LIMITS.items())
    assert largest == (31 * MIB, "/admin/study/protocoldocument/upload/")
    assert largest[0] > uploads.MAX_FILE
    assert max(others)[0] <= 8 * MIB


@pytest.mark.parametrize(
    ("name", "status"),
    [("", 413), ("nobody", 413), ("of_staff", 403)],
    ids=["stranger", "no staff", "staff"],
)
def test_of_a_large_form_only_the_staff_s_is_read(name: str, status: int) -> None:
    """Before it is known whether its token holds: reading it for that would already keep all of it."""
    client = Client(enforce_csrf_checks=True)
    if name:
        user = User.objects.create_user(name, is_staff=name == "of_staff")
        client.force_login(user, "django.contrib.auth.backends.ModelBackend")
    client.cookies["csrftoken"] = "a" * 32
    head = b"--x\r\nContent-Disposition: form-data; name=f; filename=f\r\n\r\n"
    body = BytesIO(head + b"x" * 2 * MIB + b"\r\n--x--\r\n")
    length = str(len(body.getvalue()))
    given: Any = {"wsgi.input": body, "CONTENT_LENGTH": length, "CONTENT_TYPE": MULTIPART}
    path = "/admin/study/protocoldocument/upload/"
    answer = client.generic("POST", path, **given)
    assert (answer.status_code, body.tell() > 0) == (status, status != 413)


def test_a_refusal_says_how_much_is_taken(client: Client) -> None:
    said = send("/admin/study/protocoldocument/upload/", Endless(), CONTENT_LENGTH=str(40 * MIB))
    assert said[0] == 413
    assert "31 MB" in said[1].decode()


def test_a_document_that_is_a_little_too_long_is_refused_where_it_was_chosen(
    admin_client: Client,
) -> None:
    file = SimpleUploadedFile("protocol.md", b"x" * (MIB + 1))
    answer = admin_client.post("/admin/study/protocoldocument/add/", {"file": file})
    assert answer.status_code == 200
    assert 'name="file"' in answer.content.decode()


def test_no_upload_is_written_to_the_disk(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_given: Any, **_named: Any) -> None:
        raise AssertionError("a file on the disk")

    monkeypatch.setattr("django.core.files.uploadhandler.TemporaryUploadedFile", refuse)
    most: Callable[[str], int] = body_limit
    for path in ("/admin/skills/skill/import/", "/admin/skills/qualityrule/upload/"):
        file = SimpleUploadedFile("f.json", b"x" * (most(path) - 4096))
        assert admin_client.post(path, {"file": file}).status_code < 500
