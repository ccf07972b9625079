"""atheris: `engines.jsonlogic` in standard mode."""

from __future__ import annotations

from collections.abc import Callable

from fuzz.harness import run

SEEDS = [
    b'\x01[{"and":[{">=":[{"var":"a"},18]},{"in":[{"var":"b"},[0,1]]}]},{"a":1}]',
    b'\x01[{"reduce":[{"var":"a"},{"+":[{"var":"current"},{"var":"accumulator"}]},0]},{"a":[1]}]',
    b'\x01[{"if":[{"missing":["a"]},"x",{"substr":["abc",-1]}]},{}]',
]


def check() -> Callable[[bytes], None]:
    """One input: a rule (or two) and data."""
    from fuzz import build, checks

    def one_input(content: bytes) -> None:
        is_text, found = build.text_or(content)
        if not is_text:
            logics = [build.logic(found, build.STANDARD) for _ in range(found.below(2) + 1)]
            checks.standard(logics, build.data(found))
        elif isinstance(found, list) and len(found) == 2:
            checks.standard(found[:1], found[1])
        else:
            checks.standard([found], {"a": 1, "b": "2"})

    return one_input


if __name__ == "__main__":
    run("jsonlogic", check, SEEDS)
