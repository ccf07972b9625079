"""Whether a study's models were accepted for it, and what is off until they are (issue 27, O7).

An acceptance is a run of `manage.py accept_model` that was passed and signed. It holds for the endpoints and
prompt versions it was made with. Where REQUIRE_MODEL_ACCEPTANCE is off nothing here bars anything.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from django.conf import settings
from django.utils.timezone import now
from django.utils.translation import gettext as _

from core.house.db import atomic
from core.integrations.llm import PRESETS
from core.llm import prompts
from core.llm.models import LlmCanary, ModelAcceptance
from core.llm.providers import LlmNotConfigured, provider_of
from core.llm.standing import ASK, MET, MODEL_OF, SAY
from projects import audit
from projects.models import Project, Role

SIGNERS = (Role.PI, Role.ADMIN)
PROMPTS = (
    *("ask", "ask_repair", "say"),
    *("react", "react_text", "react_final"),
    *("chat_skill", "hot", "facts", "session"),
)
"""All that a person's question is asked of the models with: also in steps, and what is put around it."""


class State(StrEnum):
    """What stands between a study and answers in the model's choice."""

    NOT_NEEDED = "not needed"
    ACCEPTED = "accepted"
    NEVER = "never"
    CHANGED = "changed"
    FAILED = "failed"
    UNSIGNED = "unsigned"


def endpoints_of(project: Project) -> dict[str, dict[str, str]]:
    """Ability → preset, address and model; no key. {} where none is set up. Raises LlmNotConfigured."""
    found = {}
    for ability, purpose in MODEL_OF.items():
        one = provider_of(project, purpose)
        preset = PRESETS.get(one.preset)
        if preset is None:
            return {}
        address, model = one.base_url or preset.base_url, one.model or preset.model
        found[ability] = {"preset": one.preset, "address": address, "model": model}
    return found


def versions() -> str:
    """The prompts of today by their versions."""
    return ",".join(prompts.version(name) for name in PROMPTS)


def digest_of(content: Any) -> str:
    """SHA-256 of a JSON value, whatever the order of its keys."""
    text = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def fingerprint(endpoints: Mapping[str, Any]) -> str:
    """What an acceptance of these endpoints and today's prompts holds for."""
    return digest_of([dict(endpoints), versions()])


def content_of(row: ModelAcceptance) -> dict[str, Any]:
    """All that was found, of which `digest` is the hash."""
    names = ("fingerprint", "endpoints", "prompts", "cases", "total", "passed", "wrong", "least")
    told = {name: getattr(row, name) for name in (*names, "most_wrong", "by")}
    times = {"started": row.started_at.isoformat(), "ended": row.ended_at.isoformat()}
    return {**told, **times, "project": str(row.project_id)}


def keep(row: ModelAcceptance, actor: object) -> ModelAcceptance:
    """Store a run with its hash, and the hash in the audit trail."""
    row.digest = digest_of(content_of(row))
    with atomic():
        row.save(force_insert=True)
        told = {"passed": row.passed, "of": row.total, "wrong": row.wrong, "sha256": row.digest}
        audit.record("model.accept", actor=actor, project=row.project, subject=row, new=told)
    return row


def sign(row: ModelAcceptance, actor: object, name: str) -> bool:
    """Sign a run that was passed and is as it was stored; False where that is not so, or it is signed.

    The caller has checked who signs. `name`: the login.
    """
    if not row.is_passed or row.digest != digest_of(content_of(row)):
        return False
    with atomic():
        rows = ModelAcceptance.objects.filter(pk=row.pk, signed_at=None)
        if not rows.update(signed_by=name, signed_at=now()):
            return False
        told = {"sha256": row.digest}
        audit.record("model.sign", actor=actor, project=row.project, subject=row, new=told)
    return True


def is_of_today(row: ModelAcceptance) -> bool:
    """Whether the study's endpoints and prompts are those that were asked."""
    return row.fingerprint == _of_today(row.project)


def choosers(project: Project) -> frozenset[str] | None:
    """Endpoints (LlmClient.endpoint) that may choose what an answer shows; None: whichever is asked.

    No second provider and no engines' model of its own: the frozen set was put to neither.
    """
    if not settings.REQUIRE_MODEL_ACCEPTANCE:
        return None
    try:
        one = endpoints_of(project).get(SAY)
    except LlmNotConfigured:
        one = None
    return frozenset({f"{one['address']} {one['model']}"} if one else ())


def state_of(project: Project) -> State:
    """Whether the models of today are accepted: a run is signed, and none since was not passed."""
    return _state(project, _fingerprint(project))


def _state(project: Project, mark: str) -> State:
    if not mark:
        return State.NOT_NEEDED
    rows = ModelAcceptance.objects.filter(project_id=project.pk).defer("cases")
    mine = [*rows.filter(fingerprint=mark)[:20]]
    for row in mine:
        if row.is_passed and row.signed_at:
            return State.ACCEPTED
        if not row.is_passed:
            return State.FAILED if row is mine[0] else State.UNSIGNED
    if mine:
        return State.UNSIGNED
    return State.CHANGED if rows.exclude(signed_at=None).exists() else State.NEVER


def fallen(project: Project) -> LlmCanary | None:
    """The last daily check that says something of today's models, where it was below the bar."""
    return _fallen(project, _fingerprint(project))


def _fallen(project: Project, mark: str) -> LlmCanary | None:
    if not mark:
        return None
    rows = LlmCanary.objects.filter(project_id=project.pk, endpoint=mark)
    last = rows.exclude(met=None).order_by("-day").first()
    return last if last is not None and (last.met or 0) < MET else None


def barred(project: Project) -> frozenset[str]:
    """Abilities that no model of the study is asked for until it is accepted, and checked well again."""
    if not settings.REQUIRE_MODEL_ACCEPTANCE:
        return frozenset()
    mark = _fingerprint(project)
    if _fallen(project, mark):
        return frozenset({ASK, SAY})
    return frozenset() if _state(project, mark) is State.ACCEPTED else frozenset({SAY})


def why_plain(project: Project) -> list[str]:
    """Why answers are plain, and what to do, in the reader's language; [] where they are not."""
    told = []
    command = f"manage.py accept_model --project {project.code}"
    words = {
        State.NEVER: _("this model was not accepted for the study yet; run %s and sign its report"),
        State.CHANGED: _(
            "model, address or prompts changed since the acceptance; run %s and sign its report"
        ),
        State.FAILED: _("the model did not pass its acceptance; choose another one, then run %s"),
    }
    mark = _fingerprint(project)
    state = _state(project, mark)
    if state in words:
        told.append(words[state] % command)
    if state is State.UNSIGNED:
        told.append(_("the acceptance was passed; the PI or a study administrator has to sign it"))
    if canary := _fallen(project, mark):
        about = {"day": canary.day.isoformat(), "met": canary.met}
        told.append(
            _(
                "the daily check of %(day)s got %(met)d of 10 right; unclear questions are asked back "
                "until a check succeeds"
            )
            % about
        )
    return told


def _fingerprint(project: Project) -> str:
    """Of today's endpoints; "" where none is set up, or none has to be accepted."""
    return _of_today(project) if settings.REQUIRE_MODEL_ACCEPTANCE else ""


def _of_today(project: Project) -> str:
    try:
        found = endpoints_of(project)
    except LlmNotConfigured:
        return ""
    return fingerprint(found) if found else ""
