"""What the detector returns (design.md section 6)."""

from dataclasses import dataclass
from enum import StrEnum


class Intent(StrEnum):
    """The fifteen intents, in the order of design.md section 6."""

    QUERY_RECORD = "query_record"
    COUNT_RECORDS = "count_records"
    QUERY_PROTOCOL = "query_protocol"
    PROJECT_INFO = "project_info"
    VISIT_WINDOW = "visit_window"
    QC_TASK = "qc_task"
    QUERY_HISTORY = "query_history"
    ANALYZE_TREND = "analyze_trend"
    GENERATE_REPORT = "generate_report"
    QA_QUERY = "qa_query"
    DATA_ENTRY = "data_entry"
    REMEMBER = "remember"
    FEEDBACK = "feedback"
    GENERAL_CHAT = "general_chat"
    OFF_TOPIC = "off_topic"


@dataclass(frozen=True)
class Part:
    """One task of a message; `record_ids` are its own subjects or the ones carried forward.

    `named`: somebody is called by a personal name in it that stands for no record id. `proposed`: an
    order that only a model saw; it is put to the reader and not carried out.
    """

    text: str
    intent: str
    confidence: float
    record_ids: list[str]
    named: bool = False
    proposed: bool = False


@dataclass(frozen=True)
class Detection:
    """All tasks of a message in order of execution.

    `record_ids` lists every subject mentioned in order of the words, also negated and quoted ones
    (intents_labels.md rule 10); `visits` lists visit names such as V2D28; `confidence` is the
    probability that the intents are right, `sure` that it is high enough to act upon.
    """

    intents: list[str]
    record_ids: list[str]
    visits: list[str]
    confidence: float
    sure: bool
    parts: list[Part]
