"""What every page's frame needs."""

from typing import Any

from django.http import HttpRequest


def workspace(request: HttpRequest) -> dict[str, Any]:
    """Give the workspace on screen and the others that its person may choose."""
    return {
        "workspace": getattr(request, "workspace", None),
        "membership": getattr(request, "membership", None),
        "memberships": getattr(request, "memberships", []),
    }
