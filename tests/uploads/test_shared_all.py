"""Every real file beside the checkout: read to its end, summed, in any order."""

import random
from pathlib import Path

import pytest

from apps.accounts.models import Workspace
from apps.overview.report import report
from apps.runs.models import Run
from apps.uploads.models import Upload, UploadState
from apps.uploads.queries import upload_counts
from tests.conftest import SHARED
from tests.factories import make_workspace, upload_bytes

pytestmark = [pytest.mark.shared, pytest.mark.slow]

FOLDER = SHARED / "sessions"
FILES = sorted(
    path for path in FOLDER.rglob("*") if path.is_file() and path.name != "counts.md"
)


def hand_in(workspace: Workspace, path: Path) -> Upload:
    """Hand in a file under its path, as a folder that is sent keeps it."""
    name = str(path.relative_to(FOLDER))
    return upload_bytes(workspace, path.read_bytes(), name=name)


def figures(workspace: Workspace) -> dict[str, object]:
    return {**report(workspace), "workspace": ""}


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(FOLDER)))
def test_a_file_is_read_to_its_end_and_sums_up(workspace, shared, path):
    upload = hand_in(workspace, path)

    assert (upload.state, upload.reason) == (UploadState.DONE, "")
    found = upload_counts([upload.pk])[upload.pk]
    parts = ("runs_new", "runs_updated", "duplicates", "outcomes", "set_aside")
    assert found["records"] == sum(found[part] for part in parts)
    assert Run.objects.count() == found["runs_new"] == report(workspace)["runs"]
    assert found["tool_errors"] == report(workspace)["tool_errors"]


@pytest.mark.timeout(900)
def test_everything_twice_and_in_another_order_changes_no_figure(db, shared):
    one, other, third = make_workspace(), make_workspace(), make_workspace()
    for path in FILES:
        hand_in(one, path)
    first = figures(one)

    for path in FILES:
        hand_in(one, path)
    for path in reversed(FILES):
        hand_in(other, path)
    for path in random.Random(7).sample(FILES, len(FILES)):
        hand_in(third, path)

    assert figures(one) == first
    assert figures(other) == first
    assert figures(third) == first
