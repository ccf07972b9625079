"""Orders and record ids on messages labelled by hand; the rest is printed by the command and no guarantee."""

import json
from pathlib import Path

import pytest

from engines.assistant.read.intents import Intent
from engines.assistant.read.offline import detect

HERE = Path(__file__).parent
PUBLIC = HERE.parents[2] / "../shared/reference"
FILES = (*sorted(PUBLIC.glob("intents_public*.jsonl")), *sorted(HERE.glob("*.jsonl")))
MIN_ORDERS, MIN_IDS = 0.96, 0.98
ORDERS = {Intent.QC_TASK, Intent.GENERATE_REPORT, Intent.REMEMBER, Intent.FEEDBACK}


def _rows() -> list[dict]:
    return [json.loads(line) for path in FILES for line in path.open(encoding="utf-8")]


@pytest.mark.full
def test_orders() -> None:
    rows = _rows()
    found = [(row, ORDERS & set(detect(row["text"]).intents)) for row in rows]
    wrong = [row["text"] for row, told in found if told != ORDERS & set(row["intents"])]
    assert 1 - len(wrong) / len(rows) >= MIN_ORDERS, wrong


@pytest.mark.full
def test_record_ids() -> None:
    rows = _rows()
    wrong = [row["text"] for row in rows if detect(row["text"]).record_ids != row["record_ids"]]
    assert 1 - len(wrong) / len(rows) >= MIN_IDS, wrong


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("这个研究的排除标准是什么?", "query_protocol"),
        ("CRF表格里要填写哪些指标?", "query_protocol"),
        ("查询ID 7的患者情况", "query_record"),
        ("这个研究的研究目的是什么?", "query_protocol"),
        ("目前有多少位患者入组?", "count_records"),
    ],
)
def test_the_conversations_of_the_customer(text: str, intent: str) -> None:
    assert detect(text).intents == [intent]
