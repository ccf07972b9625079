"""The desk's two pages: the queue, and one review with what it rests on; deciding leads to the next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods

from core.integrations.redcap import RedcapError
from engines import labels, sop
from engines.models import PendingAction, Review
from engines.pages import decisions
from engines.pages.evidence import column_named, evidence, fields_read, place_of
from engines.pages.layout import paged, render_page
from engines.pages.subject import work_rows
from engines.sop.brief import kept_brief
from engines.sop.order_run import may_take_back, take_back
from projects import reads, switcher
from projects.access import member_in
from projects.models import Project, Role
from projects.scoping import User, held
from skills.drawing import draw
from skills.graph import Graph, is_end
from study import dictionary, door
from study.client import NotConfiguredError
from study.facts import Fact
from study.metadata import StudyMetadata

MOST = 1000
"""More reviews than this are not ordered on one page; the oldest come first anyway."""
_GRAVITY = [*PendingAction.Severity.values, ""]
"""The worst first; "" of a review that is about no open finding."""


QUEUE, PAGE = "admin:engines_review_desk", "admin:engines_review_desk_page"
CLOSED = "admin:engines_review_change"
MOST_SIGNS = 24
"""Of an instruction on a button."""
_BRIEFLY = {Review.Door.CARD, Review.Door.TEXT}
"""Where the evidence alone was shown, not the values beside it."""


@dataclass(frozen=True)
class Waiting:
    """One row of the queue, with the severities of its open findings, the worst first."""

    review: Review
    severities: Sequence[str]
    may_decide: bool

    @property
    def severity(self) -> str:
        """The worst; "" where it is about none."""
        return next(iter(self.severities), "")

    @property
    def colour(self) -> str:
        """Of the tag that tells how grave it is."""
        return {"error": "danger", "warning": "warning"}.get(self.severity, "info")

    @property
    def severity_label(self) -> str:
        """For the reader."""
        return str(dict(PendingAction.Severity.choices).get(self.severity, ""))

    @property
    def skill(self) -> str:
        """What the workflow that asks is called."""
        skill = self.review.task_run.skill
        return skill.name or skill.skill_type


class Filters(NamedTuple):
    """What an address narrows the queue to: a project's code, a workflow's type; `all`: others' reviews too."""

    project: str = ""
    skill: str = ""
    all: str = ""

    @classmethod
    def of(cls, given: Mapping[str, str]) -> Filters:
        """From the query of an address."""
        return cls(
            given.get("project", ""), given.get("skill", ""), "1" * (given.get("all") == "1")
        )

    def keeps(self, row: Waiting) -> bool:
        """Whether the row is shown."""
        return (
            self.project in ("", row.review.project.code)
            and self.skill in ("", row.review.task_run.skill.skill_type)
            and (bool(self.all) or row.may_decide)
        )

    @property
    def query(self) -> str:
        """The part of an address from "?" on; "" where nothing is narrowed."""
        text = urlencode({name: value for name, value in self._asdict().items() if value})
        return f"?{text}" if text else ""


def waiting(user: User, study: Project | None = None) -> list[Waiting]:
    """Every open review that `user` may see (`study`: of this one only), in the order of the desk.

    Who may decide is told by role alone; the decision itself also looks at the site and at four eyes.
    """
    reviews = Review.objects.for_user(user).filter(status=Review.Status.OPEN)
    reviews = reviews.filter(project=study) if study else reviews
    reviews = reviews.select_related("project", "task_run__skill").order_by("created_at", "pk")
    reviews = reviews.defer(
        "values", "brief", "task_run__data", "task_run__config", "task_run__skill__config"
    )
    rows = [*reviews[:MOST]]
    keys = {key for one in rows for key in one.open_keys}
    found = PendingAction.objects.filter(open_key__in=keys).order_by()
    severity = {str(key): worst for key, worst in found.values_list("open_key", "severity")}
    everything = bool(getattr(user, "is_superuser", False))
    mine = [] if everything else held(user)
    told = [
        Waiting(
            one,
            sorted((severity[k] for k in one.open_keys if k in severity), key=_GRAVITY.index),
            everything or any(m.project_id == one.project_id and one.asks(m) for m in mine),
        )
        for one in rows
    ]
    return sorted(told, key=lambda row: _GRAVITY.index(row.severity))


def neighbours(rows: Sequence[Waiting], pk: int) -> tuple[Waiting | None, Waiting | None]:
    """What comes before `pk` (None at the top) and after it, from the top where that was the last."""
    here = next((n for n, row in enumerate(rows) if row.review.pk == pk), -1)
    others = [*rows[here + 1 :], *rows[: max(here, 0)]]
    return (rows[here - 1] if here > 0 else None), next(iter(others), None)


def chips(chosen: Filters, rows: Iterable[Waiting]) -> list[dict[str, Any]]:
    """The filters of the queue, each with its count and the address that chooses it."""
    rows = [*rows]
    shown = [row.review for row in rows if chosen.all or row.may_decide]
    projects = Counter(one.project.code for one in shown)
    skills = Counter(one.task_run.skill.skill_type for one in shown)
    names = {row.review.task_run.skill.skill_type: row.skill for row in rows}
    found = [(_("All"), len(shown), Filters(all=chosen.all))]
    if len(projects) > 1:
        found += [(code, n, chosen._replace(project=code)) for code, n in sorted(projects.items())]
    found += [(names[kind], n, chosen._replace(skill=kind)) for kind, n in sorted(skills.items())]
    made = [
        {"label": label, "count": count, "query": to.query or "?", "on": to == chosen}
        for label, count, to in found
    ]
    if others := sum(not row.may_decide for row in rows):
        to = chosen._replace(all="" if chosen.all else "1")
        label = _("Those that others decide")
        made.append(
            {"label": label, "count": others, "query": to.query or "?", "on": bool(chosen.all)}
        )
    return made


@require_GET
def queue_view(request: HttpRequest) -> HttpResponse:
    """What waits, with its filters and counts."""
    chosen, everything = Filters.of(request.GET), _waiting(request)
    return render_page(
        request,
        "engines/desk/queue.html",
        _("Review desk"),
        Review,
        filters=chips(chosen, everything),
        query=chosen.query,
        rows=paged(request, [row for row in everything if chosen.keeps(row)]),
    )


def _waiting(request: HttpRequest) -> list[Waiting]:
    """What waits in the study that the reader has turned to, where the address names none."""
    return waiting(request.user, None if "project" in request.GET else switcher.chosen(request))


@sensitive_post_parameters("password")
@require_http_methods(["GET", "POST"])
def review_view(request: HttpRequest, pk: int) -> HttpResponse:
    """One open review; a decision leads to the next one of the same filters."""
    reviews = Review.objects.for_user(request.user).select_related("project", "task_run__skill")
    review = get_object_or_404(reviews, pk=pk)
    chosen = Filters.of(request.GET)
    rows = [row for row in _waiting(request) if chosen.keeps(row)]
    if "take_back" in request.POST:
        return _taken_back(request, review)
    if request.method == "POST":
        if decisions.decide_posted(request, review):
            return _to_next(request, rows, pk, chosen)
        review = reviews.get(pk=pk)  # refused, perhaps because it is asked anew
    if review.status != Review.Status.OPEN:
        return redirect(CLOSED, pk)
    about = [review.record_id] if review.record_id else []
    reads.note(actor=request.user, project=review.project_id, record_ids=about, door="console")
    before, after = neighbours(rows, pk)
    return render_page(
        request,
        "engines/desk/review.html",
        review.question,
        Review,
        **_context(request, review),
        query=chosen.query,
        place=next((n for n, row in enumerate(rows, 1) if row.review.pk == pk), 0),
        total=len(rows),
        next=after,
        previous=before,
    )


def closed(request: HttpRequest, review: Review) -> dict[str, Any]:
    """What the page of a decided review shows beside its fields."""
    user: Any = request.user
    shown = evidence(review) if kept_brief(review) else None
    decided = (Review.Status.APPROVED, Review.Status.REJECTED)
    verbs = dict(zip(decided, shown.verbs, strict=True)) if shown else {}
    return {
        "review": review,
        "evidence": shown,
        "deed": verbs.get(Review.Status(review.status), ""),
        "rows": decisions.review_rows(review) if review.door not in _BRIEFLY else [],
        "may_take_back": may_take_back(user, review),
        "must_sign": review.project.requires_signature,
        "reopens": PendingAction.objects.filter(review=review, open_key__isnull=True).count(),
    }


def _taken_back(request: HttpRequest, review: Review) -> HttpResponse:
    """Repeat the run of the person's own decision; leads to the question that it asks."""
    user: Any = request.user
    reason, signature = request.POST.get("reason", ""), decisions.signature(request)
    again = decisions.attempt(
        request,
        lambda: take_back(review=review, actor=user, reason=reason, signature=signature),
        str(review),
    )
    if again is None:
        return redirect(CLOSED, review.pk)
    messages.success(request, _("%s: the decision is taken back.") % review)
    asked = sop.open_review(again)
    return redirect(PAGE, asked.pk) if asked else redirect(decisions.RUN, again.pk)


def _to_next(
    request: HttpRequest, rows: Sequence[Waiting], pk: int, chosen: Filters
) -> HttpResponse:
    mine = [row for row in rows if row.may_decide or row.review.pk == pk]
    _before, following = neighbours(mine, pk)
    if following is None:
        messages.info(request, _("That was the last review that waited for you."))
        return redirect(reverse(QUEUE) + chosen.query)
    return redirect(reverse(PAGE, args=[following.review.pk]) + chosen.query)


def _context(request: HttpRequest, review: Review) -> dict[str, Any]:
    run, metadata = review.task_run, dictionary.load(review.project)
    shown = decisions.review_context(review)
    grounds = shown["evidence"].grounds
    hits = fields_read(grounds, metadata)
    values = shown["rows"]
    user: Any = request.user
    return {
        **shown,
        "run": run,
        "changed": _since_asked(review, user, metadata),
        "hits": hits,
        "rows": [row for row in values if row["field"] in hits or row.get("before")],
        "others": [row for row in values if row["field"] not in hits and not row.get("before")],
        "waiting": sop.waiting_for(review).exclude(pk=run.pk),
        "consequences": _consequences(review, sum(one.is_open for one in grounds)),
        "drawing": draw(run.config),
        "past": set(run.steps.values_list("node", flat=True)) - {review.node},
        "here": review.node,
        "may_decide": sop.has_say(user, review),
        "must_sign": review.project.requires_signature,
        "reason": request.POST.get("reason", ""),
        "reasons": decisions.reasons(),
        "who": "、".join(str(Role(role).label) for role in review.reviewers if role in Role),
    }


def _consequences(review: Review, findings: int) -> dict[str, str]:
    """What each button causes: where the run goes, and what becomes of `findings` open findings.

    As `Chain.settle` does it.
    """
    run, graph = review.task_run, Graph.model_validate(review.task_run.config)
    told = {
        "approve": _goes_to(graph, run.resume_callback or ""),
        "reject": _goes_to(graph, run.reject_callback or ""),
    }
    if not findings:
        return told
    closes = ngettext("closes %d finding", "closes %d findings", findings) % findings
    keeps = ngettext(
        "%d finding stays open as confirmed", "%d findings stay open as confirmed", findings
    )
    then = {"approve": closes, "reject": keeps % findings}
    both = _("%(first)s; %(second)s")
    return {name: both % {"first": told[name], "second": then[name]} for name in told}


def _goes_to(graph: Graph, target: str) -> str:
    if is_end(target):
        return _("ends the run: %s") % labels.name(labels.ENDS, target)
    node = graph.nodes.get(target)
    if node is None:
        return _("the run goes on")
    what = node.description or Truncator(node.instruction).chars(MOST_SIGNS)
    return _("the run goes on: %s") % (what or labels.name(labels.NODES, node.type))


def _since_asked(review: Review, user: User, metadata: StudyMetadata) -> list[dict[str, Any]]:
    """What changed in the subject since the review asked, as the reader may know it, newest first.

    `at`: when it was read, in the project's zone. REDCap is not asked: a decision does that.
    """
    if not review.record_id:
        return []
    project, zone = review.project, ZoneInfo(review.project.timezone)
    asked = review.created_at.astimezone(zone).replace(tzinfo=None, microsecond=0)
    query = {
        "subjects": [review.record_id],
        "select": [f"@changes.{name}" for name in ("field", "from", "to", "at")],
        "where": [{"field": "@changes.at", "op": ">=", "value": f"{asked:%Y-%m-%d}"}],
    }
    member = member_in(user, project.pk)
    try:
        (answer,) = door.ask_all(project, member, [query], user=user, fresh=False)
    except (RedcapError, NotConfiguredError):
        return []
    told = [_changed(row, metadata) for row in work_rows(answer.facts)]
    later = [one for one in told if one["at"] >= asked]
    return sorted(later, key=lambda one: one["at"], reverse=True)


def _changed(row: dict[str, Fact], metadata: StudyMetadata) -> dict[str, Any]:
    fact = row["field"]
    _field, _code, label = column_named(metadata, fact.text)
    return {
        "label": label,
        "place": place_of(metadata, fact.event, "", fact.instance),
        "before": row["from"].text or "-",
        "after": row["to"].text or "-",
        "at": datetime.fromisoformat(str(row["at"].value or row["at"].text)),
    }
