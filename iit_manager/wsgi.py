"""WSGI entry point for gunicorn."""

import os
import sys
from io import StringIO

from django.core.management import call_command
from django.core.wsgi import get_wsgi_application

from iit_manager.serving import TextCharset, require_static_files

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "iit_manager.settings")
_django = get_wsgi_application()
# A server runs no checks of its own: one with demo or missing secrets must not start (contracts.md).
call_command("check", stdout=StringIO(), stderr=StringIO())
require_static_files()

from core.house.gc_tuning import freeze_loaded  # noqa: E402
from engines.assistant.read.offline import detect  # noqa: E402 - Django first

detect("入组了吗?")  # compiles its patterns now: WeCom's first callback does not wait for them
# A thread that comes back from the database waits so long for its turn, at each of its trips.
sys.setswitchinterval(0.0005)
freeze_loaded()
application = TextCharset(_django)
