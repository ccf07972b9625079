"""The SOP engine: a persisted state machine that runs skills (seed 001, 4; design.md 4)."""

from engines.sop.asking import open_review, waiting_for
from engines.sop.batches import (
    NothingToDo,
    cancel_batch,
    may_cancel_batch,
    start_batch,
    start_together,
)
from engines.sop.drive import drive
from engines.sop.dry import DryRun, DryStep, dry_run
from engines.sop.errors import (
    Fault,
    Inactive,
    NoSuchSubject,
    NotAllowed,
    NotEnded,
    NotShown,
    NotSuspended,
    ReasonRequired,
    SignatureRequired,
    SignatureWrong,
    SopError,
    ValuesChanged,
)
from engines.sop.firing import fire
from engines.sop.reviews import WRONG_STATE, Decision, decide, has_say, reviews_of
from engines.sop.runs import DECIDERS, SopResult, cancel, rerun, result_of, start
from engines.sop.signing import Signature
from skills.services import pick_qc_skill as pick_skill

__all__ = [
    "DECIDERS",
    "WRONG_STATE",
    "Decision",
    "DryRun",
    "DryStep",
    "Fault",
    "Inactive",
    "NoSuchSubject",
    "NotAllowed",
    "NotEnded",
    "NotShown",
    "NotSuspended",
    "NothingToDo",
    "ReasonRequired",
    "Signature",
    "SignatureRequired",
    "SignatureWrong",
    "SopError",
    "SopResult",
    "ValuesChanged",
    "cancel",
    "cancel_batch",
    "decide",
    "drive",
    "dry_run",
    "fire",
    "has_say",
    "may_cancel_batch",
    "open_review",
    "pick_skill",
    "rerun",
    "result_of",
    "reviews_of",
    "start",
    "start_batch",
    "start_together",
    "waiting_for",
]
