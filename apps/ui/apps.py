"""App configuration."""

from django.apps import AppConfig


class UiConfig(AppConfig):
    """Label `ui`."""

    name = "apps.ui"
