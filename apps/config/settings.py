"""Settings of every process, from the environment; a fresh checkout needs none of them.

Without DATABASE_URL and REDIS_URL the embedded servers are used (`embedded.py`).
"""

import os
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import django_stubs_ext
from celery.schedules import crontab
from django.core.exceptions import ImproperlyConfigured

from apps.config import embedded

django_stubs_ext.monkeypatch()  # so that ModelForm[User] can be written

BASE_DIR = Path(__file__).resolve().parents[2]
VAR_DIR = embedded.var_folder()


def env_flag(name: str, default: bool) -> bool:
    """Read a yes or no; raise ImproperlyConfigured on anything else."""
    value = os.environ.get(name, "").strip().lower()
    if value in ("", "0", "1", "true", "false", "yes", "no"):
        return default if not value else value in ("1", "true", "yes")
    raise ImproperlyConfigured(f"{name} must be 1 or 0, not “{value}”.")


def env_number(name: str, default: int) -> int:
    """Read a whole number; raise ImproperlyConfigured on anything else."""
    value = os.environ.get(name, "").strip()
    if not value:
        return default
    if not value.isdigit():
        raise ImproperlyConfigured(f"{name} must be a whole number, not “{value}”.")
    return int(value)


def database(url: str) -> dict[str, object]:
    """Turn a PostgreSQL address into Django's settings for it."""
    parts = urlsplit(url)
    if parts.scheme not in ("postgres", "postgresql"):
        raise ImproperlyConfigured(
            "DATABASE_URL must begin with postgresql://."
            " Errata runs on PostgreSQL alone."
        )
    options = dict(parse_qsl(parts.query))
    host = options.pop("host", "") or parts.hostname or ""
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")) or "errata",
        "USER": unquote(parts.username or "") or options.pop("user", ""),
        "PASSWORD": unquote(parts.password or "") or options.pop("password", ""),
        "HOST": host,
        "PORT": str(parts.port or options.pop("port", "")),
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": options,
        "TEST": {"NAME": os.environ.get("ERRATA_TEST_DATABASE", "test_errata")},
    }


def secret_key() -> str:
    """Take the key from the environment, else make one once and keep it in `var/`."""
    if key := os.environ.get("SECRET_KEY"):
        return key
    kept = VAR_DIR / "secret_key"
    if kept.is_file():
        return kept.read_text()
    if not DEBUG and os.environ.get("DATABASE_URL"):
        raise ImproperlyConfigured("Set SECRET_KEY: a long random text, kept secret.")
    from django.core.management.utils import get_random_secret_key

    VAR_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
    made = get_random_secret_key()
    try:
        descriptor = os.open(kept, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:  # another process was faster
        return kept.read_text()
    with os.fdopen(descriptor, "w") as file:
        file.write(made)
    return made


DEBUG = env_flag("DEBUG", False)
DATABASE_URL = os.environ.get("DATABASE_URL") or embedded.addresses().database_url
REDIS_URL = os.environ.get("REDIS_URL") or embedded.addresses().redis_url
SECRET_KEY = secret_key()
ALLOWED_HOSTS = os.environ.get("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]").split(",")
CSRF_TRUSTED_ORIGINS = [
    o for o in os.environ.get("TRUSTED_ORIGINS", "").split(",") if o
]

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.postgres",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django_htmx",
    "apps.config",
    "apps.ui",
    "apps.accounts",
    "apps.catalogue",
    "apps.runs",
    "apps.uploads",
    "apps.labels",
    "apps.rewrites",
    "apps.trends",
    "apps.codes",
    "apps.triage",
    "apps.overview",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "apps.accounts.middleware.workspace_middleware",
    "apps.ui.security.content_security_policy",
]

ROOT_URLCONF = "apps.config.urls"
WSGI_APPLICATION = "apps.config.wsgi.application"
TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": False,
        "OPTIONS": {
            "loaders": [
                (
                    "django.template.loaders.cached.Loader",
                    [
                        "django.template.loaders.filesystem.Loader",
                        "django.template.loaders.app_directories.Loader",
                    ],
                )
            ],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "apps.accounts.context.workspace",
            ],
            "builtins": [
                "apps.ui.templatetags.ui",
                "django_htmx.templatetags.django_htmx",
            ],
        },
    },
]
if DEBUG:
    TEMPLATES[0]["OPTIONS"]["loaders"] = [
        "django.template.loaders.filesystem.Loader",
        "django.template.loaders.app_directories.Loader",
    ]

DATABASES = {"default": database(DATABASE_URL)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_USER_MODEL = "accounts.User"
LOGIN_URL = "accounts:sign-in"
LOGIN_REDIRECT_URL = "/"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

LANGUAGE_CODE = "en"
USE_I18N = False
TIME_ZONE = "UTC"  # a workspace has its own zone for days and weeks
USE_TZ = True

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = VAR_DIR / "static"
WHITENOISE_USE_FINDERS = True
MEDIA_ROOT = Path(os.environ.get("UPLOADS_DIR", VAR_DIR / "uploads"))
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
FILE_UPLOAD_PERMISSIONS = 0o600
DATA_UPLOAD_MAX_NUMBER_FILES = 1000
UPLOAD_PART_BYTES = env_number("UPLOAD_PART_KB", 8 << 10) << 10  # what one task reads
MAX_UPLOAD_BYTES = env_number("MAX_UPLOAD_MB", 20_000) << 20

SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_PROXY_SSL_HEADER = (
    ("HTTP_X_FORWARDED_PROTO", "https") if env_flag("BEHIND_PROXY", False) else None
)
X_FRAME_OPTIONS = "DENY"
_HTTPS = env_flag("HTTPS_ONLY", False)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = _HTTPS
SECURE_HSTS_SECONDS = int(timedelta(days=365).total_seconds()) if _HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = _HTTPS
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = int(timedelta(days=30).total_seconds())
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"

CELERY_BROKER_URL = embedded.broker_url(REDIS_URL)
CELERY_RESULT_BACKEND = None
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": int(timedelta(hours=1).total_seconds()),
    "global_keyprefix": os.environ.get("ERRATA_QUEUE_PREFIX", "errata:"),
}
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULE_FILENAME = str(VAR_DIR / "celerybeat-schedule")
CELERY_BEAT_SCHEDULE = {
    "requeue-forgotten-uploads": {
        "task": "apps.uploads.tasks.requeue_forgotten_task",
        "schedule": timedelta(minutes=1),
    },
    "carry-on-placement-jobs": {
        "task": "apps.codes.tasks.carry_on_jobs_task",
        "schedule": timedelta(minutes=1),
    },
    "regroup-codes": {
        "task": "apps.codes.tasks.regroup_task",
        "schedule": crontab(minute="25", hour="*"),
    },
    "draw-weekly-batches": {
        "task": "apps.labels.tasks.draw_weekly_batches_task",
        "schedule": crontab(minute="10", hour="*"),
    },
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": os.environ.get("LOG_LEVEL", "WARNING")},
}
