"""Settings, Celery app, URLs and health of IIT Manager."""

from iit_manager.celery import app as celery_app

__all__ = ["celery_app"]
