"""Addresses that are no page."""

from django.db import connection
from django.http import HttpRequest, JsonResponse


def healthz(request: HttpRequest) -> JsonResponse:
    """Answer 200 if the database counts; for load balancers and `manage.py up`."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM accounts_workspace")
        workspaces = cursor.fetchone()[0]
    return JsonResponse({"ok": True, "workspaces": workspaces})
