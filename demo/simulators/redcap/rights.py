"""Tokens, their users and what they may see (reference/redcap_dify.md 1.2, 1.6, 1.13)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from demo.simulators.redcap.dictionary import Dictionary, Field
from demo.simulators.redcap.errors import NO_API, NO_EXPORT, NO_IMPORT, ApiError
from demo.simulators.redcap.store import Record

EXPORT_LEVELS = {"none": 0, "full": 1, "deidentified": 2, "identifiers_removed": 3}
_FLAGS = (
    *("design", "user_rights", "data_access_groups", "reports", "stats_and_charts"),
    *("calendar", "logging", "record_create"),
)


@dataclass(frozen=True)
class Token:
    """One token = one user of the project, as POST /_control/configure describes it."""

    token: str
    user: str
    export: str = "full"
    dag: str = ""
    api_export: bool = True
    api_import: bool = False
    logging: bool = True
    record_delete: bool = True
    hidden_forms: frozenset[str] = field(default_factory=frozenset)

    @staticmethod
    def parse(row: dict[str, Any], users: list[dict[str, Any]]) -> Token:
        """From the configuration; form rights of 0 come from the study's users.json."""
        if row.get("export", "full") not in EXPORT_LEVELS:
            raise ValueError(f"export must be one of {', '.join(EXPORT_LEVELS)}")
        known = next((user for user in users if user.get("username") == row["user"]), {})
        forms = known.get("forms_export") or {}
        return Token(
            token=row["token"],
            user=row["user"],
            export=row.get("export", "full"),
            dag=row.get("dag") or "",
            api_export=bool(row.get("api_export", True)),
            api_import=bool(row.get("api_import", False)),
            logging=bool(row.get("logging", True)),
            record_delete=bool(row.get("record_delete", True)),
            hidden_forms=frozenset(form for form, level in forms.items() if int(level) == 0),
        )

    def sees(self, record: Record) -> bool:
        """A user in a group sees that group's records only."""
        return self.dag in ("", record.dag)

    def may_export(self, item: Field, record_id: str) -> bool:
        """Whether the field's columns are there at all; hidden ones vanish without an error.

        De-identified: no identifiers, unvalidated text, notes, dates, survey times.
        """
        if item.name == record_id:
            return True
        if item.form in self.hidden_forms:
            return False
        if self.export == "full":
            return True
        if item.identifier:
            return False
        return self.export != "deidentified" or not _gives_away(item)


def _gives_away(item: Field) -> bool:
    if item.type in ("notes", "timestamp"):
        return True
    free_or_date = not item.validation or item.validation.startswith("date")
    return item.type == "text" and free_or_date


class Access:
    """All tokens of the project."""

    def __init__(self) -> None:
        self._tokens: dict[str, Token] = {}

    def replace(self, tokens: list[Token]) -> None:
        """Take a new list; tokens not in it stop working."""
        self._tokens = {token.token: token for token in tokens}

    def authenticate(self, value: str) -> Token:
        """The token's user. Raises ApiError 403 for a wrong, empty or missing token."""
        token = self._tokens.get(value)
        if token is None or not (token.api_export or token.api_import):
            raise ApiError(403, NO_API)
        return token

    def by_user(self) -> dict[str, Token]:
        """The tokens by user name."""
        return {token.user: token for token in self._tokens.values()}


def require_export(token: Token, *, data: bool) -> None:
    """403 without the API Export right; for data also with export level "none"."""
    if not token.api_export or (data and token.export == "none"):
        raise ApiError(403, NO_EXPORT)


def require_import(token: Token) -> None:
    """403 without the API Import right."""
    if not token.api_import:
        raise ApiError(403, NO_IMPORT)


def user_rows(dictionary: Dictionary, access: Access) -> list[dict[str, Any]]:
    """content=user: users.json, with the rights of configured tokens on top."""
    rows = {row["username"]: dict(row) for row in dictionary.study.users}
    for row in rows.values():
        row.pop("export", None)
    for name, token in access.by_user().items():
        rows[name] = _user_row(rows.get(name, {}), token, dictionary)
    return list(rows.values())


def _user_row(known: dict[str, Any], token: Token, dictionary: Dictionary) -> dict[str, Any]:
    blank = dict.fromkeys(("email", "firstname", "lastname", "expiration"), "")
    level = EXPORT_LEVELS[token.export]
    group = next((d for d in dictionary.study.dags if d["unique_group_name"] == token.dag), {})
    return {
        "username": token.user,
        **blank,
        **dict.fromkeys(_FLAGS, 0),
        "forms": dict.fromkeys(dictionary.forms, 1),
        **known,
        "data_access_group": token.dag,
        "data_access_group_id": group.get("data_access_group_id", ""),
        "data_access_group_label": group.get("data_access_group_name", ""),
        "logging": int(token.logging),
        "api_export": int(token.api_export),
        "api_import": int(token.api_import),
        "record_delete": int(token.record_delete),
        "forms_export": {
            form: 0 if form in token.hidden_forms else level for form in dictionary.forms
        },
    }
