"""Conditions on the one reading that a question names: the latest, the first."""

from __future__ import annotations

from engines.assistant.understand.clause import Setting
from engines.assistant.understand.types import Query, Shape, Slots

_JUDGED = (Shape.LIST, Shape.COUNT, Shape.YES_NO, Shape.GROUPS, Shape.SHARE)


def judged_rows(slots: Slots, setting: Setting) -> list[Query]:
    """最近一次血红蛋白低于110的有谁: who is looked for by a value is by that of the row that is named.

    Of a row that is asked for itself (最近一次超过100是哪天) the condition says which ones are meant.
    """
    if slots.rows not in ("latest", "first") or slots.shape not in _JUDGED:
        return list(slots.where)

    def told(condition: Query) -> Query:
        if "any" in condition:
            return {"any": [told(part) for part in condition["any"]]}
        name = condition.get("field")
        measured = isinstance(name, str) and setting.is_number(name)
        if not measured or setting.repeats(setting.design.form_of(str(name))):
            return condition
        return condition | {"field": {"field": name, "rows": slots.rows}}

    return [told(condition) for condition in slots.where]
