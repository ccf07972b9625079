"""Writes `.env` with generated secrets (`make install`); an existing one is never touched."""

from __future__ import annotations

import base64
import os
import secrets
from pathlib import Path

PATH = Path(__file__).resolve().parent.parent / ".env"


def write(path: Path = PATH) -> bool:
    """Create `path` for its owner only; False when it is there already."""
    key = base64.b64encode(secrets.token_bytes(32)).decode("ascii")
    lines = ["DEBUG=1", f"SECRET_KEY={secrets.token_urlsafe(48)}", f"FIELD_ENCRYPTION_KEYS={key}"]
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return False
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    return True


if __name__ == "__main__":
    write()
