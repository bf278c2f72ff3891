"""Addresses under /uploads/."""

from django.urls import path

from . import rule_views, views

app_name = "uploads"
urlpatterns = [
    path("", views.upload_list, name="list"),
    path("rules", rule_views.save_rules, name="save-rules"),
    path("rules/preview", rule_views.preview_rules, name="preview-rules"),
    path("failures/<int:run_id>", rule_views.say_failure, name="say-failure"),
    path("formats", views.formats, name="formats"),
    path("<int:upload_id>", views.upload_detail, name="detail"),
    path("<int:upload_id>/row", views.upload_row, name="row"),
    path("<int:upload_id>/set-aside.jsonl", views.set_aside, name="set-aside"),
    path("<int:upload_id>/cancel", views.cancel, name="cancel"),
    path("<int:upload_id>/delete", views.delete, name="delete"),
    path("deletions/<int:deletion_id>", views.receipt, name="receipt"),
    path("<int:upload_id>/retry", views.retry, name="retry"),
]
