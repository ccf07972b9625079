"""What the tests with a lying model share."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from tests.engines.chat.kit import ask, say
from tests.support.study import Study

DATA = Path(__file__).parents[3] / "demo" / "study" / "redcap"
FLAGGED = ("subject_name", "id_card", "phone", "hospital_no", "address", "birth_date")
GENOME = ("野生型", "19外显子", "外显子缺失", "L858R", "egfr_mutation")


def identifiers() -> list[str]:
    """Every identifying value of the demo study, from its file and not through the product."""
    rows = json.loads((DATA / "records.json").read_text(encoding="utf-8"))
    found = {row["values"].get(name, "") for row in rows for name in FLAGGED}
    return sorted(value for value in found if value)


def bodies(study: Study, *services: str) -> str:
    """All that the services received, unescaped."""
    rows = [row for service in services for row in study.stand_ins.requests(service)]
    texts = [r["body"] if isinstance(r["body"], str) else json.dumps(r["body"]) for r in rows]
    return "\n".join(_readable(text) for text in texts)


def _readable(text: str) -> str:
    try:
        return json.dumps(json.loads(text), ensure_ascii=False)
    except ValueError:
        return text


def squeezed(text: str) -> str:
    """Without what could hide an identifier between its characters."""
    return re.sub(r"[\s·._\u200b-]", "", text)


def lied(study: Study, userid: str, question: str, lie: str, *false: str) -> list[str]:
    """Parts of the lie, told twice, that reached the reader: [] is good."""
    study.stand_ins.script(say(lie), say(lie), say(lie))
    reply = ask(userid, question).text
    study.stand_ins.script()
    return [f"{question} → {reply}" for part in false or (lie,) if part in reply]


def note(study: Study, record: str, **values: str) -> None:
    """Write into REDCap as a CRC would."""
    row: dict[str, Any] = {
        "record": record,
        "event": "screening_arm_1",
        "instrument": "",
        "instance": None,
        "values": values,
    }
    study.stand_ins.post("redcap/records", [row])
