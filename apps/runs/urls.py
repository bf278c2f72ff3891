"""Addresses under /runs/."""

from django.urls import path

from . import rule_views, views

app_name = "runs"
urlpatterns = [
    path("", views.run_list, name="list"),
    path("rules", rule_views.rules, name="rules"),
    path("rules/progress", rule_views.progress, name="rules-progress"),
    path("rules/scores", rule_views.scores, name="rules-scores"),
    path("<int:run_id>", views.run_detail, name="detail"),
    path("<int:run_id>/outcome", views.say_outcome, name="say-outcome"),
]
