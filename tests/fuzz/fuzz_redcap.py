"""atheris: REDCap's own logic, from any text to a value at every place of a record."""

from __future__ import annotations

from collections.abc import Callable

from tests.fuzz.harness import run

SEEDS = [
    b"[age] >= 18 and ([sex] = '1' or isblankormissingcode([alt]))",
    b"round(([alt]*10000)/(([age])^(2)), 1)",
    b"if(datediff([dob], 'today', 'y') > 60, sum([age], [alt]), [ae_day][last-instance])",
    b"concat_ws('-', left([text], 3), [e2][ae_term][1]) <> '' # end",
]


def check() -> Callable[[bytes], None]:
    """One input: the text of a logic."""
    from tests.fuzz import checks

    def one_input(content: bytes) -> None:
        checks.logic(content.decode("utf-8", "replace"))

    return one_input


if __name__ == "__main__":
    run("redcap", check, SEEDS)
