"""`manage.py report`: the headline of a workspace."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.accounts.models import Workspace
from apps.overview.report import report


class Command(BaseCommand):
    """Print the share of runs with an error that ended correctly, and its parts."""

    help = "Print the headline of a workspace."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the workspace and the form."""
        parser.add_argument("--workspace", default="default", metavar="SLUG")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print it."""
        workspace = Workspace.objects.filter(slug=options["workspace"]).first()
        if workspace is None:
            known = (
                ", ".join(Workspace.objects.values_list("slug", flat=True))
                or "none yet"
            )
            raise CommandError(
                f"There is no workspace “{options['workspace']}” (known: {known})."
            )
        found = report(workspace)
        if options["json"]:
            self.stdout.write(json.dumps(found, indent=1, ensure_ascii=False))
            return
        self.stdout.write(_in_words(found))


def _in_words(found: dict[str, Any]) -> str:
    rate = found["recovery"]
    if rate["rate"] is None:
        headline = "no run with an error has a known outcome yet"
    else:
        headline = (
            f"{rate['rate']:.1%} of {rate['n']:,} runs with an error still ended"
            f" correctly ({rate['low']:.1%} to {rate['high']:.1%})"
        )
    lines = [
        f"{found['workspace']}: {headline}",
        f"  {found['runs']:,} runs, {found['tool_calls']:,} tool calls,"
        f" {found['tool_errors']:,} tool errors in {found['runs_with_error']:,} runs;"
        f" outcome unknown in {found['with_error']['unknown']:,} of these",
    ]
    for code in found["codes"][:10]:
        known = code["correct"] + code["incorrect"]
        share = f"{code['correct'] / known:.0%}" if known else "–"
        lines.append(
            f"  {code['runs']:>6} runs  {share:>4}  {code['code']}  ({code['tool']})"
        )
    return "\n".join(lines)
