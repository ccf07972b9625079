"""Read-only client of the REDCap API (reference/redcap_dify.md 1 and 2.1)."""

from core.integrations.redcap.client import RedcapClient
from core.integrations.redcap.errors import (
    PASSING,
    RedcapError,
    RedcapPermissionError,
    RedcapProtocolError,
    RedcapUnavailable,
)
from core.integrations.redcap.export import ExportShape, RecordExport, Row
from core.integrations.redcap.limiter import Limiter, TokenBucket, limiter_for

__all__ = [
    "PASSING",
    "ExportShape",
    "Limiter",
    "RecordExport",
    "RedcapClient",
    "RedcapError",
    "RedcapPermissionError",
    "RedcapProtocolError",
    "RedcapUnavailable",
    "Row",
    "TokenBucket",
    "limiter_for",
]
