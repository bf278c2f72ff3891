"""Addresses under /labels/."""

from django.urls import path

from . import views

app_name = "labels"
urlpatterns = [
    path("", views.queue, name="queue"),
    path("draw", views.draw, name="draw"),
    path("<int:pair_id>", views.label_pair, name="label-pair"),
]
