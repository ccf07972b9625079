"""The form fields of one API call (reference/redcap_dify.md 1.1)."""

from __future__ import annotations

import re

from demo.simulators.http import Request
from demo.simulators.redcap.errors import not_an_array

FORMATS = ("json", "csv", "xml", "odm")
DELIMITERS = {"tab": "\t", "\t": "\t", ";": ";", "|": "|", "^": "^"}


class Params:
    """Case-sensitive parameters; lists come as `records[0]=1`, `records[]=1` or `records=1,2`."""

    def __init__(self, request: Request, comma_strings: str = "accept") -> None:
        self._form = request.form()
        self._comma_strings = comma_strings

    def get(self, name: str, default: str = "") -> str:
        """The last value of a scalar parameter."""
        return self._form.get(name, [default])[-1]

    def has(self, name: str) -> bool:
        """Whether the parameter was sent at all."""
        return name in self._form

    def flag(self, name: str) -> bool:
        """True for `true` and `1`, however written (PyCap sends `True`)."""
        return self.get(name).strip().lower() in ("true", "1")

    def items(self, name: str) -> list[str]:
        """A list parameter, in the order sent. Raises ApiError 400 where arrays are demanded."""
        pattern = re.compile(rf"{re.escape(name)}\[[^\]]*\]")
        values = [v for key, vs in self._form.items() if pattern.fullmatch(key) for v in vs]
        whole = self.get(name)
        if whole and self._comma_strings == "reject":
            raise not_an_array(name)
        values += [part.strip() for part in whole.split(",")]
        return [value for value in values if value]

    def widens_bad_forms(self) -> bool:
        """REDCap 9.5: an unknown form inside a comma string made it export all forms."""
        return self._comma_strings == "lenient" and bool(self.get("forms"))

    @property
    def format(self) -> str:
        """json, csv, xml or odm; default xml."""
        value = self.get("format").lower()
        return value if value in FORMATS else "xml"

    @property
    def error_format(self) -> str:
        """returnFormat, else format, else xml."""
        value = self.get("returnFormat").lower() or self.get("format").lower()
        return value if value in ("json", "csv") else "xml"

    @property
    def delimiter(self) -> str:
        """The csv delimiter."""
        return DELIMITERS.get(self.get("csvDelimiter"), ",")
