"""Run in a process of its own: a paper as JSON comes in, a PDF/A-2b file goes out.

The process has no environment, limited time and memory, and fonts of this directory alone.
"""

import datetime
import json
import resource
import sys
from pathlib import Path

HERE = Path(__file__).parent
CPU_S = 30
MEMORY = 3 << 30


def main() -> None:
    """Read from standard input, write to standard output; what is wrong goes to the error output."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    import typst

    given = json.load(sys.stdin.buffer)
    made = typst.compile(
        str(HERE / "paper.typ"),
        root=str(HERE),
        font_paths=[str(HERE / "fonts")],
        ignore_system_fonts=True,
        format="pdf",
        pdf_standards=["a-2b"],
        timestamp=datetime.datetime.fromisoformat(given["made_at"]),
        sys_inputs={"paper": json.dumps(given, ensure_ascii=False)},
    )
    sys.stdout.buffer.write(made)


if __name__ == "__main__":
    main()
