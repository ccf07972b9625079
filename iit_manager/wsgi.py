"""WSGI entry point for gunicorn."""

import os
from io import StringIO

from django.core.management import call_command
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "iit_manager.settings")
application = get_wsgi_application()
# A server runs no checks of its own: one with demo or missing secrets must not start (contracts.md).
call_command("check", stdout=StringIO(), stderr=StringIO())
