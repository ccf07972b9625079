"""What came of it: lost, doubled and wrongly clean, the audit trail, leases and queues."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

from demo.planted import PLANTED
from tests.bench._soak_load import Seen
from tests.bench.soak import judge as judge_questions
from tests.chaos._house import Chaos
from tests.chaos._work import Work

LEASES = ("lease_until", "drained_until")
PASSED = "end_success"


def drain(limit_s: float) -> float:
    """Seconds until nothing is under way, at most `limit_s`."""
    from django.db import DatabaseError, connections

    start = time.monotonic()
    while time.monotonic() - start < limit_s:
        try:
            if not any(under_way().values()):
                break
        except DatabaseError:
            connections.close_all()
        time.sleep(1)
    return time.monotonic() - start


def under_way() -> dict[str, int]:
    """Messages, runs and leases that are not done, and what lies in the queues."""
    from engines.models import TaskRun
    from wechat.models import InboxMessage, OutboxMessage

    return {
        "questions unanswered": InboxMessage.objects.filter(
            status__in=InboxMessage.UNFINISHED
        ).count(),
        "messages unsent": OutboxMessage.objects.filter(status__in=OutboxMessage.UNSENT).count(),
        "runs under way": TaskRun.objects.filter(status=TaskRun.Status.RUNNING).count(),
        "leases held": leases(),
        "tasks queued": queued(),
    }


def leases() -> int:
    """Rows that some process has claimed, in any table."""
    from django.apps import apps
    from django.utils.timezone import now

    return sum(
        model._default_manager.filter(**{f"{field.name}__gt": now()}).count()
        for model in apps.get_models()
        for field in model._meta.concrete_fields
        if field.name in LEASES
    )


def queued() -> int:
    """Messages in the broker, those that a worker has taken and not acknowledged among them."""
    import redis
    from django.conf import settings

    with redis.Redis.from_url(settings.REDIS_URL) as client:
        return sum(client.llen(name) for name in settings.CELERY_TASK_QUEUES)


def unseen_changes(work: Work) -> list[str]:
    """Subjects whose data were made wrong and of whom no finding tells."""
    from engines.models import PendingAction

    told = PendingAction.objects.filter(rule_key="EL03", open_key__isnull=False)
    return sorted({*work.changed} - {*told.values_list("record_id", flat=True)})


def wrongly_clean() -> list[str]:
    """Ended runs over a planted fault that passed without a person's word, or told nothing of it."""
    from engines.models import PendingAction, Review, TaskRun

    found = []
    approved = {
        *Review.objects.filter(status=Review.Status.APPROVED).values_list("record_id", flat=True)
    }
    for one in PLANTED:
        runs = TaskRun.objects.filter(
            record_id=one.subject, skill__skill_type=one.skill, status=TaskRun.Status.COMPLETED
        )
        passed = [
            run
            for run in runs.filter(final_state=PASSED)
            if one.subject not in approved or not _follows_approval(run)
        ]
        told = PendingAction.objects.filter(record_id=one.subject, rule_key=one.rule)
        if passed or (one.rule and runs.exists() and not told.exists()):
            found.append(f"{one.subject} {one.rule or one.what}")
    return found


def _follows_approval(run: Any) -> bool:
    """Whether a person let it pass: in its own review, one that it joined, or one that stands."""
    from engines.models import Review

    approved = Review.Status.APPROVED
    return any(step["result"].get("outcome") == approved for step in run.trace or ())


def doubled_deeds() -> list[str]:
    """Reviews with two decisions, messages with two rows of one key, facts with two open findings."""
    from django.db.models import Count

    from engines.models import Review
    from projects.models import AuditEntry
    from wechat.models import OutboxMessage

    actions = ("review.approve", "review.reject")
    decisions = Counter(
        AuditEntry.objects.filter(action__in=actions).values_list("object_id", flat=True)
    )
    twice = [f"review {key}" for key, count in decisions.items() if count > 1]
    open_twice = (
        Review.objects.filter(status=Review.Status.OPEN)
        .order_by()
        .values("task_run")
        .annotate(n=Count("pk"))
        .filter(n__gt=1)
    )
    keys = OutboxMessage.objects.order_by().values("key").annotate(n=Count("pk")).filter(n__gt=1)
    return twice + [f"run {row['task_run']}" for row in open_twice] + [row["key"] for row in keys]


def verdict(house: Chaos, seen: Seen, sent: list[dict[str, Any]], work: Work) -> dict[str, Any]:
    """The figures that must be 0, and what was counted beside them."""
    from engines.models import Review, TaskRun
    from projects import audit_watch
    from wechat.models import InboxMessage

    questions = judge_questions(sent)
    stored = InboxMessage.objects.filter(from_user__startswith="soak").count()
    orders = TaskRun.objects.filter(pk__in=work.orders).count()
    decided = Review.objects.filter(pk__in=work.decided).exclude(status=Review.Status.OPEN).count()
    lost = {
        "questions": questions["lost (never answered)"] + max(0, len(seen.acknowledged) - stored),
        "orders": len(work.orders) - orders,
        "decisions": len({*work.decided}) - decided,
    }
    named = [f"{kind} {count}" for kind, count in lost.items() if count]
    clean, unseen = wrongly_clean(), unseen_changes(work)
    doubles = doubled_deeds()
    return {
        "zero": {
            "lost": sum(lost.values()),
            "doubled": questions["doubled (arrived twice, no mark)"] + len(doubles),
            "wrongly clean": len(clean),
            "changes without a finding": len(unseen),
            "faults of the audit trail": len([*audit_watch.verify()]),
            **under_way(),
        },
        "told": {
            "questions accepted / stored": f"{len(seen.acknowledged)} / {stored}",
            "answered exactly once": questions["answered exactly once"],
            "possible duplicates, marked": questions["possible duplicates, marked (apart)"],
            "orders confirmed": len(work.orders),
            "decisions confirmed": len(work.decided),
            "data changed": len(work.changed),
            "refused, nothing promised": dict(work.refused),
            "named": ", ".join([*named, *doubles, *clean, *unseen]) or "-",
        },
    }
