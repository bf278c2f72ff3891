"""Every write of accounts."""

import hashlib
import secrets
from datetime import timedelta

from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.text import slugify

from .models import Membership, Role, SignInLink, User, Workspace

LINK_LIFETIME = timedelta(days=2)
FIRST_EMAIL = "owner@localhost"


def ensure_workspace(slug: str, name: str = "") -> Workspace:
    """Give the workspace of this slug, made if it does not exist.

    Raises ValueError if the slug holds anything but letters, digits, - and _.
    """
    if not slug or slugify(slug) != slug:
        wanted = slugify(slug) or "support-agents"
        raise ValueError(f"“{slug}” cannot be a workspace's address. Try “{wanted}”.")
    title = name or slug.replace("-", " ").capitalize()
    workspace, _ = Workspace.objects.get_or_create(slug=slug, defaults={"name": title})
    return workspace


def join(user: User, workspace: Workspace, role: str = Role.OWNER) -> Membership:
    """Give a person a role in a workspace."""
    membership, _ = Membership.objects.update_or_create(
        user=user, workspace=workspace, defaults={"role": role}
    )
    return membership


@transaction.atomic
def ensure_first_account() -> str | None:
    """Make the first account and give the path of a one-time sign-in link.

    None once somebody has signed in: from then on people come in by themselves.
    """
    workspace = ensure_workspace("default", "My team")
    user = User.objects.order_by("pk").first()
    if user is None:
        user = User.objects.create_user(
            username="owner", email=FIRST_EMAIL, first_name="Owner", password=None
        )
    if user.last_login is not None and user.has_usable_password():
        return None
    join(user, workspace)
    for demo in Workspace.objects.filter(is_demo=True):
        join(user, demo)
    return make_sign_in_link(user)


def make_sign_in_link(user: User) -> str:
    """Make a one-time link and give its path; the token is not kept."""
    token = secrets.token_urlsafe(32)
    SignInLink.objects.create(
        user=user, token_hash=_hash(token), expires_at=timezone.now() + LINK_LIFETIME
    )
    return reverse("accounts:link", args=[token])


def use_sign_in_link(token: str) -> User | None:
    """Use up a link and give its person; None if it is unknown, used or too old."""
    now = timezone.now()
    link = SignInLink.objects.filter(
        token_hash=_hash(token), used_at=None, expires_at__gt=now
    )
    if not link.update(used_at=now):  # one statement, so two clicks cannot both win
        return None
    return User.objects.get(signinlink__token_hash=_hash(token))


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
