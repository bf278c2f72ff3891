"""App configuration."""

from django.apps import AppConfig


class TriageConfig(AppConfig):
    """Label `triage`."""

    name = "apps.triage"
