"""App configuration."""

from django.apps import AppConfig


class CatalogueConfig(AppConfig):
    """Label `catalogue`."""

    name = "apps.catalogue"
