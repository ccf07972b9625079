"""A text column that is encrypted at rest."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import FieldError
from django.db import models

from projects.crypto import decrypt, encrypt


class EncryptedTextField(models.TextField):
    """Stores AES-GCM ciphertext; a wrong key is an error, a blank stays blank, look-ups are refused.

    A look-up would compare plain text with ciphertext and find nothing: that silence is what we refuse.
    """

    def get_prep_value(self, value: Any) -> Any:
        """Ciphertext of a non-blank value."""
        text = super().get_prep_value(value)
        return encrypt(text) if text else text

    def from_db_value(self, value: str | None, *_: object) -> str | None:
        """The plain text. Raises projects.crypto.DecryptionError."""
        return decrypt(value) if value else value

    def get_lookup(self, lookup_name: str) -> Any:
        """Only `isnull`. Raises FieldError for everything else."""
        if lookup_name == "isnull":
            return super().get_lookup(lookup_name)
        raise FieldError(f"{self.name} is encrypted: it cannot be searched ({lookup_name})")

    def get_transform(self, lookup_name: str) -> Any:
        """None works on ciphertext. Raises FieldError."""
        raise FieldError(f"{self.name} is encrypted: it cannot be searched ({lookup_name})")
