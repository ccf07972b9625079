"""What the harnesses share: Django without a database, instrumented imports, libFuzzer's options."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INSTRUMENTED = ["core.rules", "engines.management.commands.check_rules", "skills", "wechat"]


def run(name: str, check: Callable[[], Callable[[bytes], None]], seeds: list[bytes]) -> None:
    """Fuzz what `check()` returns, for FUZZ_SECONDS seconds; inputs and findings go to `var/fuzz/name`.

    `check` does the imports of the product, so that they are instrumented.
    """
    import atheris

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "iit_manager.settings")
    with atheris.instrument_imports(include=INSTRUMENTED):
        import django

        django.setup()
        one_input = check()
    folder = ROOT / "var" / "fuzz" / name
    corpus = folder / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds):
        (corpus / f"seed{number}").write_bytes(seed)
    options = [
        f"-max_total_time={os.environ.get('FUZZ_SECONDS', '300')}",
        f"-artifact_prefix={folder}/",
        *("-timeout=20", "-rss_limit_mb=2048", "-max_len=2048", "-print_final_stats=1"),
        f"-dict={Path(__file__).with_name('json.dict')}",
    ]
    atheris.Setup([sys.argv[0], *options, *sys.argv[1:], str(corpus)], one_input)
    atheris.Fuzz()
