"""What the processes write belongs to their owner alone (THREAT_MODEL.md)."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def keep_private(folder: Path) -> None:
    """Whatever this process and its children make from now on, the folder, and the files in it.

    A folder that somebody else owns stays as it is: the system check says so (projects.checks).
    """
    os.umask(_OTHERS)
    folder.mkdir(parents=True, exist_ok=True)
    for path in (folder, *(file for file in folder.iterdir() if file.is_file())):
        # A file may go while we look: another process ends with its own.
        with suppress(FileNotFoundError, PermissionError):
            close_to_others(path)


def close_to_others(path: Path) -> None:
    """Take group's and others' rights. Raises FileNotFoundError, PermissionError."""
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & _OTHERS:
        path.chmod(mode & ~_OTHERS)
