"""`manage.py ingest`: the same as an upload, through the worker's code, and waits."""

import json
import tempfile
import time
import zipfile
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from django.core.files import File
from django.core.management.base import BaseCommand, CommandError

from apps.accounts.actions import ensure_workspace
from apps.accounts.models import Workspace
from apps.uploads import actions
from apps.uploads.importers import HEAD_BYTES, claimed_groups, detect, readers
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
        uploads = list(_found(options["paths"]))
        try:
            workspace = ensure_workspace(options["workspace"])
        except ValueError as exc:
            raise CommandError(str(exc)) from exc
        files: list[dict[str, Any]] = []
        size = 0
        for found in uploads:
            upload, path = _ingest(workspace, found, options["format"]), found.path
            size += found.size
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


@dataclass(frozen=True, slots=True)
class _Found:
    """What is handed in as one upload: a file, or files that belong together."""

    path: Path
    name: str
    parts: tuple[tuple[str, Path], ...] = ()

    @property
    def size(self) -> int:
        """Bytes on disk."""
        files = [path for _, path in self.parts] or [self.path]
        return sum(path.stat().st_size for path in files)


def _found(paths: list[str]) -> Iterator[_Found]:
    for given in paths:
        path = Path(given)
        if path.is_dir():
            yield from _in_folder(path)
        elif path.is_file():
            yield _Found(path, path.absolute().as_posix())
        else:
            raise CommandError(f"There is no file or folder “{given}”.")


def _in_folder(folder: Path) -> Iterator[_Found]:
    """Give each file of a folder, and each group of files that a reader claims."""
    files = {
        path.relative_to(folder).as_posix(): path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }
    taken: set[str] = set()
    for reader_name, names in claimed_groups(list(files)):
        with files[names[0]].open("rb") as stream:
            ranked = detect(stream.read(HEAD_BYTES))
        if ranked and ranked[0][0] == reader_name and not taken & set(names):
            taken.update(names)
            parts = tuple((name, files[name]) for name in names)
            yield _Found(files[names[0]], names[0], parts)
    for name, path in files.items():
        if name not in taken:
            yield _Found(path, f"{folder.name}/{name}")


def _ingest(workspace: Workspace, found: _Found, format_name: str) -> Upload:
    with ExitStack() as stack:
        if found.parts:
            stream: IO[bytes] = stack.enter_context(tempfile.TemporaryFile())
            with zipfile.ZipFile(stream, "w") as archive:
                for name, path in found.parts:
                    archive.write(path, name)
            stream.seek(0)
        else:
            stream = stack.enter_context(found.path.open("rb"))
        file = File(stream)
        upload = actions.receive(workspace, found.name, file, format_name=format_name)
    ingest_upload(upload)
    upload.refresh_from_db()
    return upload


def _in_words(counts: dict[str, int]) -> str:
    return (
        f"{counts['records']} records: {counts['runs_new']} runs new,"
        f" {counts['runs_updated']} updated, {counts['duplicates']} known already,"
        f" {counts['outcomes']} outcomes, {counts['set_aside']} set aside"
    )
