"""Tables of studies and their people, of who did and who read what."""

from projects.models.accounts import ApiToken, TokenScope
from projects.models.audit import AuditEntry, AuditHead
from projects.models.person import Person
from projects.models.project import Member, Project, Role
from projects.models.reads import Read

__all__ = [
    "ApiToken",
    "AuditEntry",
    "AuditHead",
    "Member",
    "Person",
    "Project",
    "Read",
    "Role",
    "TokenScope",
]
