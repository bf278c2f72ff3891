"""App configuration."""

from django.apps import AppConfig


class OverviewConfig(AppConfig):
    """Label `overview`."""

    name = "apps.overview"
