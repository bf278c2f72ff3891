"""`manage.py signin_link EMAIL`: a one-time link for a person."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.accounts.actions import FIRST_EMAIL, make_sign_in_link
from apps.accounts.models import User


class Command(BaseCommand):
    """Print a one-time sign-in link; it works once and for two days."""

    help = "Print the path of a one-time sign-in link for a person."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the person's address."""
        parser.add_argument("email", nargs="?", default=FIRST_EMAIL)

    def handle(self, *args: Any, **options: Any) -> None:
        """Print it."""
        user = User.objects.filter(email=options["email"].lower()).first()
        if user is None:
            known = (
                ", ".join(User.objects.values_list("email", flat=True)[:10])
                or "nobody yet"
            )
            raise CommandError(
                f"Nobody has the address {options['email']} (known: {known})."
            )
        self.stdout.write(make_sign_in_link(user))
