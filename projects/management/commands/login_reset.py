"""What is done for somebody who lost the telephone, or whose account at the provider is another one now."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from core.house import sessions
from core.house.db import atomic
from projects import audit


class Command(BaseCommand):
    """`manage.py login_reset NAME`."""

    help = "Take second factors and the provider's account from a login, and end its sessions."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The name of the login."""
        parser.add_argument("username")

    def handle(self, *args: Any, **options: Any) -> None:
        """Raises CommandError for a login that is not there."""
        user = User.objects.filter(username=options["username"]).first()
        if user is None:
            raise CommandError("there is no such login")
        with atomic():
            for account in SocialAccount.objects.filter(user=user):
                new = {"issuer": account.extra_data["iss"], "subject": account.extra_data["sub"]}
                audit.record("login.unlinked", actor="command", subject=user, new=new)
                account.delete()
            for factor in Authenticator.objects.filter(user=user):
                factor.delete()
            sessions.end_all(user.pk)
        self.stdout.write(f"{user.get_username()}: no second factor, no linked account, no session")
