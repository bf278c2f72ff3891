"""`manage.py ingest`: the same as an upload, through the worker's code, and waits."""

import json
import os
import time
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.files import File
from django.core.management.base import BaseCommand, CommandError

from apps.accounts.actions import ensure_workspace
from apps.accounts.models import Workspace
from apps.uploads import actions
from apps.uploads.importers import readers
from apps.uploads.models import Upload, UploadState
from apps.uploads.pipeline import ingest_upload
from apps.uploads.queries import COUNTS, upload_counts


class Command(BaseCommand):
    """Read session exports from disk into a workspace, made if it does not exist."""

    help = "Read session exports (files or folders) into a workspace."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take paths, workspace, format and form."""
        parser.add_argument("paths", nargs="+", metavar="PATH")
        parser.add_argument("--workspace", default="default", metavar="SLUG")
        parser.add_argument(
            "--format", default="", metavar="NAME", choices=["", *readers()]
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        """Read each file; the exit code is 1 if one was refused."""
        began = time.monotonic()
        paths = list(_files(options["paths"]))
        try:
            workspace = ensure_workspace(options["workspace"])
        except ValueError as exc:
            raise CommandError(str(exc)) from exc
        files, size = [], 0
        for path in paths:
            upload = _ingest(workspace, path, options["format"])
            size += upload.size
            counts = upload_counts([upload.pk])[upload.pk]
            files.append({"path": str(path), "format": upload.format, **counts})
            if upload.state == UploadState.REFUSED:
                files[-1]["reason"] = upload.reason
                self.stderr.write(f"{path}: {upload.reason}")
            elif not options["json"]:
                self.stdout.write(f"{path}: {_in_words(counts)}")
        totals = {name: sum(file[name] for file in files) for name in COUNTS}
        if options["json"]:
            seconds = round(time.monotonic() - began, 3)
            result = {
                "files": files,
                "totals": totals,
                "bytes": size,
                "seconds": seconds,
            }
            self.stdout.write(json.dumps(result, indent=1, ensure_ascii=False))
        if any("reason" in file for file in files):
            raise SystemExit(1)


def _files(paths: list[str]) -> Iterator[Path]:
    for given in paths:
        path = Path(given)
        if path.is_dir():
            for folder, folders, names in os.walk(path):
                folders.sort()
                yield from (Path(folder) / name for name in sorted(names))
        elif path.is_file():
            yield path
        else:
            raise CommandError(f"There is no file or folder “{given}”.")


def _ingest(workspace: Workspace, path: Path, format_name: str) -> Upload:
    with path.open("rb") as stream:
        upload = actions.receive(
            workspace, path.name, File(stream), format_name=format_name
        )
    ingest_upload(upload)
    upload.refresh_from_db()
    return upload


def _in_words(counts: dict[str, int]) -> str:
    return (
        f"{counts['records']} records: {counts['runs_new']} runs new,"
        f" {counts['runs_updated']} updated, {counts['duplicates']} known already,"
        f" {counts['outcomes']} outcomes, {counts['set_aside']} set aside"
    )
