"""Reads of the registry of tools."""

from dataclasses import dataclass

from django.db.models import Count

from apps.accounts.models import Workspace
from apps.catalogue.models import Code, Tool


@dataclass(frozen=True, slots=True)
class ToolRow:
    """A tool with how many codes it has; `tool` None: only errors name it."""

    name: str
    tool: Tool | None
    codes: int


def registry(workspace: Workspace) -> list[ToolRow]:
    """Give every tool by name, those that only errors name too."""
    codes = dict(
        Code.objects.filter(workspace=workspace, texts__isnull=False)
        .values_list("tool")
        .annotate(n=Count("pk", distinct=True))
    )
    tools = {
        tool.name: tool
        for tool in Tool.objects.filter(workspace=workspace).select_related(
            "verification_tool"
        )
    }
    return [
        ToolRow(name, tools.get(name), codes.get(name, 0))
        for name in sorted({*codes, *tools})
    ]
