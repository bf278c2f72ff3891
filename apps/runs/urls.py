"""Addresses under /runs/."""

from django.urls import path

from . import masked_views, rule_views, views

app_name = "runs"
urlpatterns = [
    path("", views.run_list, name="list"),
    path("masked", masked_views.masked, name="masked"),
    path("rules", rule_views.rules, name="rules"),
    path("rules/progress", rule_views.progress, name="rules-progress"),
    path("rules/scores", rule_views.scores, name="rules-scores"),
    path("<int:run_id>", views.run_detail, name="detail"),
    path("<int:run_id>/outcome", views.say_outcome, name="say-outcome"),
]
