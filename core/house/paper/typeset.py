"""Run in a process of its own: JSON comes in, a paper as PDF/A-2b or a picture as PNG goes out.

The process has no environment, limited time and memory, and fonts of this directory alone.
"""

import datetime
import json
import resource
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
CPU_S = 30
MEMORY = 3 << 30
PPI = 200.0


def main() -> None:
    """Read from standard input, write to standard output; what is wrong goes to the error output."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    import typst

    kind = sys.argv[1]
    given = json.load(sys.stdin.buffer)
    options: dict[str, Any] = {"format": "png", "ppi": PPI}
    if kind == "paper":
        made_at = datetime.datetime.fromisoformat(given["made_at"])
        options = {"format": "pdf", "pdf_standards": ["a-2b"], "timestamp": made_at}
    made = typst.compile(
        str(HERE / f"{kind}.typ"),
        root=str(HERE),
        font_paths=[str(HERE / "fonts")],
        ignore_system_fonts=True,
        sys_inputs={kind: json.dumps(given, ensure_ascii=False)},
        **options,
    )
    sys.stdout.buffer.write(made)


if __name__ == "__main__":
    main()
