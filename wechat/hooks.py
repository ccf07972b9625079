"""What the channel reads: run events and signals; its actions in the audit trail."""

from __future__ import annotations

from django.utils.translation import gettext_noop as _

from core.house import alone
from engines.sop.run_events import Kind, register_reader
from projects import audit, wecom_ids
from wechat import checks, metrics, receivers, userids  # noqa: F401
from wechat.outbound import alerts, notices, query_cards, visit_cards
from wechat.reviews import batch_messages, run_events

audit.register(
    **{
        "wechat.refused": _("Unknown WeCom user refused"),
        "wechat.decision_refused": _("Decision through WeCom refused"),
        "wechat.click_ignored": _("Click on an unknown card ignored"),
        "wechat.resent": _("Message sent again"),
        "wechat.rated": _("Answer rated"),
        "wechat.mended": _("Alert closed"),
        "wechat.group_bound": _("Group chat bound to a study"),
        "wechat.group_freed": _("Group chat freed"),
        "wechat.group_refused": _("Question in a group refused"),
    }
)
register_reader(run_events.asked, Kind.REVIEW_REQUESTED)
register_reader(run_events.tell_joined, Kind.REVIEW_JOINED)
register_reader(run_events.decided, Kind.REVIEW_DECIDED)
register_reader(run_events.reminded, Kind.REVIEW_REMINDED)
register_reader(run_events.escalated, Kind.REVIEW_ESCALATED)
register_reader(run_events.finished, Kind.RUN_FINISHED)
register_reader(batch_messages.finished, Kind.BATCH_FINISHED)
register_reader(notices.ready, Kind.NOTICE_READY)
register_reader(query_cards.queried, Kind.FINDING_QUERIED)
register_reader(query_cards.settled, Kind.FINDING_SETTLED)
register_reader(visit_cards.ready, Kind.NOTICE_READY)
wecom_ids.register(userids.check_userid)
alone.failed.connect(alerts.sweep_failed)
metrics.register_collector()
