"""What people call what is stored as plain words: intents (design.md, section 6)."""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

INTENTS: dict[str, Promise] = {
    "query_record": _("subject"),
    "count_records": _("count"),
    "query_protocol": _("protocol"),
    "project_info": _("study"),
    "visit_window": _("visits"),
    "qc_task": _("quality control"),
    "query_history": _("history"),
    "analyze_trend": _("trend"),
    "generate_report": _("report"),
    "qa_query": _("question"),
    "data_entry": _("data entry"),
    "remember": _("memory"),
    "feedback": _("feedback"),
    "general_chat": _("talk"),
    "off_topic": _("off topic"),
}
