"""Typed readers of the environment and of `.env`.

The environment wins over `.env`; `NAME_FILE` names a file that holds the value. A `NAME_FILE` that
cannot be read fails loudly: a secret that silently falls back to a default is worse than no start.
"""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured


def load_dotenv(path: Path) -> None:
    """Put the `NAME=value` lines of `path` into the environment where `NAME` is not set yet."""
    if not path.exists():
        return
    for line in path.read_text("utf-8").splitlines():
        name, sep, value = line.strip().partition("=")
        if sep and name and not name.startswith("#"):
            _set_default(name.strip(), value.strip())


def _set_default(name: str, value: str) -> None:
    # A `NAME_FILE` of the file must not beat a `NAME` of the environment.
    if name.endswith("_FILE") and name.removesuffix("_FILE") in os.environ:
        return
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
    os.environ.setdefault(name, value[1:-1] if quoted else value)


def envstr(name: str, default: str = "") -> str:
    """The value of `name` or of the file `name_FILE` points at."""
    if path := os.environ.get(f"{name}_FILE"):
        try:
            return Path(path).read_text("utf-8").strip()
        except OSError as error:
            raise ImproperlyConfigured(f"{name}_FILE: cannot read {path}: {error}") from error
    return os.environ.get(name, default)


def envbool(name: str, default: bool = False) -> bool:
    """True for 1, true, yes, on; false for 0, false, no, off and blank; anything else is refused."""
    value = envstr(name).strip().lower()
    if not value:
        return default
    if value in {"1", "true", "yes", "on"}:
        return True
    if value in {"0", "false", "no", "off"}:
        return False
    raise ImproperlyConfigured(f"{name}={value!r} is neither true nor false")


def envint(name: str, default: int, *, least: int | None = None, most: int | None = None) -> int:
    """A whole number from `least` to `most`; anything else is refused."""
    value = envstr(name).strip()
    if not value:
        return default
    try:
        number = int(value)
    except ValueError as error:
        raise ImproperlyConfigured(f"{name}={value!r} is not a whole number") from error
    if least is not None and number < least:
        raise ImproperlyConfigured(f"{name}={number} is less than {least}")
    if most is not None and number > most:
        raise ImproperlyConfigured(f"{name}={number} is more than {most}")
    return number


def envlist(name: str, default: str = "") -> list[str]:
    """A comma list without blanks."""
    return [item.strip() for item in envstr(name, default).split(",") if item.strip()]


def database(url: str, var: Path) -> dict[str, object]:
    """Django's DATABASES entry for `postgresql://…` or, when blank, SQLite in `var/` (design.md 3)."""
    if not url:
        return sqlite(var / "iit.sqlite3")
    parts = urlsplit(url)
    if parts.scheme == "sqlite":
        return sqlite(Path(unquote(parts.path)))
    if parts.scheme not in {"postgres", "postgresql"}:
        raise ImproperlyConfigured(f"DATABASE_URL: unknown scheme {parts.scheme!r}")
    options = dict(parse_qsl(parts.query))
    if schema := options.pop("search_path", ""):
        options["options"] = f"-c search_path={schema}"
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": parts.hostname or "",
        "PORT": str(parts.port or ""),
        "CONN_MAX_AGE": 600,  # opening one takes longer than acknowledging a callback
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": options,
    }


def sqlite(path: Path) -> dict[str, object]:
    """SQLite in WAL mode whose transactions take the write lock at once, so that none fails half-way."""
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": path,
        "OPTIONS": {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": (
                "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;"
            ),
        },
        # A file, not memory: threads of the live server and worker processes share it.
        "TEST": {"NAME": path.with_name(f"test-{path.name}")},
    }
