"""What the tests of serious events share: the settings, an event of P001, and both sweepers."""

from __future__ import annotations

from typing import Any

from engines import deviations, safety
from engines.models import TaskRun
from engines.sop.events import data_changed
from study import change_handlers, sync
from tests.engines.sop.kit import go, tell
from tests.support.study import Study
from wechat.outbound import safety_notices

TOLD: dict[str, Any] = {
    "serious": "ae_serious",
    "code": "1",
    "known": "ae_start",
    "reports": {"sponsor": {"field": "sae_report_date", "hours": 24}},
}
NEW = "9"


def read(study: Study) -> None:
    """REDCap is read, and what follows from changes is done."""
    sync.sweep(study.project)
    change_handlers.handle_changes(study.project, data_changed)


def enter(study: Study, record: str = "P001", **values: str) -> None:
    """Somebody enters a serious event in REDCap, and it is read."""
    row = {"record": record, "event": "log_arm_1", "instrument": "ae", "instance": int(NEW)}
    told = {"ae_term": "皮疹", "ae_grade": "3", "ae_serious": "1"} | values
    study.stand_ins.post("redcap/records", [row | {"values": told}])
    read(study)


def swept() -> None:
    """Both sweepers, twice: what they do once they do not do again."""
    for _again in range(2):
        safety.sweep()
        for run in TaskRun.objects.filter(triggered_by=safety.ACTOR, status="RUNNING"):
            go(run)
        tell()
        deviations.propose_missing()
        safety_notices.tell_all()


def switched_on(study: Study) -> None:
    """The study is read and its clocks run."""
    read(study)
    safety.switch(project=study.project, told=TOLD, actor="admin")
    swept()
