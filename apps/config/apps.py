"""App configuration."""

from django.apps import AppConfig


class ConfigConfig(AppConfig):
    """Label `config`."""

    name = "apps.config"
