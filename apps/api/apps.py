"""App configuration."""

from django.apps import AppConfig


class ApiConfig(AppConfig):
    """Label `api`."""

    name = "apps.api"
