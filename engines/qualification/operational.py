"""Operational qualification: a scripted set through the real code, on an empty database of its own."""

from __future__ import annotations

import secrets
import string
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection
from django.utils.timezone import now
from django.utils.translation import gettext as _

from core.house import audit_guard, crypto
from core.house.db import atomic
from core.integrations.wecom.crypto import Crypt, CryptoError
from core.privacy.gate import Gate
from core.rules.context import StudyContext
from core.rules.rule import rule_list
from core.rules.ruleset import compile_rule_set
from engines.qualification.steps import Outcome, StepFailed, expect, take_steps
from projects import audit, audit_anchors, backup, restoring
from projects.models import AuditEntry, Project
from study.visits.calendar import VisitPlanSpec, plan_windows

_TODAY = date(2026, 3, 1)
_DAYS = {"consent": "2026-01-09", "enrolled": "2026-01-10"}
_RULES: tuple[tuple[Any, Mapping[str, str], str], ...] = (
    ({">=": [{"var": "age"}, 18]}, {"age": "18"}, "PASS"),
    ({">=": [{"var": "age"}, 18]}, {"age": "17"}, "FAIL"),
    ({"<=": [{"var": "age"}, 75]}, {"age": ""}, "UNKNOWN"),
    (
        {"<=": [{"var": "consent"}, {"var": "enrolled"}]},
        _DAYS,
        "PASS",
    ),
    ({">": [{"var": "consent"}, {"var": "enrolled"}]}, _DAYS, "FAIL"),
    ({"in": [{"var": "ecog"}, ["0", "1", "2"]]}, {"ecog": "3"}, "FAIL"),
)
"""A rule, a row, and the verdict that a person gives: a blank decides nothing (seed 001, 2.3)."""
_FIELDS = (
    ("record_id", "text", "", ""),
    ("age", "text", "integer", ""),
    ("consent", "text", "date_ymd", ""),
    ("enrolled", "text", "date_ymd", ""),
    ("ecog", "radio", "", "0, 0 | 1, 1 | 2, 2 | 3, 3"),
)
_PLAN = {
    "timezone": "Asia/Shanghai",
    "anchor_is_day": 1,
    "visits": [
        {
            "visit": "V2",
            "anchor_field": "first",
            "day": 28,
            "minus": 7,
            "plus": 7,
            "date_field": "v2",
        }
    ],
}
_VISITS = (
    ("2026-01-28", "in_window"),
    ("2026-01-20", "early"),
    ("2026-02-05", "late"),
    (None, "overdue"),
)
"""Anchor 2026-01-01 is day 1, so day 28 is 2026-01-28 and the window 01-21 … 02-04 (contracts.md)."""


class NotItsOwn(Exception):
    """The database is not the temporary one: nothing was done."""


def require_own(folder: Path) -> None:
    """Raises NotItsOwn where the database is none below `folder`."""
    name = Path(str(connection.settings_dict["NAME"])).resolve()
    if connection.vendor != "sqlite" or folder.resolve() not in name.parents:
        raise NotItsOwn(str(name))


def outcomes(folder: Path) -> list[Outcome]:
    """Each step; all data stands below `folder`. Raises NotItsOwn where the database stands elsewhere."""
    require_own(folder)
    return take_steps(
        [
            ("encryption", _("A sealed text comes back, a changed one is refused"), _encryption),
            ("audit", _("The audit trail refuses changes, and a forced one is found"), _audit),
            ("rules", _("Verdicts of rules on known cases"), _rules),
            ("visits", _("Visit windows on known dates"), _visits),
            ("privacy", _("Identifiers do not pass the gate"), _privacy),
            ("callback", _("A genuine callback is opened, a forged one refused"), _callback),
            ("backup", _("A backup is restored with all its rows"), lambda: _backup(folder)),
        ]
    )


def _encryption() -> str:
    sealed = crypto.encrypt("受试者 0001")
    expect(crypto.decrypt(sealed) == "受试者 0001" and "0001" not in sealed, "round trip")
    last = "A" if sealed[-6] != "A" else "B"
    try:
        crypto.decrypt(sealed[:-6] + last + sealed[-5:])
    except crypto.DecryptionError:
        return "AES-GCM"
    raise StepFailed("a changed text was opened")


def _audit() -> str:
    for _number in range(3):
        with atomic():
            audit.record("project.change", actor="qualification")
    audit_anchors.take()
    expect(not [*audit.verify()], "faults before any change")
    mine = AuditEntry.objects.filter(actor="qualification")
    try:
        mine.update(action="login")
    except DatabaseError:
        pass
    else:
        raise StepFailed("the database let an entry be changed")
    audit_guard.remove(connection)
    first = mine.order_by("number").first()
    expect(first is not None, "no entry")
    AuditEntry.objects.filter(pk=first.pk if first else 0).update(action="login")
    found = [*audit.verify()]
    AuditEntry.objects.filter(pk=first.pk if first else 0).update(action="project.change")
    audit_guard.install(connection)
    expect([one.what for one in found] == ["changed"], "the change was not found")
    return f"{found[0].chain} {found[0].number}: {found[0].what}"


def _rules() -> str:
    names = ("field_name", "field_type", "text_validation_type_or_show_slider_number")
    dictionary = [
        dict(zip((*names, "select_choices_or_calculations"), row, strict=True)) | {"form_name": "f"}
        for row in _FIELDS
    ]
    context = StudyContext.build(dictionary, None)
    wrong = []
    for logic, row, wanted in _RULES:
        rules = compile_rule_set(
            rule_list([{"field": "age", "logic": logic, "message": "m"}]), context
        )
        [result] = rules.evaluate("1", [{"record_id": "1", **row}], _TODAY)
        found = str(result.as_dict()["outcome"])
        wrong += [f"{logic} {row}: {found}"] if found != wanted else []
    expect(not wrong, "; ".join(wrong))
    return _("%(count)s cases") % {"count": len(_RULES)}


def _visits() -> str:
    plan = VisitPlanSpec.model_validate(_PLAN)
    wrong = []
    for actual, wanted in _VISITS:
        [state] = plan_windows(plan, {"first": "2026-01-01", "v2": actual}, today=_TODAY)
        found = str(state.as_json("1")["state"])
        wrong += [f"{actual}: {found}"] if found != wanted else []
    expect(not wrong, "; ".join(wrong))
    return _("%(count)s cases") % {"count": len(_VISITS)}


def _privacy() -> str:
    given = ("13800138000", "11010519491231002X", "someone@example.org")
    sent = Gate(()).text("随访电话 {}，身份证 {}，邮箱 {}".format(*given))
    passed = [str(number) for number, one in enumerate(given, 1) if one in sent]
    expect(not passed, ", ".join(passed))
    return str(sent)


def _callback() -> str:
    token, letters = secrets.token_hex(8), string.ascii_letters + string.digits
    key = "".join(secrets.choice(letters) for _place in range(42)) + "A"
    house = Crypt(token, key, "corp")
    sealed = house.encrypt("<xml>你好</xml>".encode())
    signed = house.sign("1700000000", "nonce", sealed)
    expect(house.is_signed(signed, "1700000000", "nonce", sealed), "a genuine one was refused")
    expect(house.decrypt(sealed).decode() == "<xml>你好</xml>", "the message came back changed")
    expect(not house.is_signed(signed, "1700000001", "nonce", sealed), "a forged one passed")
    try:
        Crypt(token, key, "another corp").decrypt(sealed)
    except CryptoError:
        return "SHA-1, AES-CBC"
    raise StepFailed("a message for another corp was opened")


def _backup(folder: Path) -> str:
    code = "QUALIFICATION"
    with atomic():
        Project.objects.create(code=code, name="验证", start_date=now().date())
    made = backup.back_up(folder / "backup.tar.gz")
    with atomic():
        Project.objects.filter(code=code).update(name="")
    restoring.restore(folder / "backup.tar.gz", replace=True)
    kept = Project.objects.filter(code=code).values_list("name", flat=True).first()
    expect(kept == "验证", "the row did not come back")
    expect(not [*audit.verify()], "the audit trail does not hold after it")
    expect(
        Path(settings.VAR_DIR).resolve() in (folder.resolve(), *folder.resolve().parents), "VAR_DIR"
    )
    return _("%(count)s tables") % {"count": len(made.tables)}
