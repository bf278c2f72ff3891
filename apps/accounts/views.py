"""Signing in and out, one's own account, and the choice of workspace."""

from django.contrib import messages
from django.contrib.auth import login, logout, update_session_auth_hash
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from . import actions
from .forms import AccountForm, SignInForm
from .middleware import SESSION_KEY, MemberRequest, member_required
from .models import Membership

BACKEND = "django.contrib.auth.backends.ModelBackend"


@never_cache
@require_http_methods(["GET", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    """Sign in by password."""
    if request.user.is_authenticated:
        return redirect("/")
    form = SignInForm(request.POST or None)
    target = request.POST.get("next") or request.GET.get("next") or "/"
    if request.method == "POST" and form.is_valid() and form.user is not None:
        login(request, form.user, backend=BACKEND)
        safe = url_has_allowed_host_and_scheme(target, {request.get_host()})
        return redirect(target if safe else "/")
    context = {"form": form, "next": target}
    status = 422 if request.method == "POST" else 200
    return render(request, "accounts/sign_in.html", context, status=status)


@never_cache
@require_http_methods(["GET", "POST"])
def link(request: HttpRequest, token: str) -> HttpResponse:
    """Sign in by a one-time link; a GET only asks, so a preview cannot use it up."""
    if request.method == "GET":
        return render(request, "accounts/link.html", {"token": token})
    user = actions.use_sign_in_link(token)
    if user is None:
        context = {"token": token, "refused": True}
        return render(request, "accounts/link.html", context, status=410)
    login(request, user, backend=BACKEND)
    return redirect("/" if user.has_usable_password() else "accounts:account")


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """End the session."""
    logout(request)
    return redirect("accounts:sign-in")


@member_required()
@require_http_methods(["GET", "POST"])
def account(request: MemberRequest) -> HttpResponse:
    """Name, address and password of the person signed in."""
    user = request.user
    form = AccountForm(request.POST or None, instance=user)
    if request.method == "POST" and form.is_valid():
        user = form.save()
        if form.cleaned_data["new_password"]:
            user.set_password(form.cleaned_data["new_password"])
            user.save(update_fields=["password"])
            update_session_auth_hash(request, user)
        messages.success(request, "Saved.")
        return redirect("overview:home")
    status = 422 if request.method == "POST" else 200
    return render(request, "accounts/account.html", {"form": form}, status=status)


@require_POST
@member_required()
def choose_workspace(request: MemberRequest) -> HttpResponse:
    """Show another workspace from here on."""
    chosen = get_object_or_404(
        Membership, user=request.user, workspace__slug=request.POST.get("workspace", "")
    )
    request.session[SESSION_KEY] = chosen.workspace.slug
    return redirect("overview:home")


@require_GET
def help_page(request: HttpRequest) -> HttpResponse:
    """What the words and figures mean."""
    return render(request, "accounts/help.html")
