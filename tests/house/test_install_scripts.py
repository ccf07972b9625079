"""deploy/: the scripts that an image and a server are made by, in an empty folder, to the first answer."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import gunicorn
import pytest
import yaml
from django.core.management import call_command, load_command_class
from django.core.management.base import CommandError
from django.db import OperationalError, connection

from engines.mcp_server import server
from tests.house.kit import until
from tests.house.test_production_start import ROOT, Production, processes

DEPLOY = ROOT / "deploy"


def install(target: Path) -> subprocess.CompletedProcess[str]:
    command = ["sh", str(DEPLOY / "install.sh"), str(target)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    (target / "theirs").touch()
    done = install(target)
    assert done.returncode == 1
    assert "upgrade.md" in done.stderr
    assert [one.name for one in target.iterdir()] == ["theirs"]


def test_units_image_and_compose_file_start_by_the_same_scripts() -> None:
    unit = (DEPLOY / "systemd/iit@.service").read_text("utf-8")
    assert "deploy/start.sh %i" in unit
    assert "deploy/start.sh" in (DEPLOY / "Dockerfile").read_text("utf-8")
    composed = (DEPLOY / "compose.yaml").read_text("utf-8")
    for name in ("web", "worker", "beat"):
        assert name in processes()
        assert f"command: [{name}]" in composed
    refused = subprocess.run(
        ["sh", str(DEPLOY / "start.sh"), "nothing"], capture_output=True, text=True, check=False
    )
    assert refused.returncode == 2


def test_no_process_is_a_script_of_the_environment(tmp_path: Path) -> None:
    """A script names the interpreter by the folder that the environment was made in; it may be moved."""
    made, moved = tmp_path / "house.new", tmp_path / "house"
    (made / "deploy").mkdir(parents=True)
    shutil.copy(DEPLOY / "start.sh", made / "deploy")
    shutil.copy(ROOT / "Procfile", made)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", made / ".venv"], check=True)
    (site,) = made.glob(".venv/lib/python*/site-packages")
    (site / "packages.pth").write_text(f"{Path(gunicorn.__file__).parents[1]}\n", "utf-8")
    for name in ("gunicorn", "celery"):
        script = made / ".venv/bin" / name
        script.write_text(f"#!{made}/.venv/bin/python\nfrom {name}.__main__ import *\n", "utf-8")
        script.chmod(0o755)
    (made / "manage.py").write_text("print('manage')\n", "utf-8")
    made.rename(moved)
    for name in (*processes(), "mcp"):
        command = ["sh", str(moved / "deploy/start.sh"), name]
        env = {"PATH": "/usr/bin:/bin", "WEB_CONCURRENCY": "1 --version"}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
        told = done.stdout + done.stderr
        assert done.returncode not in (126, 127), told
        assert re.search("gunicorn|celery|manage|iit_manager", told), told


def test_the_requests_of_the_hosts_proxy_come_from_a_known_gateway() -> None:
    composed = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
    (network,) = composed["networks"]["default"]["ipam"]["config"]
    assert ip_address(network["gateway"]) in ip_network(network["subnet"])
    said = f"TRUSTED_PROXIES={network['gateway']}"
    for name in (
        "deploy/compose.yaml",
        "docs/operating/install.md",
        "docs/operating/install.zh.md",
    ):
        assert said in (ROOT / name).read_text("utf-8"), name


def test_what_is_optional_is_a_service_under_a_profile() -> None:
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))["services"]
    optional = {name: one["profiles"] for name, one in services.items() if "profiles" in one}
    assert optional == {"socket": ["socket"], "mcp": ["mcp"], "tool": ["tool"]}
    _python, script, *told = services["mcp"]["entrypoint"]
    parser = load_command_class("engines", told[0]).create_parser(script, told[0])
    assert parser.parse_args(told[1:]).host == "0.0.0.0"


def test_in_containers_a_restore_meets_the_database_as_it_is() -> None:
    """What migrates it first leaves none that is empty, and stops at one whose restore was not finished."""
    composed = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
    services = composed["services"]
    needed, seen = ["tool"], set[str]()
    while needed:
        name = needed.pop()
        seen.add(name)
        needed += [one for one in services[name].get("depends_on", {}) if one not in seen]
    assert seen == {"tool", "postgres", "redis"}
    assert services["tool"]["entrypoint"] == ["/app/.venv/bin/python", "manage.py"]
    for name in ("backup.md", "backup.zh.md"):
        told = (ROOT / "docs/operating" / name).read_text("utf-8")
        assert "compose.yaml run --rm" in told, name
        assert " tool " in told, name
    for secret in composed["secrets"].values():
        file = f"deploy/{Path(secret['file']).name}"
        for name in ("install.md", "install.zh.md"):
            assert file in (ROOT / "docs/operating" / name).read_text("utf-8"), (name, file)


@pytest.mark.slow
def test_a_start_waits_for_a_database_that_comes_later(tmp_path: Path) -> None:
    """Only the wait runs; of the other commands the order is seen."""
    house, later = tmp_path / "house", tmp_path / "later"
    for folder in ("deploy", ".venv/bin"):
        (house / folder).mkdir(parents=True)
    shutil.copy(DEPLOY / "prepare.sh", house / "deploy")
    python = house / ".venv/bin/python"
    python.write_text(
        f'#!/bin/sh\n[ "$2" = await_database ] || exec echo "$2"\n'
        f'exec {sys.executable} {ROOT}/manage.py "$2"\n',
        "utf-8",
    )
    python.chmod(0o755)
    own = {"VAR_DIR": str(tmp_path), "DATABASE_URL": f"sqlite://{later}/iit.sqlite3"}
    command = ["sh", str(house / "deploy/prepare.sh")]
    with subprocess.Popen(
        command,
        env=os.environ | own,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr
        assert "Waiting for the database" in process.stderr.readline()
        later.mkdir()
        out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert out.split() == ["check", "migrate", "createcachetable", "collectstatic"]


def test_a_database_that_does_not_come_ends_the_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: Any) -> None:
        raise OperationalError("no route")

    monkeypatch.setattr(connection, "ensure_connection", away)
    with pytest.raises(CommandError, match="no route"):
        call_command("await_database", "--seconds", "0")


@pytest.mark.parametrize("language", ["", ".zh"])
def test_the_steps_of_an_upgrade_can_be_taken_again_and_back(tmp_path: Path, language: str) -> None:
    told = (ROOT / f"docs/operating/upgrade{language}.md").read_text("utf-8")
    forward, back = re.findall(r"`([^`]*\bmv /opt/iit /[^`]*)`", told)

    def move(command: str) -> None:
        subprocess.run(["sh", "-ec", command.replace("/opt", str(tmp_path))], check=True)

    def version(folder: str) -> str:
        return (tmp_path / folder / "version").read_text("utf-8")

    def lay(folder: str, number: int) -> None:
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "version").write_text(str(number), "utf-8")

    lay("iit", 0)
    for number in (1, 2):
        lay("iit.new", number)
        move(forward)
        assert (version("iit"), version("iit.old")) == (str(number), str(number - 1))
    move(back)
    assert version("iit") == "1"
    # A unit that is active already does nothing when a process wants it: the older static files need a restart.
    assert told.index("restore --replace") < told.rindex("systemctl restart iit-prepare")


@pytest.mark.parametrize("language", ["", ".zh"])
def test_an_archive_of_the_next_hour_has_another_name(language: str) -> None:
    for page in ("backup", "upgrade"):
        told = (ROOT / f"docs/operating/{page}{language}.md").read_text("utf-8")
        names = re.findall(r"iit backup /backup/[a-z]+-(\$\(.*?\))\.tar\.gz", told)
        assert names == ["$(date +%FT%H%M)"], page


@pytest.mark.parametrize("language", ["", ".zh"])
def test_the_documented_proxy_passes_on_to_the_mcp_server(language: str) -> None:
    told = (ROOT / f"docs/operating/proxy{language}.md").read_text("utf-8")
    (block,) = re.findall(rf"location = {server.PATH} {{(.*?)}}", told, re.DOTALL)
    assert "proxy_pass http://127.0.0.1:8010;" in block
    assert "X-Forwarded-For $remote_addr;" in block


@pytest.mark.parametrize("name", [".gitignore", ".dockerignore", "deploy/install.sh"])
def test_settings_and_secrets_of_a_checkout_go_nowhere(name: str) -> None:
    told = (ROOT / name).read_text("utf-8")
    assert "deploy/iit.env" in told
    assert "deploy/*.secret" in told


@pytest.fixture
def installed(tmp_path: Path) -> Iterator[Production]:
    """Made in one folder and moved to another, as an upgrade does."""
    root = tmp_path / "house"
    done = install(tmp_path / "house.new")
    assert done.returncode == 0, done.stdout + done.stderr
    (tmp_path / "house.new").rename(root)
    assert not (root / "tests").exists()
    var = tmp_path / "state"
    var.mkdir()
    made = Production(var, {"DATABASE_URL": "", "REDIS_URL": "", "PATH": ""}, root)
    try:
        yield made
    finally:
        made.stop()


@pytest.mark.slow
@pytest.mark.full
@pytest.mark.xdist_group("make-run")
def test_an_empty_folder_comes_to_the_first_answer(installed: Production) -> None:
    installed.prepare(["sh deploy/prepare.sh", ".venv/bin/python manage.py createsuperuser"])
    installed.stand_ins()
    run = installed.seed()
    for name in ("web", "worker", "beat"):
        installed.start(name, f"sh deploy/start.sh {name}")
    until(installed.is_ready, limit_s=180)
    person = installed.browser(run["logins"]["wanghushi"]["token"])
    answer = person.post("/api/v1/chat/", json={"text": "P001 入组了吗?", "project": "LUNG-IIT"})
    until(lambda: "P001" in person.get(_where(answer.json())).text, limit_s=120)
    for name in ("web", "worker", "beat"):
        assert installed.end(name) == 0, installed.log(name)


def _where(answer: dict[str, str]) -> str:
    return f"/api/v1/chat/{answer['conversation_id']}/"
