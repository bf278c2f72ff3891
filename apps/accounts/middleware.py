"""Settles for each request which workspace it is about and what its person may do."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, cast

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from .models import Membership, Role, User, Workspace

SESSION_KEY = "workspace"
P = ParamSpec("P")


class MemberRequest(HttpRequest):
    """A request of a signed-in member; `workspace` is the one on screen."""

    workspace: Workspace
    membership: Membership
    user: User
    htmx: bool


View = Callable[Concatenate[MemberRequest, P], HttpResponse]


def workspace_middleware(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Set `request.workspace` from the session; an address never names it."""

    def middleware(request: HttpRequest) -> HttpResponse:
        request.workspace = request.membership = None  # type: ignore[attr-defined]
        if request.user.is_authenticated:
            _settle(request, request.user)
        return get_response(request)

    return middleware


def _settle(request: HttpRequest, user: User) -> None:
    memberships = Membership.objects.filter(user_id=user.pk).select_related("workspace")
    by_slug = {
        m.workspace.slug: m for m in memberships.order_by("workspace__is_demo", "pk")
    }
    request.memberships = list(by_slug.values())  # type: ignore[attr-defined]
    chosen = by_slug.get(request.session.get(SESSION_KEY, ""))
    chosen = chosen or next(iter(by_slug.values()), None)
    if chosen is not None:
        request.membership = chosen  # type: ignore[attr-defined]
        request.workspace = chosen.workspace  # type: ignore[attr-defined]


def member_required(
    role: str = Role.VIEWER,
) -> Callable[
    [Callable[Concatenate[MemberRequest, P], HttpResponse]],
    Callable[Concatenate[HttpRequest, P], HttpResponse],
]:
    """Let in members of the workspace on screen whose role includes `role`.

    Others are sent to sign in, also when only a fragment was asked for.
    """

    def decorate(
        view: Callable[Concatenate[MemberRequest, P], HttpResponse],
    ) -> Callable[Concatenate[HttpRequest, P], HttpResponse]:
        @wraps(view)
        def wrapper(
            request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs
        ) -> HttpResponse:
            membership = cast("Membership | None", getattr(request, "membership", None))
            if not request.user.is_authenticated:
                return _to_sign_in(request)
            if membership is None:
                raise PermissionDenied(
                    "You are in no workspace. Ask its owner to add you."
                )
            if not membership.may(role):
                needed = Role(role).label.lower()
                raise PermissionDenied(
                    f"This needs the role {needed} in {membership.workspace}."
                )
            return view(cast("MemberRequest", request), *args, **kwargs)

        return wrapper

    return decorate


def _to_sign_in(request: HttpRequest) -> HttpResponse:
    if getattr(request, "htmx", False):
        response = HttpResponse(status=401)
        response["HX-Redirect"] = reverse("accounts:sign-in")
        return response
    return redirect_to_login(request.get_full_path())
