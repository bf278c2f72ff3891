"""App configuration."""

from django.apps import AppConfig


class RewritesConfig(AppConfig):
    """Label `rewrites`."""

    name = "apps.rewrites"
