"""The registry of tools."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.accounts.middleware import MemberRequest, member_required
from apps.accounts.models import Role
from apps.catalogue.models import Tool
from apps.catalogue.tool_lists import ToolListError, read_tools
from apps.catalogue.tools import note_tools

from . import actions, tool_queries
from .forms import ToolForm, ToolListForm


@member_required()
@require_GET
def tool_list(request: MemberRequest) -> HttpResponse:
    """Every tool that logs, lists or people told of."""
    return _list(request, ToolListForm())


def _list(request: MemberRequest, form: ToolListForm) -> HttpResponse:
    context = {
        "section": "codes",
        "rows": tool_queries.registry(request.workspace),
        "form": form,
        "may_edit": request.membership.may(Role.EDITOR),
    }
    status = 422 if form.errors else 200
    return render(request, "codes/tools.html", context, status=status)


@require_POST
@member_required(Role.EDITOR)
def read_list(request: MemberRequest) -> HttpResponse:
    """Take the tools of a pasted list into the registry."""
    form = ToolListForm(request.POST)
    if form.is_valid():
        try:
            found = read_tools(form.cleaned_data["tools"])
        except ToolListError as exc:
            form.add_error("tools", str(exc))
        else:
            changed = note_tools(request.workspace.pk, found)
            messages.success(
                request, f"{len(found)} tools read, {changed} added or filled in."
            )
            return redirect("codes:tools")
    return _list(request, form)


@member_required(Role.EDITOR)
@require_http_methods(["GET", "POST"])
def add_tool(request: MemberRequest) -> HttpResponse:
    """Add a tool by hand."""
    return _edited(request, None)


@member_required(Role.EDITOR)
@require_http_methods(["GET", "POST"])
def edit_tool(request: MemberRequest, tool_id: int) -> HttpResponse:
    """Say more of a tool; what a person says stands against any log."""
    tool = get_object_or_404(Tool, pk=tool_id, workspace=request.workspace)
    return _edited(request, tool)


def _edited(request: MemberRequest, tool: Tool | None) -> HttpResponse:
    form = ToolForm(request.workspace, tool, request.POST or None)
    if request.method == "POST" and form.is_valid():
        actions.save_tool(request.workspace, tool, form.cleaned_data)
        messages.success(request, f"{form.cleaned_data['name']} saved.")
        return redirect("codes:tools")
    context = {"section": "codes", "tool": tool, "form": form}
    status = 422 if form.errors else 200
    return render(request, "codes/tool.html", context, status=status)
