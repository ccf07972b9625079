"""A production start as the README says it, on PostgreSQL and Redis without DEBUG: log in, ask, decide."""

from __future__ import annotations

import base64
import json
import os
import re
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.house.kit import until
from tests.house.test_make_run import free_ports
from tests.journey.house import database

ROOT = Path(__file__).resolve().parents[2]
HOST = "iit.example.org"
ADMIN = {"username": "operator", "password": f"Op-{secrets.token_urlsafe(12)}"}
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("make-run")]
NEITHER = not (os.environ.get("DATABASE_URL") and os.environ.get("REDIS_URL"))


def documented() -> list[str]:
    """The command list of the README."""
    blocks = re.findall(
        r"^ *```sh\n(.*?)^ *```", (ROOT / "README.md").read_text("utf-8"), re.M | re.S
    )
    (block,) = [one for one in blocks if "collectstatic" in one]
    return [line.strip() for line in block.splitlines()]


def processes() -> dict[str, str]:
    """Name and command of each line of the Procfile."""
    lines = (ROOT / "Procfile").read_text("utf-8").splitlines()
    pairs = [line.partition(": ") for line in lines if line and not line.startswith("#")]
    return {name: command for name, _, command in pairs}


class Production:
    """The processes of a house of its own behind a TLS proxy, which this class plays; its code is in `root`."""

    def __init__(self, var: Path, outside: dict[str, str], root: Path = ROOT) -> None:
        self.var, self.root = var, root
        self.port, sim_port = free_ports()
        self.sim = f"http://127.0.0.1:{sim_port}"
        self.env = outside | {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(var),
            "VAR_DIR": str(var),
            "PORT": str(self.port),
            "SIM_PORT": str(sim_port),
            "DEBUG": "0",
            "SECRET_KEY": secrets.token_hex(32),
            "FIELD_ENCRYPTION_KEYS": base64.b64encode(secrets.token_bytes(32)).decode(),
            "ALLOWED_HOSTS": HOST,
            "PUBLIC_URL": f"https://{HOST}",
            "TRUSTED_PROXIES": "127.0.0.1",
            "PRIVATE_HTTP_HOSTS": "127.0.0.1",
            "WECOM_API_BASE": f"{self.sim}/wecom/cgi-bin",
            "WECOM_CORP_ID": f"ww{secrets.token_hex(8)}",
            "WECOM_AGENT_ID": "1000009",
            "WECOM_SECRET": secrets.token_hex(20),
            "WECOM_TOKEN": secrets.token_hex(12),
            "WECOM_AES_KEY": base64.b64encode(secrets.token_bytes(32)).decode().rstrip("="),
            "LLM_PRESET": "local",
            "LLM_BASE_URL": f"{self.sim}/llm/v1",
            "LLM_API_KEY": secrets.token_hex(12),
        }
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, command: str) -> None:
        with (self.var / f"{name}.log").open("wb") as log:
            self.running[name] = subprocess.Popen(
                ["bash", "-c", f"exec {command}"],
                cwd=self.root,
                env=self.env,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def stand_ins(self) -> None:
        """What the settings name as WeCom and LLM, and the console as REDCap and Dify."""
        self.start("simulators", f"{sys.executable} -m simulators --port {self.env['SIM_PORT']}")
        until(lambda: _status(f"{self.sim}/_control/health") == 200)

    def prepare(self, commands: list[str]) -> str:
        """What the commands said."""
        script = "\n".join(commands).replace("createsuperuser", "createsuperuser --noinput")
        person = {f"DJANGO_SUPERUSER_{key.upper()}": value for key, value in ADMIN.items()}
        return self._run(
            ["bash", "-euc", script], person | {"DJANGO_SUPERUSER_EMAIL": "o@example.org"}
        )

    def seed(self) -> dict[str, Any]:
        """A study with people and a workflow; the demo's, which exists only with DEBUG."""
        self._run([sys.executable, "manage.py", "demo"], {"DEBUG": "1"})
        content: dict[str, Any] = json.loads((self.var / "run.json").read_text("utf-8"))
        return content

    def _run(self, command: list[str], more: dict[str, str]) -> str:
        done = subprocess.run(
            command, cwd=self.root, env=self.env | more, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    def is_ready(self) -> bool:
        for name, process in self.running.items():
            assert process.poll() is None, self.log(name)
        try:
            return self.browser().get("/readyz").status_code == 200
        except httpx.TransportError:
            return False

    def browser(self, token: str = "") -> Browser:
        return Browser(self.port, token)

    def log(self, name: str) -> str:
        return (self.var / f"{name}.log").read_text("utf-8", "replace")

    def end(self, name: str) -> int:
        """How a process answers the signal of a process manager."""
        process = self.running.pop(name)
        process.send_signal(signal.SIGTERM)
        try:
            return process.wait(60)
        finally:
            _kill(process)

    def stop(self) -> None:
        for process in self.running.values():
            _kill(process)


class Browser:
    """Speaks as the proxy does: https outside, plain http to the house; keeps cookies."""

    def __init__(self, port: int, token: str = "") -> None:
        headers = {"Host": HOST, "X-Forwarded-Proto": "https", "Referer": f"https://{HOST}/admin/"}
        self._http = httpx.Client(
            base_url=f"http://127.0.0.1:{port}",
            headers=headers | ({"Authorization": f"Token {token}"} if token else {}),
            timeout=60,
            trust_env=False,
        )
        self.cookies: dict[str, str] = {}

    def get(self, path: str) -> httpx.Response:
        return self._keep(self._http.get(path, headers=self._cookie()))

    def post(self, path: str, **content: Any) -> httpx.Response:
        return self._keep(self._http.post(path, headers=self._cookie(), **content))

    def log_in(self, username: str, password: str) -> httpx.Response:
        page = self.get("/admin/login/")
        assert page.status_code == 200
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)
        assert token
        form = {"username": username, "password": password, "csrfmiddlewaretoken": token[1]}
        return self.post("/admin/login/", data=form)

    def _cookie(self) -> dict[str, str]:
        return {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}

    def _keep(self, answer: httpx.Response) -> httpx.Response:
        for line in answer.headers.get_list("set-cookie"):
            for name, morsel in SimpleCookie(line).items():
                assert morsel["secure"], line
                self.cookies[name] = morsel.value
        return answer


def _status(url: str) -> int:
    try:
        return httpx.get(url, timeout=5, trust_env=False).status_code
    except httpx.HTTPError:
        return 0


def _kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@pytest.fixture
def production(tmp_path: Path) -> Iterator[Production]:
    with database() as own:
        made = Production(tmp_path, {**own, "REDIS_URL": os.environ["REDIS_URL"]})
        try:
            yield made
        finally:
            made.stop()


def test_the_readme_starts_the_processes_of_the_procfile() -> None:
    assert documented()[-4:] == list(processes().values())


@pytest.mark.skipif(
    NEITHER, reason="NOT RUN: PostgreSQL and Redis (set DATABASE_URL and REDIS_URL)"
)
def test_log_in_ask_decide(production: Production) -> None:
    *commands, _web, _worker, _beat, _socket = documented()
    said = production.prepare(commands)
    assert "static files" in said
    production.stand_ins()
    run = production.seed()
    for name, command in processes().items():
        production.start(name, command)
    until(production.is_ready, limit_s=180)

    # a probe comes plain, a person by https alone
    plain = {"Host": HOST}
    inside = f"http://127.0.0.1:{production.port}"
    for path in ("/healthz", "/readyz"):
        assert httpx.get(f"{inside}{path}", headers=plain, trust_env=False).status_code == 200
    sent_on = httpx.get(f"{inside}/admin/login/", headers=plain, trust_env=False)
    assert sent_on.status_code == 301
    assert sent_on.headers["location"] == f"https://{HOST}/admin/login/"
    secure = production.browser().get("/admin/login/").headers
    assert int(secure["strict-transport-security"].removeprefix("max-age=")) >= 365 * 86400

    # the console: every page and what it loads
    login = run["logins"]["wanghushi"]
    browser = production.browser()
    page = browser.get("/admin/login/").text
    files = set(re.findall(r'(?:href|src)="(/static/[^"]+)"', page))
    assert files
    for file in files:
        assert browser.get(file).status_code == 200, file
    assert browser.log_in("wanghushi", login["password"]).status_code == 302
    for path in ("/admin/", "/admin/engines/taskrun/", "/admin/engines/review/", "/api/v1/docs/"):
        assert browser.get(path).status_code == 200, path
    assert browser.get("/nowhere/").status_code == 404
    operator = production.browser()
    assert operator.log_in(**ADMIN).status_code == 302
    assert operator.get("/admin/projects/project/").status_code == 200

    # a question
    person = production.browser(login["token"])
    answer = person.post("/api/v1/chat/", json={"text": "P001 入组了吗?", "project": "LUNG-IIT"})
    assert answer.status_code in (200, 202), answer.text
    if answer.status_code == 202:
        number = answer.json()["conversation_id"]
        answer = until(lambda: _found(person.get(f"/api/v1/chat/{number}/")), limit_s=120)
    assert "P001" in answer.json()["reply"]

    # a workflow, its review in WeCom, the decision
    order = {"project": "LUNG-IIT", "skill_type": "qc_process", "record_id": "P002"}
    started = person.post("/api/v1/task-runs/start/", json=order)
    assert started.status_code == 201, started.text
    address = f"/api/v1/task-runs/{started.json()['id']}/"
    waiting = until(lambda: _in(person.get(address).json(), "SUSPENDED"), limit_s=120)
    until(lambda: _card(production.sim, "wanghushi"), limit_s=120)
    decision = {"reason": "已核对", "seen": waiting["review"]["seen"]}
    decided = person.post(f"{address}approve/", json=decision)
    assert decided.status_code == 200, decided.text
    until(lambda: _in(person.get(address).json(), "COMPLETED", "SUSPENDED"), limit_s=120)
    assert person.get(address).json()["status"] == "COMPLETED"

    # the end, as a process manager asks for it
    for name in processes():
        assert production.end(name) == 0, production.log(name)
        assert "Traceback" not in production.log(name)


def _found(answer: httpx.Response) -> httpx.Response | None:
    return answer if answer.status_code == 200 and answer.json().get("reply") else None


def _in(run: dict[str, Any], *states: str) -> dict[str, Any] | None:
    return run if run["status"] in states else None


def _card(sim: str, userid: str) -> bool:
    sent = httpx.get(f"{sim}/_control/sent", timeout=10, trust_env=False).json()
    return any(row["to"] == userid and row["type"] == "template_card" for row in sent)
