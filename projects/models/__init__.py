"""Tables of the study: who takes part, where the data are, what was planned, what was done."""

from projects.models.accounts import ApiToken
from projects.models.audit import AuditEntry, AuditHead
from projects.models.operations import BrokerMessage, CronFiring, Heartbeat
from projects.models.person import Person
from projects.models.project import Member, Project, Role
from projects.models.protocol import ProtocolChunk, ProtocolDocument
from projects.models.reads import Read
from projects.models.study import Dictionary, Subject, SyncState, VisitPlanEntry

__all__ = [
    "ApiToken",
    "AuditEntry",
    "AuditHead",
    "BrokerMessage",
    "CronFiring",
    "Dictionary",
    "Heartbeat",
    "Member",
    "Person",
    "Project",
    "ProtocolChunk",
    "ProtocolDocument",
    "Read",
    "Role",
    "Subject",
    "SyncState",
    "VisitPlanEntry",
]
