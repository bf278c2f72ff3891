"""Every address of the product: one prefix an app."""

from django.urls import include, path

from apps.ui.views import healthz

urlpatterns = [
    path("", include("apps.overview.urls")),
    path("accounts/", include("apps.accounts.urls")),
    path("codes/", include("apps.codes.urls")),
    path("labels/", include("apps.labels.urls")),
    path("rewrites/", include("apps.rewrites.urls")),
    path("runs/", include("apps.runs.urls")),
    path("trends/", include("apps.trends.urls")),
    path("triage/", include("apps.triage.urls")),
    path("uploads/", include("apps.uploads.urls")),
    path("healthz", healthz, name="healthz"),
]
