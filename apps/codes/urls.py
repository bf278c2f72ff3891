"""Addresses under /codes/."""

from django.urls import path

from . import contract_views, move_views, placement_views, tool_views, views, why_views

app_name = "codes"
urlpatterns = [
    path("", views.code_list, name="list"),
    path("<int:code_id>", views.code_detail, name="detail"),
    path("<int:code_id>/place", placement_views.place, name="place"),
    path("<int:code_id>/name", placement_views.rename, name="rename"),
    path("<int:code_id>/mute", placement_views.mute, name="mute"),
    path("<int:code_id>/contract", contract_views.contract, name="contract"),
    path("<int:code_id>/confirm", contract_views.confirm, name="confirm"),
    path("texts/<int:text_id>/adopt", contract_views.adopt, name="adopt"),
    path("moves", move_views.moves, name="moves"),
    path("grouping", placement_views.grouping, name="grouping"),
    path("grouping/regroup", placement_views.regroup, name="regroup"),
    path("jobs/<int:job_id>", placement_views.job, name="job"),
    path("rules/<int:rule_id>/undo", placement_views.undo, name="undo"),
    path("suggestions/<int:suggestion_id>", placement_views.answer, name="answer"),
    path("why/<int:error_id>", why_views.why_code, name="why"),
    path("tools", tool_views.tool_list, name="tools"),
    path("tools/add", tool_views.add_tool, name="add-tool"),
    path("tools/read", tool_views.read_list, name="read-tools"),
    path("tools/<int:tool_id>", tool_views.edit_tool, name="tool"),
    path("tester", why_views.tester, name="tester"),
]
