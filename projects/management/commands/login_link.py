"""A link that lets a superuser in once, for where nobody gets in any more."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from projects.login import one_time_link


class Command(BaseCommand):
    """`manage.py login_link NAME`."""

    help = "Print a link that logs a superuser in once, within ten minutes."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The name of the login."""
        parser.add_argument("username")

    def handle(self, *args: Any, **options: Any) -> None:
        """Raises CommandError for whoever is no active superuser."""
        name = options["username"]
        user = User.objects.filter(username=name, is_active=True, is_superuser=True).first()
        if user is None or not user.is_staff:
            raise CommandError(f"{name} is no active superuser with access to the console")
        self.stdout.write(one_time_link.make(user))
