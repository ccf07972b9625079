"""What the channel reads: run events and signals; its tool; its actions in the audit trail."""

from __future__ import annotations

from engines.sop.run_events import Kind, read
from projects import audit, wecom_ids
from wechat import checks, metrics, receivers, userids  # noqa: F401
from wechat.findings import run_events as queries
from wechat.outbound import notices, send_message, visit_cards
from wechat.reviews import batch_messages, run_events

audit.register(
    **{
        "wechat.refused": "Unknown WeCom user refused",
        "wechat.decision_refused": "Decision through WeCom refused",
        "wechat.click_ignored": "Click on an unknown card ignored",
        "wechat.resent": "Message sent again",
        "wechat.rated": "Answer rated",
        "wechat.mended": "Alert closed",
    }
)
read(run_events.asked, Kind.REVIEW_REQUESTED)
read(run_events.joined, Kind.REVIEW_JOINED)
read(run_events.decided, Kind.REVIEW_DECIDED)
read(run_events.reminded, Kind.REVIEW_REMINDED)
read(run_events.escalated, Kind.REVIEW_ESCALATED)
read(run_events.finished, Kind.RUN_FINISHED)
read(batch_messages.finished, Kind.BATCH_FINISHED)
read(notices.ready, Kind.NOTICE_READY)
read(queries.queried, Kind.FINDING_QUERIED)
read(queries.settled, Kind.FINDING_SETTLED)
read(visit_cards.ready, Kind.NOTICE_READY)
send_message.register_tool()
wecom_ids.register(userids.told)
metrics.register()
