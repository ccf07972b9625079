"""Whether a Word file can be opened without harm, by its table of contents alone."""

from __future__ import annotations

import zipfile
from io import BytesIO

from study.protocol.files.layout import RefusedError

MAX_ENTRIES, MAX_UNPACKED = 4000, 100 * 1024 * 1024
MAX_RATIO = 200
"""How many times smaller a part may be packed; text is packed to about a tenth."""


def check_archive(raw: bytes) -> None:
    """Before anything is unpacked. Raises RefusedError."""
    try:
        with zipfile.ZipFile(BytesIO(raw)) as archive:
            parts = archive.infolist()
    except (zipfile.BadZipFile, ValueError, OSError) as error:
        raise RefusedError("broken") from error
    names = {part.filename for part in parts}
    if "[Content_Types].xml" not in names or "word/document.xml" not in names:
        raise RefusedError("kind")
    if any(part.flag_bits & 1 for part in parts):
        raise RefusedError("encrypted")
    packed_tight = any(
        part.file_size > 1024 * 1024 and part.file_size > MAX_RATIO * max(part.compress_size, 1)
        for part in parts
    )
    unpacked = sum(part.file_size for part in parts)
    if len(parts) > MAX_ENTRIES or unpacked > MAX_UNPACKED or packed_tight:
        raise RefusedError("bomb")
