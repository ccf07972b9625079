"""Tables of what a study holds: its source, readings and protocol, and what people say about its fields."""

from study.models.blinding import BlindedField, CodeBreak
from study.models.data import FieldRole, Reading, ReadingState, ReferenceLimit, Synonym
from study.models.protocol import ProtocolChunk, ProtocolDocument, ProtocolUpload
from study.models.queries import RedcapQuery
from study.models.source import (
    ChangedSubject,
    Dictionary,
    SetupTest,
    Subject,
    SyncState,
    VisitPlanEntry,
)

__all__ = [
    "BlindedField",
    "ChangedSubject",
    "CodeBreak",
    "Dictionary",
    "FieldRole",
    "ProtocolChunk",
    "ProtocolDocument",
    "ProtocolUpload",
    "Reading",
    "ReadingState",
    "RedcapQuery",
    "ReferenceLimit",
    "SetupTest",
    "Subject",
    "SyncState",
    "Synonym",
    "VisitPlanEntry",
]
