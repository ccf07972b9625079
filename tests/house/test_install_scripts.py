"""deploy/: the scripts that an image and a server are made by, in an empty folder, to the first answer."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from ipaddress import ip_address, ip_network
from pathlib import Path

import gunicorn
import pytest
import yaml
from django.core.management import load_command_class

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
    assert optional == {"socket": ["socket"], "mcp": ["mcp"]}
    _python, script, *told = services["mcp"]["entrypoint"]
    parser = load_command_class("engines", told[0]).create_parser(script, told[0])
    assert parser.parse_args(told[1:]).host == "0.0.0.0"


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
