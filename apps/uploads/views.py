"""Upload sessions, watch them being read, and see what was found."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.accounts.middleware import MemberRequest, member_required
from apps.accounts.models import Role

from . import actions, queries
from .forms import UploadForm
from .importers import readers
from .models import Deletion, Upload, UploadState

PAGE_SIZE = 30


@member_required()
@require_http_methods(["GET", "POST"])
def upload_list(request: MemberRequest) -> HttpResponse:
    """Uploads, newest first, with the form for new ones."""
    if request.method == "POST":
        return _receive(request)
    context = _list_context(request, UploadForm())
    return render(request, "uploads/list.html", context)


@member_required(Role.EDITOR)
def _receive(request: MemberRequest) -> HttpResponse:
    form = UploadForm(request.POST, request.FILES)
    if not form.is_valid():
        context = _list_context(request, form)
        return render(request, "uploads/list.html", context, status=422)
    for file in form.cleaned_data["files"]:
        actions.receive_and_queue(
            request.workspace,
            file.name or "upload",
            file,
            by=request.user,
            format_name=form.cleaned_data["format"],
        )
    return redirect("uploads:list")


def _list_context(request: MemberRequest, form: UploadForm) -> dict[str, object]:
    wanted = {name: request.GET.get(name, "") for name in ("q", "state", "sort")}
    uploads = queries.uploads_of(request.workspace, **wanted)
    page = Paginator(uploads, PAGE_SIZE).get_page(request.GET.get("page"))
    counts = queries.upload_counts([upload.pk for upload in page])
    rows = [(upload, counts[upload.pk]) for upload in page]
    return {
        "section": "uploads",
        "form": form,
        "page": page,
        "rows": rows,
        "wanted": wanted,
        "states": UploadState.choices,
        "sorts": list(queries.SORTS),
    }


@member_required()
@require_GET
def upload_row(request: MemberRequest, upload_id: int) -> HttpResponse:
    """One row of the list; it asks for itself again until the upload has ended."""
    upload = get_object_or_404(Upload, pk=upload_id, workspace=request.workspace)
    counts = queries.upload_counts([upload.pk])[upload.pk]
    return render(request, "uploads/_row.html", {"upload": upload, "counts": counts})


@member_required()
@require_GET
def upload_detail(request: MemberRequest, upload_id: int) -> HttpResponse:
    """What was found in one upload, what was set aside, and what to do next."""
    upload = get_object_or_404(Upload, pk=upload_id, workspace=request.workspace)
    context = {
        "section": "uploads",
        "upload": upload,
        "counts": queries.upload_counts([upload.pk])[upload.pk],
        "codes": queries.top_codes(upload),
        "reasons": queries.reasons_set_aside(upload),
        "left_out": upload.left_out.order_by("pk")[:50],
    }
    return render(request, "uploads/detail.html", context)


@member_required()
@require_GET
def set_aside(request: MemberRequest, upload_id: int) -> HttpResponse:
    """What was set aside, as a file."""
    upload = get_object_or_404(Upload, pk=upload_id, workspace=request.workspace)
    file = actions.set_aside_file(upload)
    response = HttpResponse(
        file.read(), content_type="application/jsonl; charset=utf-8"
    )
    response["Content-Disposition"] = (
        f'attachment; filename="set-aside-{upload.pk}.jsonl"'
    )
    return response


@require_POST
@member_required(Role.EDITOR)
def cancel(request: MemberRequest, upload_id: int) -> HttpResponse:
    """Stop reading an upload."""
    upload = get_object_or_404(Upload, pk=upload_id, workspace=request.workspace)
    if not actions.cancel(upload):
        messages.warning(request, "It had ended before it could be cancelled.")
    return redirect("uploads:detail", upload.pk)


@require_POST
@member_required(Role.EDITOR)
def retry(request: MemberRequest, upload_id: int) -> HttpResponse:
    """Go on with an upload that was cancelled or refused."""
    upload = get_object_or_404(Upload, pk=upload_id, workspace=request.workspace)
    if not actions.retry(upload):
        messages.warning(
            request, "Only a cancelled or refused upload can be tried again."
        )
    return redirect("uploads:detail", upload.pk)


@require_POST
@member_required(Role.OWNER)
def delete(request: MemberRequest, upload_id: int) -> HttpResponse:
    """Delete an upload with its runs, if its name was typed as a confirmation."""
    upload = get_object_or_404(Upload, pk=upload_id, workspace=request.workspace)
    if request.POST.get("name", "").strip() != upload.name:
        messages.error(request, "Type the file's name to delete it with its runs.")
        return redirect("uploads:detail", upload.pk)
    deletion = actions.request_deletion(upload, by=request.user)
    return redirect("uploads:receipt", deletion.pk)


@member_required()
@require_GET
def receipt(request: MemberRequest, deletion_id: int) -> HttpResponse:
    """What a deletion took, table by table."""
    deletion = get_object_or_404(Deletion, pk=deletion_id, workspace=request.workspace)
    context = {"section": "uploads", "deletion": deletion}
    return render(request, "uploads/receipt.html", context)


@member_required()
@require_GET
def formats(request: MemberRequest) -> HttpResponse:
    """Which formats are read, and how each is exported."""
    known = [
        (name, reader.LABEL, (reader.__doc__ or "").strip())
        for name, reader in readers().items()
    ]
    context = {
        "section": "uploads",
        "formats": sorted(known, key=lambda f: f[1].lower()),
    }
    return render(request, "uploads/formats.html", context)
