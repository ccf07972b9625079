"""How sure a detection is, and which parts of a message ask something of their own."""

import json

import pytest

from engines.assistant.intents import (
    detect,
    detector,
    folds,
    judge,
    model,
    train,
)
from engines.assistant.intents.folds import Case, Verdict


def test_the_judge_is_of_the_shipped_model() -> None:
    data = json.loads(judge.PATH.read_text(encoding="utf-8"))
    assert data["data_hash"] == train.data_hash()
    assert 0.5 < data["sure_from"] < 1


@pytest.mark.parametrize("text", ["出一份周报", "P012 的血红蛋白多少", "质控全部受试者"])
def test_plain_requests_are_sure(text: str) -> None:
    assert detect(text).sure


@pytest.mark.parametrize("text", ["就是那个啥来着", "嘎嘣脆", "那边的你看着办"])
def test_what_could_be_anything_is_not_sure(text: str) -> None:
    found = detect(text)
    assert not found.sure
    assert found.confidence < 0.8


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("明天查房要用,P023的血小板报我一下", "query_record"),
        ("给P045跑质控,下午有人来看", "qc_task"),
        ("我刚从手术室出来,在组的现在几例", "count_records"),
    ],
)
def test_a_circumstance_is_no_request(text: str, intent: str) -> None:
    assert detect(text).intents == [intent]


def test_a_message_of_one_part_keeps_it_whatever_its_chance() -> None:
    doubts_everything = judge.Judge({"1": -9.0}, {"1": -9.0}, 0.9)
    reading = detector.read("出一份周报", model.shipped())
    found = detector.judged(reading, doubts_everything)
    assert found.intents == ["generate_report"]
    assert found.confidence < 0.01
    assert not found.sure


def test_a_part_that_asks_nothing_is_left_out() -> None:
    reading = detector.read("P012入组没?出一份周报", model.shipped())
    without_reports = judge.Judge({"1": 2.0, "is generate_report": -9.0}, {"1": 1.0}, 0.5)
    assert detector.judged(reading, without_reports).intents == ["query_record"]


def test_the_report_tells_what_is_right_by_source_and_by_tenths() -> None:
    reading = detector.read("出一份周报", model.shipped())
    case = Case("出一份周报", ["generate_report"], "own", 0, reading)
    told = [
        Verdict(case, ["generate_report"], 0.95, sure=True),
        Verdict(case, ["qc_task"], 0.42, sure=False),
    ]
    lines = [line.split() for line in folds.report(told).splitlines()]
    assert lines[1] == ["own", "2", "0.500", "0.500", "1.000"]
    assert lines[-2:] == [["0.4–0.5", "1", "0.42", "0.00"], ["0.9–1.0", "1", "0.95", "1.00"]]


def test_a_message_is_always_in_the_same_fold() -> None:
    assert folds.fold_of("出一份周报") == folds.fold_of("出一份周报")
    assert {folds.fold_of(str(n)) for n in range(60)} == set(range(folds.FOLDS))
