"""Addresses under /accounts/."""

from django.urls import path

from . import views

app_name = "accounts"
urlpatterns = [
    path("sign-in", views.sign_in, name="sign-in"),
    path("sign-out", views.sign_out, name="sign-out"),
    path("link/<str:token>", views.link, name="link"),
    path("account", views.account, name="account"),
    path("workspace", views.choose_workspace, name="choose-workspace"),
    path("help", views.help_page, name="help"),
]
