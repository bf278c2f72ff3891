"""Addresses under /rewrites/."""

from django.urls import path

from . import views

app_name = "rewrites"
urlpatterns = [
    path("", views.rewrite_list, name="list"),
    path("code/<int:code_id>", views.edit, name="edit"),
    path("code/<int:code_id>/check", views.check, name="check"),
    path("<int:rewrite_id>/ship", views.ship, name="ship"),
    path("<int:rewrite_id>/end", views.end, name="end"),
]
