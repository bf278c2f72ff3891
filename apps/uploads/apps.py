"""App configuration."""

from django.apps import AppConfig


class UploadsConfig(AppConfig):
    """Label `uploads`."""

    name = "apps.uploads"
