"""Without DEBUG the house refuses to start on demo or missing values (contracts.md; design.md 2)."""

from __future__ import annotations

import base64
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from projects.checks import CALLBACK, REQUIRED

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.slow
KEY = base64.b64encode(b"k" * 32).decode()
REAL = {
    "DEBUG": "0",
    "SECRET_KEY": "x9" * 30,
    "FIELD_ENCRYPTION_KEYS": KEY,
    "ALLOWED_HOSTS": "iit.example.org",
    "PUBLIC_URL": "https://iit.example.org",
    "TRUSTED_PROXIES": "127.0.0.1",
    "WECOM_CORP_ID": "ww1234567890abcdef",
    "WECOM_AGENT_ID": "1000009",
    "WECOM_SECRET": "s" * 43,
    "WECOM_TOKEN": "realToken",
    "WECOM_AES_KEY": base64.b64encode(b"a" * 32).decode().rstrip("="),
    "LLM_PRESET": "deepseek-v3",
    "LLM_BASE_URL": "https://llm.example.org/v1",
    "LLM_API_KEY": "sk-real",
    "LLM_MODEL": "deepseek-chat",
    "DATABASE_URL": "",
    "REDIS_URL": "",
}


def run(var: Path, *command: str, **values: str) -> subprocess.CompletedProcess[str]:
    """A command in an environment of its own; blank values beat those of `.env`."""
    return subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "VAR_DIR": str(var), **REAL, **values},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def check(var: Path, **values: str) -> subprocess.CompletedProcess[str]:
    return run(var, "manage.py", "check", **values)


def test_real_values_pass_with_a_word_on_the_embedded_mode(tmp_path: Path) -> None:
    done = check(tmp_path)
    assert done.returncode == 0, done.stderr
    assert "iit.W001" in done.stderr
    assert "at most three writing processes" in done.stderr


@pytest.mark.smoke
def test_every_missing_value_is_an_error_with_a_hint(tmp_path: Path) -> None:
    done = check(tmp_path, **dict.fromkeys((*REQUIRED, *CALLBACK), ""))
    assert done.returncode == 1
    for name in (*REQUIRED, *CALLBACK):
        assert f"(iit.E002) {name} is not set" in done.stderr
    assert ".env.example" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["SECRET_KEY", "LLM_API_KEY"])
def test_one_missing_value_is_enough(tmp_path: Path, name: str) -> None:
    done = check(tmp_path, **{name: ""})
    assert done.returncode == 1
    assert done.stderr.count("iit.E002") == 1
    assert f"{name} is not set" in done.stderr


def test_every_value_of_the_demo_is_an_error(tmp_path: Path) -> None:
    demo = settings.DEMO_VALUES
    done = check(tmp_path, **demo)
    assert done.returncode == 1
    for name, value in demo.items():
        assert f"(iit.E004) {name} has the value of the demo" in done.stderr
        assert value not in done.stderr
    assert done.stderr.count("iit.E004") == len(demo)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("SECRET_KEY", "tooweak", "iit.E003"),
        ("FIELD_ENCRYPTION_KEYS", "", "iit.E001"),
        ("FIELD_ENCRYPTION_KEYS", f"{KEY},c2hvcnQ=", "iit.E001"),
    ],
)
def test_weak_keys_are_errors(tmp_path: Path, name: str, value: str, said: str) -> None:
    done = check(tmp_path, **{name: value})
    assert done.returncode == 1
    assert said in done.stderr
    assert not value or value not in done.stderr


def test_with_the_long_connection_nothing_has_to_reach_us(tmp_path: Path) -> None:
    bot = {"WECOM_AIBOT_ID": "aib1", "WECOM_AIBOT_SECRET": "s" * 40}
    done = check(tmp_path, **dict.fromkeys(CALLBACK, ""), **bot)
    assert done.returncode == 0, done.stderr


def test_proxies_that_nobody_named_or_that_are_no_addresses_are_said(tmp_path: Path) -> None:
    blank = check(tmp_path, TRUSTED_PROXIES="")
    assert blank.returncode == 0
    assert "iit.W003" in blank.stderr
    wrong = check(tmp_path, TRUSTED_PROXIES="nginx")
    assert wrong.returncode == 1
    assert "iit.E005" in wrong.stderr


def test_with_debug_the_demo_values_stand_in(tmp_path: Path) -> None:
    blank = {name: "" for name in REQUIRED if name != "SECRET_KEY"}
    done = check(tmp_path, **{**blank, "DEBUG": "1"})
    assert done.returncode == 0, done.stderr


def test_values_from_files_count(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("from-a-file\n", "utf-8")
    assert check(tmp_path, WECOM_SECRET="", WECOM_SECRET_FILE=str(secret)).returncode == 0
    gone = check(tmp_path, WECOM_SECRET_FILE=str(tmp_path / "gone"))
    assert gone.returncode != 0
    assert "WECOM_SECRET_FILE" in gone.stderr


@pytest.mark.parametrize(
    "command",
    [
        ("-m", "gunicorn", "iit_manager.wsgi", "--bind", "127.0.0.1:0"),
        ("-m", "celery", "-A", "iit_manager", "worker", "--pool", "solo"),
        ("-m", "celery", "-A", "iit_manager", "beat", "--pidfile", ""),
    ],
    ids=["web", "worker", "beat"],
)
def test_no_process_starts_without_its_secrets(migrated: Path, command: tuple[str, ...]) -> None:
    done = run(migrated, *command, WECOM_SECRET="")
    assert done.returncode != 0
    assert "WECOM_SECRET is not set" in done.stderr


def test_the_demo_refuses_to_start_in_production(tmp_path: Path) -> None:
    done = run(tmp_path, "-m", "demo.supervisor")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "run.json").exists()
