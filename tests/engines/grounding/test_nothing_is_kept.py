"""What was read of a patient is gone with the request (projects/reader.py): no cache keeps it."""

from __future__ import annotations

import gc
from weakref import ref

from engines.grounding import Sources, check
from engines.tools import Fact, Status, ToolResult


class Text(str):
    """A text whose end can be seen."""


def test_no_text_outlives_its_check() -> None:
    note, report = (
        Text("高血压病史8年，血压控制良好。"),
        Text("[W12]: 增加受试者交通补贴，由100元提高到200元"),
    )
    fact = Fact("P001", "history", ("既往史",), note, "筛选")
    result = ToolResult("read_clinical_data", Status.OK, {}, (fact,), record_ids=("P001",))
    sources = Sources([result], [report])
    assert check("P001 血压控制良好。第12周交通补贴由100元提高到200元。", sources) == []
    watched = [ref(note), ref(report)]
    del note, report, fact, result, sources
    gc.collect()
    assert [text() for text in watched] == [None, None]
