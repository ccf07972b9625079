from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import BaseCommand
from django.utils.translation import gettext as _

from wechat.selfcheck import check_configuration


class Command(BaseCommand):
    help = (
        "Is WeCom set up: settings, keys, callback, token, address. Exit 1 where something is not."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        failed = False
        for one in check_configuration():
            failed |= not one.ok
            seen = f": {one.seen}" if one.seen else ""
            self.stdout.write(f"{'ok  ' if one.ok else 'FAIL'} {one.name}{seen}")
            if not one.ok and one.remedy:
                self.stdout.write("     -> " + _("what to do") + f": {one.remedy}")
        if failed:
            sys.exit(1)
