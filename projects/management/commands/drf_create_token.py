"""manage.py drf_create_token (contracts.md, HTTP)."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError
from django.utils.timezone import now

from projects import tokens
from projects.models import ApiToken, TokenScope


class Command(BaseCommand):
    help = "Makes a token for the API and prints it once; only its hash is stored."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")
        parser.add_argument("-r", "--reset", action="store_true", help="revoke the user's others")
        parser.add_argument("--days", type=int, help="how long it is valid; without: until revoked")

        parser.add_argument(
            "--scope",
            action="append",
            choices=TokenScope.values,
            help="what it is for, once for each; without: all that the user may do",
        )

    def handle(
        self,
        *,
        username: str,
        reset: bool,
        days: int | None,
        scope: list[str] | None,
        **options: Any,
    ) -> None:
        user = User.objects.filter(username=username).first()
        if user is None:
            raise CommandError(f"Cannot create the token: user {username} does not exist")
        if days is not None and days < 1:
            raise CommandError("--days is at least 1")
        if reset:
            tokens.revoke(tokens=ApiToken.objects.filter(user=user), actor="command")
        until = now() + timedelta(days=days) if days else None
        scopes = [TokenScope(one) for one in scope] if scope else None
        key = tokens.create(user=user, actor="command", scopes=scopes, expires_at=until)
        self.stdout.write(f"Generated token {key} for user {username}")
