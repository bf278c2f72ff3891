"""Addresses under /labels/."""

from django.urls import path

from . import result_views, views

app_name = "labels"
urlpatterns = [
    path("", views.queue, name="queue"),
    path("draw", views.draw, name="draw"),
    path("results", result_views.results, name="results"),
    path("export.csv", result_views.export_csv, name="export-csv"),
    path("export.jsonl", result_views.export_jsonl, name="export-jsonl"),
    path("<int:pair_id>", views.label_pair, name="label-pair"),
]
