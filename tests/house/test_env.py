"""Readers of the environment, `.env` and NAME_FILE (contracts.md, Settings from the environment)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from iit_manager import dotenv, env


@pytest.fixture(autouse=True)
def _no_leftovers(monkeypatch: pytest.MonkeyPatch) -> None:
    # load_dotenv writes into os.environ: touched here first, so that it is put back.
    for name in ("A", "A_FILE", "B", "C", "D", "E", "F"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)


@pytest.mark.parametrize("text", ["1", "true", "True", "YES", " on "])
def test_true(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("A", text)
    assert env.envbool("A") is True


@pytest.mark.parametrize("text", ["0", "false", "No", "OFF"])
def test_false(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("A", text)
    assert env.envbool("A", default=True) is False


@pytest.mark.parametrize("text", ["", "   "])
def test_blank_is_the_default(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("A", text)
    assert env.envbool("A", default=True) is True
    assert env.envint("A", 7) == 7


@pytest.mark.parametrize("text", ["2", "ja", "truee", "DEBUG"])
def test_a_typing_error_in_a_switch_is_refused(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("A", text)
    with pytest.raises(ImproperlyConfigured, match="A="):
        env.envbool("A")


@pytest.mark.parametrize("text", ["8000x", "8e3", "8.0", "--1"])
def test_a_typing_error_in_a_number_is_refused(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("A", text)
    with pytest.raises(ImproperlyConfigured, match="whole number"):
        env.envint("A", 1)


@pytest.mark.parametrize(("text", "told"), [("-1", "less than 0"), ("20", "more than 19")])
def test_a_number_outside_of_its_bounds_is_refused(
    monkeypatch: pytest.MonkeyPatch, text: str, told: str
) -> None:
    monkeypatch.setenv("A", text)
    with pytest.raises(ImproperlyConfigured, match=f"A={text} is {told}"):
        env.envint("A", 1, least=0, most=19)


@pytest.mark.full
@pytest.mark.parametrize(
    "text",
    [
        "WECOM_REMIND_HOURS=0",
        "WECOM_MOST_PARTS=0",
        "WECOM_WINDOW_S=0",
        "LLM_TIMEOUT_S=0",
        "WORKER_NICE=20",
    ],
)
def test_a_setting_that_would_stop_a_part_of_the_house_stops_its_start(text: str) -> None:
    name, value = text.split("=")
    code = "from iit_manager import settings"
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[2],
        env={**os.environ, name: value},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 1
    assert f"{text} is" in ran.stderr


def test_lists_are_split_and_trimmed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A", " a , ,b,, c ")
    assert env.envlist("A") == ["a", "b", "c"]
    assert env.envlist("B", "x,y") == ["x", "y"]


def test_a_value_may_come_from_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("  value\n", "utf-8")
    monkeypatch.setenv("A_FILE", str(secret))
    assert env.envstr("A", "default") == "value"
    secret.write_text("8123\n", "utf-8")
    assert env.envint("A", 1) == 8123
    secret.write_text("k1,k2\n", "utf-8")
    assert env.envlist("A") == ["k1", "k2"]


def test_a_secret_file_that_is_gone_is_no_default(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("A_FILE", str(tmp_path / "absent"))
    with pytest.raises(ImproperlyConfigured, match="A_FILE"):
        env.envstr("A", "default")


def test_dotenv_fills_what_the_environment_does_not_say(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("A", "environment")
    monkeypatch.setenv("B", "")
    file = tmp_path / ".env"
    file.write_text(
        "# A=no\nA=file\nB=file\n\nC = spaced \nD=\"quoted\"\nE=x='y'\nnonsense\nF='don't'\n",
        "utf-8",
    )
    env.load_dotenv(file)
    assert [env.envstr(name) for name in "ABCDEF"] == [
        "environment",
        "",
        "spaced",
        "quoted",
        "x='y'",
        "don't",
    ]


def test_the_environment_beats_a_file_reference_of_dotenv(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("from the file", "utf-8")
    (tmp_path / ".env").write_text(f"A_FILE={tmp_path / 'secret'}\n", "utf-8")
    monkeypatch.setenv("A", "environment")
    env.load_dotenv(tmp_path / ".env")
    assert env.envstr("A") == "environment"


def test_dotenv_may_refer_to_files(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("from the file", "utf-8")
    (tmp_path / ".env").write_text(f"A_FILE={tmp_path / 'secret'}\n", "utf-8")
    env.load_dotenv(tmp_path / ".env")
    assert env.envstr("A") == "from the file"


def test_no_dotenv_is_no_error(tmp_path: Path) -> None:
    env.load_dotenv(tmp_path / "absent")


def test_blank_database_url_is_sqlite_in_var(tmp_path: Path) -> None:
    found = env.database("", tmp_path)
    assert found["ENGINE"] == "django.db.backends.sqlite3"
    assert found["NAME"] == tmp_path / "iit.sqlite3"
    assert env.database(f"sqlite://{tmp_path}/x%20y.db", tmp_path)["NAME"] == tmp_path / "x y.db"


@pytest.mark.parametrize("scheme", ["postgres", "postgresql"])
def test_postgresql_url(tmp_path: Path, scheme: str) -> None:
    url = f"{scheme}://iit%40h:p%2Fw%3A1@db.example:5433/my%20db?sslmode=require&search_path=iit_schema"
    found = env.database(url, tmp_path)
    assert found["ENGINE"] == "django.db.backends.postgresql"
    assert (found["USER"], found["PASSWORD"]) == ("iit@h", "p/w:1")
    assert (found["HOST"], found["PORT"], found["NAME"]) == ("db.example", "5433", "my db")
    assert found["OPTIONS"] == {"sslmode": "require", "options": "-c search_path=iit_schema"}


@pytest.mark.parametrize("url", ["mysql://h/db", "h/db", "postgres+x://h/db"])
def test_other_databases_are_refused(tmp_path: Path, url: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="DATABASE_URL"):
        env.database(url, tmp_path)


def test_install_writes_a_private_dotenv_with_generated_secrets(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    assert dotenv.write(first)
    assert dotenv.write(second)
    assert first.stat().st_mode & 0o777 == 0o600
    values = dict(line.split("=", 1) for line in first.read_text("utf-8").splitlines())
    assert values.keys() == {"DEBUG", "SECRET_KEY", "FIELD_ENCRYPTION_KEYS"}
    assert len(values["SECRET_KEY"]) >= 50
    assert values["SECRET_KEY"] not in second.read_text("utf-8")
    assert values["FIELD_ENCRYPTION_KEYS"] not in second.read_text("utf-8")


def test_an_existing_dotenv_is_never_touched(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    path.write_text("SECRET_KEY=mine\n", "utf-8")
    assert not dotenv.write(path)
    assert path.read_text("utf-8") == "SECRET_KEY=mine\n"
