"""Driving a run: chains of local nodes in one transaction, slow work outside of any (design.md 4).

Killing the process at any instant loses nothing: before a commit nothing happened, after it the journal
says where to go on, and a result of slow work that lost its lease is thrown away.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

from django.utils.timezone import now
from django.utils.translation import gettext as _

from core.house.db import atomic
from core.integrations.redcap import RedcapError
from engines.models import TaskRun
from engines.sop import snapshot
from engines.sop.chain import ERROR_END, Chain
from engines.sop.errors import Fault, Overtaken
from engines.sop.lease import claim_run, release, renew
from engines.sop.nodes import execute
from engines.sop.study import Study
from projects.models import Project
from skills.graph import Retry
from study.client import NotConfiguredError

log = logging.getLogger(__name__)
Apply = Callable[[Chain], None]

POISON = 12
"""Trials without progress after which a run fails; more than any node's retries (skills.graph)."""
AFTER_A_BREAK = timedelta(seconds=60)


def drive(run_id: UUID) -> None:
    """Bring a run as far as it goes without a person; safe to call at any time, any number of times."""
    rows = TaskRun.objects.select_related("project", "skill")
    run = rows.filter(pk=run_id, status=TaskRun.Status.RUNNING).first()
    if run is None:
        return
    try:
        chain = _begin(run)
        while chain and chain.goes_on:
            result = _slow(chain)
            # Only now: reading the subject may have renewed the dictionary.
            chain.study = chain.study or load_study(run.project)
            _commit(chain, result)
    except Overtaken:
        log.info("run %s was taken over", run_id)
    except Exception:
        release(run, AFTER_A_BREAK)
        raise


def _begin(run: TaskRun) -> Chain | None:
    """Claim the run and do what is local; None: it is not ours to take.

    The first trial of a new run is one transaction. Every later one commits its claim first, so that a run
    which breaks or kills its worker is counted, and is given up after POISON trials.
    """
    chain = Chain(run)
    if not chain.needs_data:
        chain.study = load_study(run.project)
    if run.fence == 0:
        with atomic():
            return _first(run, chain.study)
    if not claim_run(run):
        return None
    chain = Chain(run, chain.study)
    if run.attempts > POISON:
        message = _("The run made no progress in %d trials.") % POISON
        _commit(chain, lambda chain: chain.fail(message))
    elif not chain.goes_on:
        _commit(chain, lambda chain: None)
    return chain


def _first(run: TaskRun, study: Study | None) -> Chain | None:
    if not claim_run(run):
        return None
    chain = Chain(run, study)
    chain.run_local()
    chain.save()
    return chain


def load_study(project: Project) -> Study | None:
    """What hard rules need; None where the dictionary cannot be read."""
    try:
        return Study.load(project)
    except (RedcapError, NotConfiguredError) as error:
        log.warning("no data dictionary for %s: %s", project.code, error)
        return None


def _slow(chain: Chain) -> Apply:
    """Do the network's part of the next step; what comes back is applied in a transaction."""
    if chain.needs_data:
        return _read(chain)
    run, started = chain.run, now()

    def keep_alive() -> None:
        if not renew(run):
            raise Overtaken

    came = execute(chain.node, run, chain.study, keep_alive)
    return lambda chain: chain.take(came, started)


def _read(chain: Chain) -> Apply:
    started = now()
    try:
        data = snapshot.read_subject(chain.run.project, chain.run.record_id or "")
    except Fault as fault:
        problem = fault
        return lambda chain: chain.fault(problem, Retry(), ERROR_END)

    def apply(chain: Chain) -> None:
        snapshot.keep_in_run(chain.run, data)
        chain.add_step("read", "read", "pass", {"complete": data.complete}, started)
        chain.run.attempts, chain.run.message = 0, ""

    return apply


def _commit(chain: Chain, result: Apply) -> None:
    """Apply a result and what follows locally, if the run is still ours. Raises Overtaken."""
    with atomic():
        chain.hold()
        result(chain)
        chain.run_local()
        chain.save()
