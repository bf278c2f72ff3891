"""The pages under /codes/: the list and one code."""

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET
from django.views.decorators.vary import vary_on_headers

from apps.accounts.middleware import MemberRequest, member_required
from apps.accounts.models import Role
from apps.catalogue.models import Code

from . import placing_queries, queries

PAGE_SIZE = 50
ERRORS_A_PAGE = 20


@member_required()
@require_GET
@vary_on_headers("HX-Request")
def code_list(request: MemberRequest) -> HttpResponse:
    """Every code met, the costliest first; filter, order, page are in the address."""
    sort = request.GET.get("sort", "-loss")
    q, tool = request.GET.get("q", "").strip(), request.GET.get("tool", "")
    period = request.GET.get("period", "")
    found = queries.listed(
        request.workspace,
        q=q,
        tool=tool,
        sort=sort,
        period=period,
        with_muted=request.GET.get("muted") == "yes",
    )
    page = Paginator(found.rows, PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "section": "codes",
        "page": page,
        "rows": page.object_list,
        "found": found,
        "q": q,
        "tool": tool,
        "sort": sort,
    }
    fragment = request.htmx and not request.htmx.boosted  # type: ignore[attr-defined]
    return render(
        request, "codes/_list.html" if fragment else "codes/list.html", context
    )


@member_required()
@require_GET
def code_detail(request: MemberRequest, code_id: int) -> HttpResponse:
    """One code: what happened, every text delivered for it, the latest errors."""
    code = get_object_or_404(Code, pk=code_id, workspace=request.workspace)
    move = request.GET.get("move", "")
    errors = Paginator(queries.errors_of(code, move), ERRORS_A_PAGE)
    page = errors.get_page(request.GET.get("page"))
    context = {
        "section": "codes",
        "code": code,
        "summary": queries.summary(code),
        "texts": queries.texts_of(code),
        "page": page,
        "move": move,
        "open_draft": queries.open_draft(code),
        "placement": placing_queries.placement_of(request.workspace, code),
        "may_edit": request.membership.may(Role.EDITOR),
    }
    return render(request, "codes/detail.html", context)
