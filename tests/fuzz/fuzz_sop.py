"""atheris: the SOP loader, `skills.validation.validate` and `skills.graph.Graph`."""

from __future__ import annotations

from collections.abc import Callable

from tests.fuzz.harness import run

SEEDS = [
    b'\x01{"start_node":"a","nodes":{"a":{"type":"hard_rule","rules":[{"field":"age",'
    b'"logic":{">=":[{"var":"age"},18]},"message":"m"}],"on_fail":"b"},'
    b'"b":{"type":"human_review","description":"x","reviewers":["PI"]}}}',
    b'\x01{"start_node":"a","nodes":{"a":{"type":"soft_instruction","instruction":"x",'
    b'"tools":[],"threshold":0.5,"retry":{"times":1},"on_pass":"end"}},"max_steps":5}',
]


def check() -> Callable[[bytes], None]:
    """One input: a configuration, or any JSON in its place."""
    from tests.fuzz import build, checks

    def one_input(content: bytes) -> None:
        is_text, found = build.text_or(content)
        checks.workflow(found if is_text else build.config(found))

    return one_input


if __name__ == "__main__":
    run("sop", check, SEEDS)
