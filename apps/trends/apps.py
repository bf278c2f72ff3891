"""App configuration."""

from django.apps import AppConfig


class TrendsConfig(AppConfig):
    """Label `trends`."""

    name = "apps.trends"
