"""App of people and workspaces."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    """Label `accounts`."""

    name = "apps.accounts"
