"""Addresses under /trends/."""

from django.urls import path

from . import views

app_name = "trends"
urlpatterns = [path("code/<int:code_id>", views.code_panel, name="code-panel")]
