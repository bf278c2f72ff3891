"""Addresses under /triage/."""

from django.urls import path

from . import views

app_name = "triage"
urlpatterns = [
    path("", views.week, name="week"),
    path("minutes.md", views.minutes_file, name="minutes"),
    path("decide/<int:code_id>", views.decide, name="decide"),
    path("close/<int:decision_id>", views.close, name="close"),
]
