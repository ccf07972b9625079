"""The files of a release and their digests, in the form that `sha256sum -c` reads."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

NAME = "release.sha256"
_NOT_OURS = {"tests", "var", "__pycache__", NAME}


def digests(root: Path) -> dict[str, str]:
    """Path below `root` -> SHA-256 of each file of the product; no hidden file, no test, no data."""
    return {
        str(file.relative_to(root)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(_files(root))
    }


def _files(folder: Path) -> Iterator[Path]:
    for one in folder.iterdir():
        if one.name.startswith(".") or one.name in _NOT_OURS or one.is_symlink():
            continue
        if one.is_dir():
            yield from _files(one)
        else:
            yield one


def write(root: Path) -> Path:
    """Keep the digests beside the release. Raises OSError."""
    file = root / NAME
    lines = (f"{digest}  {path}\n" for path, digest in digests(root).items())
    file.write_text("".join(lines), encoding="utf-8")
    return file


def differences(root: Path) -> list[str]:
    """What differs from the manifest, a path each: changed, missing, added. Raises OSError without one."""
    lines = (root / NAME).read_text(encoding="utf-8").splitlines()
    kept = {path: digest for digest, _, path in (line.partition("  ") for line in lines)}
    found = digests(root)
    return sorted(path for path in {*kept, *found} if kept.get(path) != found.get(path))
