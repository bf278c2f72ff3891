"""Signing in, links, and the choice of workspace."""

import re
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts import actions
from apps.accounts.models import Membership, SignInLink, User, Workspace
from tests.factories import make_member, make_workspace


def first_link() -> str:
    """The link of the first account."""
    path = actions.ensure_first_account()
    assert path is not None
    return path


def test_the_first_account_gets_a_link_that_works_once(db):
    path = first_link()
    browser = Client()

    asked = browser.get(path)
    used = browser.post(path)

    assert asked.status_code == 200
    assert used["Location"] == reverse("accounts:account")
    assert Client().post(path).status_code == 410
    assert SignInLink.objects.get().used_at is not None


def test_looking_at_a_link_does_not_use_it_up(db):
    path = first_link()

    Client().get(path)
    Client().head(path)

    assert Client().post(path).status_code == 302


def test_a_link_is_too_old_after_two_days(db):
    path = first_link()
    SignInLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))

    assert Client().post(path).status_code == 410


def test_the_token_itself_is_not_kept(db):
    path = first_link()
    token = path.rpartition("/")[2]

    assert token not in SignInLink.objects.get().token_hash


def test_first_account_twice_is_one_person(db):
    actions.ensure_first_account()
    actions.ensure_first_account()

    assert User.objects.count() == 1
    assert Workspace.objects.count() == 1


def test_sign_in_by_password_goes_where_one_wanted(workspace):
    user = make_member(workspace)

    response = Client().post(
        reverse("accounts:sign-in"),
        {"email": user.email.upper(), "password": "secret", "next": "/codes/"},
    )

    assert response["Location"] == "/codes/"


@pytest.mark.parametrize(
    "target", ["https://evil.example/", "//evil.example", "javascript:x"]
)
def test_sign_in_goes_nowhere_else(workspace, target):
    user = make_member(workspace)

    response = Client().post(
        reverse("accounts:sign-in"),
        {"email": user.email, "password": "secret", "next": target},
    )

    assert response["Location"] == "/"


def test_a_wrong_password_says_one_sentence(workspace):
    user = make_member(workspace)

    response = Client().post(
        reverse("accounts:sign-in"), {"email": user.email, "password": "no"}
    )

    assert response.status_code == 422
    assert "address or the password is wrong" in response.content.decode()


def test_a_member_of_two_workspaces_chooses(client, owner):
    second = make_workspace("second")
    actions.join(owner, second)

    client.post(reverse("accounts:choose-workspace"), {"workspace": "second"})

    assert client.get("/").context["workspace"] == second
    refused = client.post(reverse("accounts:choose-workspace"), {"workspace": "none"})
    assert refused.status_code == 404


def test_somebody_without_a_workspace_is_told_so(db):
    user = User.objects.create_user(username="x", email="x@example.com", password="y")
    browser = Client()
    browser.force_login(user)

    assert browser.get("/").status_code == 403


@pytest.mark.parametrize("slug", ["", "Über Team", "a/b"])
def test_a_bad_slug_is_refused_with_a_proposal(db, slug):
    with pytest.raises(ValueError, match="Try “"):
        actions.ensure_workspace(slug)


def test_membership_is_once_and_its_role_is_known(workspace, owner):
    with pytest.raises(IntegrityError), transaction.atomic():
        Membership.objects.create(user=owner, workspace=workspace)
    with pytest.raises(IntegrityError), transaction.atomic():
        Membership.objects.update(role="king")


def test_signin_link_command_prints_a_path(workspace, owner, capsys):
    call_command("signin_link", owner.email)

    assert re.fullmatch(r"/accounts/link/\S+\n", capsys.readouterr().out)
