"""Addresses under /codes/."""

from django.urls import path

from . import views

app_name = "codes"
urlpatterns = [
    path("", views.code_list, name="list"),
    path("<int:code_id>", views.code_detail, name="detail"),
]
