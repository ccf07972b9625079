"""Installation qualification: the machine, the packages and the settings are as the release wants them."""

from __future__ import annotations

import base64
import hashlib
import platform
import re
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from zoneinfo import ZoneInfo

from django.conf import settings
from django.core import checks
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils.timezone import localtime
from django.utils.translation import gettext as _

from core.house import machine
from core.house.paper.as_pdf import as_pdf
from core.house.paper.value import Paper
from engines.qualification import release
from engines.qualification.steps import Outcome, expect, take_steps

_PIN = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)", re.MULTILINE)
_MOST = 10


def outcomes() -> list[Outcome]:
    """Each step of the installation on the house as it is configured; nothing is written."""
    return take_steps(
        [
            ("versions", _("Versions of interpreter, system and product"), _versions),
            ("packages", _("Packages as pinned, their files as they were installed"), _packages),
            ("files", _("Files of the release against its manifest"), _release),
            ("settings", _("Settings: no system check fails"), _settings),
            ("migrations", _("All migrations are applied"), _migrations),
            ("font", _("The font of papers sets Chinese"), _font),
            ("time_zone", _("Time zones are known"), _time_zone),
            ("clock", _("Clock of the database against this machine"), _clock),
            ("proxy", _("Encrypted transport and headers of the proxy"), _proxy),
        ]
    )


def _versions() -> str:
    expect(sys.version_info >= (3, 11), platform.python_version())
    database = f"{connection.vendor} {'.'.join(map(str, _server()))}"
    told = (settings.VERSION, platform.python_version(), platform.system(), platform.release())
    return " · ".join((*told, platform.machine(), database))


def _server() -> tuple[int, ...]:
    return tuple(connection.get_database_version())


def _packages() -> str:
    pins = _PIN.findall((settings.BASE_DIR / "requirements.txt").read_text(encoding="utf-8"))
    wrong = [fault for name, version in pins for fault in _of_package(name, version)]
    expect(not wrong, _few(wrong))
    return _("%(count)s packages") % {"count": len(pins)}


def _of_package(name: str, version: str) -> Iterator[str]:
    try:
        found = distribution(name)
    except PackageNotFoundError:
        yield f"{name}: {_('missing')}"
        return
    if found.version != version:
        yield f"{name} {found.version} ≠ {version}"
    for file in found.files or ():
        place = Path(str(file.locate()))
        if file.hash and not (
            place.is_file() and _digest(place, file.hash.mode) == file.hash.value
        ):
            yield f"{name}: {file}"


def _digest(file: Path, mode: str) -> str:
    """As RECORD writes it: base64 for addresses, without padding."""
    digest = hashlib.new(mode, file.read_bytes()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def _release() -> str:
    root = Path(settings.BASE_DIR)
    manifest = root / release.NAME
    expect(manifest.is_file(), _("There is no manifest: %(name)s") % {"name": release.NAME})
    wrong = release.differences(root)
    expect(not wrong, _few(wrong))
    return f"{release.NAME} SHA-256 {hashlib.sha256(manifest.read_bytes()).hexdigest()}"


def _settings() -> str:
    found = checks.run_checks(include_deployment_checks=not settings.DEBUG)
    found += checks.run_checks(tags=[checks.Tags.database], databases=[connection.alias])
    grave = sorted({str(one.id) for one in found if one.level >= checks.ERROR})
    expect(not grave, ", ".join(grave))
    expect(not settings.DEBUG, _("DEBUG is on: this is no house for real data"))
    mild = Counter(str(one.id) for one in found)
    return ", ".join(sorted(mild)) or _("no remark")


def _migrations() -> str:
    runner = MigrationExecutor(connection)
    waiting = runner.migration_plan(runner.loader.graph.leaf_nodes())
    expect(not waiting, _few([str(one) for one, _backwards in waiting]))
    return _("%(count)s migrations") % {"count": len(runner.loader.applied_migrations)}


def _font() -> str:
    words = ("", "", "")
    made_at = localtime().isoformat(timespec="seconds")
    paper = Paper("验证", "研究", "IIT Manager", made_at, "zh-hans", words, (), ())
    return f"PDF, {len(as_pdf(paper))} bytes"


def _time_zone() -> str:
    shanghai = datetime(2026, 1, 1, tzinfo=ZoneInfo("Asia/Shanghai")).utcoffset()
    ZoneInfo(settings.TIME_ZONE)
    expect(str(shanghai) == "8:00:00", str(shanghai))
    return f"{settings.TIME_ZONE}, Asia/Shanghai +{shanghai}"


def _clock() -> str:
    skew = abs(machine.clock_skew_s())
    expect(skew < machine.SKEW_TOLD_S, f"{skew:.2f} s")
    return f"{skew:.2f} s < {machine.SKEW_TOLD_S:.0f} s"


def _proxy() -> str:
    expect(settings.PUBLIC_URL.startswith("https://"), _("PUBLIC_URL is no https address"))
    expect(bool(settings.TRUSTED_PROXIES), _("TRUSTED_PROXIES names no proxy"))
    expect(settings.SECURE_SSL_REDIRECT, "SECURE_SSL_REDIRECT")
    expect(settings.SESSION_COOKIE_SECURE, "SESSION_COOKIE_SECURE")
    header, value = settings.SECURE_PROXY_SSL_HEADER
    return f"{header} = {value}, HSTS {settings.SECURE_HSTS_SECONDS} s"


def _few(faults: list[str]) -> str:
    more = len(faults) - _MOST
    return "; ".join(faults[:_MOST]) + (f" … +{more}" if more > 0 else "")
