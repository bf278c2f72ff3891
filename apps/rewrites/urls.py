"""Addresses under /rewrites/."""

from django.urls import path

from . import export_views, views

app_name = "rewrites"
urlpatterns = [
    path("", views.rewrite_list, name="list"),
    path("export/<str:form>", export_views.export, name="export"),
    path("code/<int:code_id>", views.edit, name="edit"),
    path("code/<int:code_id>/check", views.check, name="check"),
    path("<int:rewrite_id>/ship", views.ship, name="ship"),
    path("<int:rewrite_id>/end", views.end, name="end"),
]
