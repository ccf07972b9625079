"""What the supervisor does to the house: prepare, seed, say hello."""

from __future__ import annotations

import os
import socket
import unicodedata
from contextlib import ExitStack
from io import StringIO

import httpx
from django.conf import settings
from django.core.management import call_command
from django.db import connections
from django.utils.translation import gettext as _

from demo import runfile, stand_ins

_COLUMN = 12


def busy_ports() -> str:
    """A line naming a port that something else uses; blank when all are free.

    Each is held while the next is tried, so that one port for both is refused, too.
    """
    with ExitStack() as held:
        for name, port in (("PORT", settings.PORT), ("SIM_PORT", settings.SIM_PORT)):
            probe = held.enter_context(socket.socket())
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
                probe.listen(1)
            except OSError:
                said = {"port": port, "name": name}
                return _("Port %(port)s is in use; choose another with %(name)s=…") % said
    return ""


def refusal() -> str:
    """Why the demo cannot start here; blank when it can."""
    if not settings.DEBUG:
        return _("The demo study exists only with DEBUG.")
    return busy_ports()


def token() -> str:
    """The token of this house, kept in `var/run.json` before anything is started with it."""
    content = runfile.load()
    runfile.save(content)
    return str(content["house_token"])


def prepare() -> None:
    """Bring the database to the current state."""
    call_command("migrate", verbosity=0, interactive=False)
    call_command("createcachetable", verbosity=0)
    connections.close_all()


def seed() -> None:
    """Seed the study, or tell restarted stand-ins about it again."""
    call_command("demo", verbosity=0, stdout=StringIO())
    connections.close_all()


def stand_ins_answer() -> bool:
    """Whether our stand-ins are up; others that took their port are none of ours."""
    return stand_ins.owner(runfile.load()) is stand_ins.Owner.OURS


def was_overtaken() -> bool:
    """Whether another house took the port of our stand-ins after it was found free."""
    return stand_ins.are_others(runfile.load())


def web_answers() -> bool:
    """Whether the console is up."""
    return httpx.get(f"http://127.0.0.1:{settings.PORT}/healthz", timeout=5).status_code == 200


def note(pids: dict[str, int]) -> None:
    """Keep the pids in `var/run.json`."""
    content = runfile.load()
    pids = pids | {"supervisor": os.getpid()}
    if content.get("pids") != pids:
        runfile.save(content | {"pids": pids})


def welcome() -> str:
    """Addresses and logins for the person at the terminal."""
    base = f"http://127.0.0.1:{settings.PORT}"
    lines = [
        "",
        "IIT Manager",
        _row(_("Console"), f"{base}/admin/"),
        _row(_("Phone page"), f"{base}/simulator/"),
        _row("API", f"{base}/api/v1/docs/"),
        _row(_("Mode"), mode()),
        "",
    ]
    for user, login in runfile.load()["logins"].items():
        lines.append(f"  {user:<10} {login['password']}")
    lines += ["", f"  {_('Ctrl-C ends everything.')}", ""]
    return "\n".join(lines)


def _row(name: str, value: str) -> str:
    """Name and value in two columns; a Chinese sign is two wide at a terminal."""
    width = sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in name)
    return f"  {name}:{' ' * max(1, _COLUMN - width)}{value}"


def mode() -> str:
    """Which database and broker run, and what that is good for."""
    if settings.EMBEDDED:
        return _("embedded: one host, a handful of users, at most three writing processes")
    return _("PostgreSQL and Redis")
