"""atheris: clinical rules, from saving to results in both tiers."""

from __future__ import annotations

from collections.abc import Callable

from tests.fuzz.harness import run

SEEDS = [
    b'\x01[{"field":"age","logic":{"<=":[18,{"var":"age"},75]},"message":"m"}]',
    b'\x01[{"field":"icf","logic":{"before":[{"var":"icf"},{"var":"dosed"}]},"message":"m"}]',
    b'\x01[{"field":"box","logic":{"none":[{"var":"box"},{"in":[{"var":""},[1,3]]}]},"message":"m"}]',
    b'\x01[{"field":"text","logic":{"matches":[{"var":"text"},"(a|b)*c"]},"message":"m"}]',
]


def check() -> Callable[[bytes], None]:
    """One input: rules and the rows of a record."""
    from tests.fuzz import build, checks
    from tests.fuzz.study import CELLS

    rows = [{"age": "50", "icf": "2024-03", "text": cell, "box___1": "1"} for cell in CELLS[:12]]

    def one_input(content: bytes) -> None:
        is_text, found = build.text_or(content)
        if not is_text:
            checks.clinical(build.rules(found), build.rows(found))
        elif isinstance(found, list):
            checks.clinical(found, rows[: len(content) % 12 + 1])

    return one_input


if __name__ == "__main__":
    run("clinical", check, SEEDS)
