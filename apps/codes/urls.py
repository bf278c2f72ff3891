"""Addresses under /codes/."""

from django.urls import path

from . import placement_views, views, why_views

app_name = "codes"
urlpatterns = [
    path("", views.code_list, name="list"),
    path("<int:code_id>", views.code_detail, name="detail"),
    path("<int:code_id>/place", placement_views.place, name="place"),
    path("<int:code_id>/name", placement_views.rename, name="rename"),
    path("<int:code_id>/mute", placement_views.mute, name="mute"),
    path("grouping", placement_views.grouping, name="grouping"),
    path("grouping/regroup", placement_views.regroup, name="regroup"),
    path("jobs/<int:job_id>", placement_views.job, name="job"),
    path("rules/<int:rule_id>/undo", placement_views.undo, name="undo"),
    path("suggestions/<int:suggestion_id>", placement_views.answer, name="answer"),
    path("why/<int:error_id>", why_views.why_code, name="why"),
    path("tester", why_views.tester, name="tester"),
]
