"""App configuration."""

from django.apps import AppConfig


class ConfigConfig(AppConfig):
    """Label `config`; loads the Celery application, so that tasks find their broker."""

    name = "apps.config"

    def ready(self) -> None:
        """Make our Celery application the one that `shared_task` uses."""
        from . import celery  # noqa: F401
