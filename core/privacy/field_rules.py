"""Which fields never leave, by the dictionary's flag, by name and by label (redcap_dify.md 5.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.privacy import identifying_fields
from core.privacy.dates import BIRTH_VALUE
from core.privacy.fold_text import simplified


@dataclass(frozen=True)
class FieldRules:
    """`identifiers` are dropped, `births` replaced by the age; `labels`: field -> label, for gene fields."""

    identifiers: frozenset[str]
    births: frozenset[str]
    labels: Mapping[str, str]

    def drops(self, name: str, label: str = "") -> bool:
        """Whether a field never leaves: an identifier by flag, name or label, or genes."""
        base = name.split("___")[0]
        if base in self.identifiers:
            return True
        label = label or self.labels.get(base, "")
        return identifying_fields.identifies(base, label) or identifying_fields.is_gene(base, label)

    def is_birth(self, name: str, label: str, value: Any) -> bool:
        """A field of birth, or a date below a label of one."""
        told = identifying_fields.is_birth(name, label) and BIRTH_VALUE.search(
            simplified(str(value))
        )
        return name in self.births or bool(told)

    def drops_row(self, item: Any) -> bool:
        """A field with its value that does not leave: {"field": "name", "value": …}."""
        if not isinstance(item, Mapping):
            return False
        name = str(item.get("field") or item.get("field_name") or "")
        label = str(item.get("label") or "")
        return self.drops(name, label) or self.is_birth(name, label, item.get("value"))
