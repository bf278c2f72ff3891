"""App configuration."""

from django.apps import AppConfig


class RunsConfig(AppConfig):
    """Label `runs`."""

    name = "apps.runs"
