"""App configuration."""

from django.apps import AppConfig


class CodesConfig(AppConfig):
    """Label `codes`."""

    name = "apps.codes"
