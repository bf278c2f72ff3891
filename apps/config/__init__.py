"""Settings, addresses, the Celery application, and the first-run servers."""
