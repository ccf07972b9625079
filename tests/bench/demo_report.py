"""`make demo-report`: `manage.py demo_report` in a house of its own."""

from __future__ import annotations

from tests.bench._demo import study

if __name__ == "__main__":
    with study():
        from django.core.management import call_command

        call_command("demo_report")
