"""Without DEBUG pages name their files by the list that `collectstatic` writes."""

from __future__ import annotations

from django.contrib.staticfiles.storage import ManifestFilesMixin, staticfiles_storage
from django.core.exceptions import ImproperlyConfigured


def require_static_files() -> None:
    """A web process without that list would answer every page with 500. Raises ImproperlyConfigured."""
    storage: object = staticfiles_storage
    if isinstance(storage, ManifestFilesMixin) and storage.read_manifest() is None:
        raise ImproperlyConfigured(
            "The static files are not collected: python manage.py collectstatic --noinput"
        )
