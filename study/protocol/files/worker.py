"""Reads one file in a process of its own, within bounds of memory and time.

`python -m study.protocol.files.worker pdf < file`: each line of the output is JSON; `{"page": 3, "pages": 300}`
while it reads, at the end `{"text", "tables", "warnings"}` or `{"refused", "number"}`.
"""

from __future__ import annotations

import json
import logging
import resource
import sys
import warnings
from dataclasses import asdict

from study.protocol.files import pdf, word
from study.protocol.files.layout import RefusedError

MEMORY = 1024 * 1024 * 1024
"""Bytes of address space; the libraries themselves take about a quarter."""
CPU_S = 200


def main() -> None:
    """Read standard input as the kind of file that the command names."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    reader = {"pdf": pdf.read, "docx": word.read}[sys.argv[1]]
    try:
        said = asdict(reader(sys.stdin.buffer.read(), _progress))
    except RefusedError as refused:
        said = {"refused": refused.code, "number": refused.number}
    except (MemoryError, RecursionError):
        said = {"refused": "heavy", "number": 0}
    _say(said)


def _progress(page: int, pages: int) -> None:
    _say({"page": page, "pages": pages})


def _say(said: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(said, ensure_ascii=True) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
