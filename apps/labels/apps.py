"""App configuration."""

from django.apps import AppConfig


class LabelsConfig(AppConfig):
    """Label `labels`."""

    name = "apps.labels"
