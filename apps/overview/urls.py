"""The front page's address."""

from django.urls import path

from . import views

app_name = "overview"
urlpatterns = [path("", views.home, name="home")]
