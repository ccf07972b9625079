"""What a run looked at, told with its result: a pass says nothing of what was not checked."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from engines.models import TaskRun
from engines.sop.checks.kinds import GROUPS


def said(run: TaskRun, standing: Collection[str]) -> str:
    """The rules and checks of a run's hard-rule nodes, and which kinds of checks the study runs nowhere.

    `standing`: the standard checks that are on in the study. "" where the run has looked at nothing.
    """
    looked_at = [*_looked_at(run)]
    rules = sum(one.get("rules", 0) for one in looked_at)
    own = {kind for one in looked_at for kind in one.get("checks", ())}
    if not (rules or own):
        return ""
    told = []
    if rules and not any(one.get("findings") for one in looked_at):
        told.append(ngettext("%d rule passed", "%d rules passed", rules) % rules)
    elif rules:
        told.append(ngettext("%d rule checked", "%d rules checked", rules) % rules)
    if own:
        told.append(
            ngettext("%d standard check ran", "%d standard checks ran", len(own)) % len(own)
        )
    off = [str(label) for label, kinds in GROUPS if kinds.isdisjoint({*own, *standing})]
    if off:
        told.append(_("not switched on: %(checks)s") % {"checks": "、".join(off)})
    return _(";").join(told)


def _looked_at(run: TaskRun) -> Iterator[Mapping[str, Any]]:
    for step in run.trace or ():
        detail = step["result"].get("detail")
        if isinstance(detail, dict) and "findings" in detail:
            yield detail
