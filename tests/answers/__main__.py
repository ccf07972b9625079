"""`make answers`: what the answers are worth, without a model and with one.

A house seeded for 2026-11-23 is asked the public and the blind cases, without a model and with the recorded
replies of a capable one; scripted models fill `ask` rightly, with one slot wrong, and plan badly. Exit 1 when a
gate fails (design.md 8).

usage: python -m tests.answers [silent] [recorded] [scripted] [CASES.jsonl …]
           --requests FOLDER   write what was asked of the model and is not on record
           --take FOLDER       put what was answered there on record, and play nothing
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import django

from demo.own_house import AnswerHouse, opened
from tests.answers.model import (
    Model,
    key_of,
    prompt_of,
    purpose_of,
    put_on_record,
    recorded,
    served,
)
from tests.answers.play import Played, load, played
from tests.answers.report import Gate, cost, is_of_question, reported

HERE = Path(__file__).parent
FILES = ("chat_public.jsonl", "blind.jsonl")
SEEDS = "seeds.jsonl"
RECORDS = HERE / "recorded" / "replies.jsonl"
PARTS = {"silent", "recorded", "scripted"}
SILENT, RECORDED = Gate(useful=0.70, wrong=0.01), Gate(useful=0.92, wrong=0.01)
SEEDED = Gate(useful=1.0, wrong=0.0)


def main(*words: str) -> int:
    """Play what is asked for (default: all) and print what came of it."""
    parser = argparse.ArgumentParser(prog="python -m tests.answers")
    parser.add_argument("parts", nargs="*")
    parser.add_argument("--requests", type=Path, help="write requests without a reply here")
    parser.add_argument("--take", type=Path, help="put the replies of a folder on record")
    given = parser.parse_args(words)
    if given.take:
        print(
            put_on_record(given.take, RECORDS, datetime.now(UTC).date().isoformat()),
            "replies on record",
        )
        return 0
    files = [Path(name) for name in given.parts if name.endswith(".jsonl")]
    parts = {name for name in given.parts if not name.endswith(".jsonl")} or PARTS
    passed = _scripted() if "scripted" in parts else []
    if not parts & {"silent", "recorded"}:
        return 0 if all(passed) else 1
    with (
        tempfile.TemporaryDirectory() as folder,
        served() as model,
        opened(Path(folder), model.url) as house,
    ):
        if "silent" in parts:
            passed += _each(house, model, files, "without a model", SILENT)
        if "recorded" in parts:
            passed += _recorded(house, model, files, given.requests)
    return 0 if all(passed) else 1


def _scripted() -> list[bool]:
    """A perfect, a noisy and a bad model. Needs Django's settings, which the other parts leave to the house."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "iit_manager.settings")
    django.setup()
    from tests.answers import scripted

    rows = [*scripted.perfect()]
    passed = scripted.reported("perfect model", rows, least=0.97, most=0.03)
    rows = [*scripted.noisy()]
    return [passed, scripted.reported("noisy model", rows, least=0.0, most=0.02), _bad()]


def _bad() -> bool:
    """A model whose plans are empty, one line, all lines or anything: nothing false, nothing left out."""
    from tests.assistant.say import test_bad_planner as planner

    count = sum(len([*planner.plans(planner.asked(q)[0], q)]) for q in planner.QUESTIONS)
    left_out = [fault for question in planner.QUESTIONS for fault in planner.left_out(question)]
    false = [fault for question in planner.QUESTIONS for fault in planner.false_sentences(question)]
    print("\n--- bad model")
    for what, faults in (("LEFT OUT", left_out), ("WRONG", false)):
        print(*(f"{what} {fault}" for fault in faults), sep="\n", end="\n" if faults else "")
    reached = "NOT REACHED" if left_out or false else "reached"
    print(
        f"bad model: {count} plans, left out {len(left_out)}, wrong {len(false)}; wanted 0: {reached}"
    )
    return not (left_out or false)


def _each(
    house: AnswerHouse, model: Model, files: Sequence[Path], title: str, gate: Gate
) -> list[bool]:
    passed = []
    for file in files or [HERE / name for name in FILES]:
        rows = played(house, model, load(file))
        passed.append(reported(f"{file.name} {title}", rows, gate))
    return passed


def _recorded(
    house: AnswerHouse, model: Model, files: Sequence[Path], requests: Path | None
) -> list[bool]:
    model.replies = recorded()
    model.unknown.clear()
    passed = _each(house, model, files, "with recorded replies", RECORDED)
    seeds = played(house, model, load(HERE / SEEDS)) if not files else []
    if seeds:
        passed.append(reported("scenes of the seeds", seeds, SEEDED))
        passed.append(cost("seed scenarios", seeds, calls=1, most=486, whole=554))
    _told_apart(model, seeds)
    unknown = {key: body for key, body in model.unknown.items() if is_of_question(body)}
    print(f"requests without a recorded reply: {len(unknown)}")
    if requests:
        (requests / "req").mkdir(parents=True, exist_ok=True)
        (requests / "rep").mkdir(exist_ok=True)
        kept = ("messages", "tools", "response_format", "tool_choice")
        for key, body in unknown.items():
            text = json.dumps({name: body.get(name) for name in kept}, ensure_ascii=False, indent=1)
            (requests / "req" / f"{key}.json").write_text(text, "utf-8")
    return passed


def _told_apart(model: Model, rows: Sequence[Played]) -> None:
    """Replies that were given to a prompt of other words than today's."""
    bodies = [body for row in rows for body in row.asked]
    old = {
        purpose_of(body)
        for body in bodies
        if (row := model.replies.get(key_of(body))) and row.get("prompt") != prompt_of(body)
    }
    if old:
        print(f"recorded under other words of the prompt: {', '.join(sorted(old))}")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
