from __future__ import annotations

from typing import Any

import httpx
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from core.integrations.redcap import RedcapError
from demo import runfile, seed, stand_ins
from study import dictionary, roster


class Command(BaseCommand):
    help = "Seeds the demo study (kept when there) and tells the stand-ins about it."

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.DEBUG:
            raise CommandError(_("The demo study exists only with DEBUG."))
        run = runfile.load()
        if stand_ins.are_others(run):
            raise CommandError(stand_ins.taken())
        today = seed.day(run)
        project = seed.seed(run, today)
        run["demo_today"] = today.isoformat()
        run["ports"] = {"web": settings.PORT, "simulators": settings.SIM_PORT}
        run["det_url"] = f"http://127.0.0.1:{settings.PORT}/redcap/det/{project.redcap_det_secret}/"
        try:
            stand_ins.configure(run, det_url=run["det_url"], today=today)
            dictionary.refresh(project)
            roster.sync_roster(project)
            seed.fill(project, today)
        except (httpx.HTTPError, RedcapError) as error:
            self.stderr.write(_("The stand-ins do not answer: %s") % error)
        runfile.save(run)
        self.stdout.write(
            _("The demo study %(code)s is laid around %(day)s.")
            % {"code": project.code, "day": today}
        )
