"""Texts of Unfold and django-axes that neither they nor Django bring in Chinese.

Nothing reads this module: it puts their message ids into our catalog (`make messages`), because Unfold ships
no Chinese (reference/django_style.md 2). `tests/console/test_catalog.py` finds what a new version adds.
"""

from __future__ import annotations

from django.utils.translation import gettext_noop, ngettext_lazy

TEXTS = (
    gettext_noop("Locked Out"),
    gettext_noop("Form Data"),
    gettext_noop("Meta Data"),
    gettext_noop("Clean up expired attempts"),
    gettext_noop("Cleaned up {count} expired access attempts."),
    gettext_noop("Not set"),
    gettext_noop("Attempt Remaining"),
    gettext_noop("Account locked: too many login attempts. Please try again later."),
    gettext_noop(
        "Account locked: too many login attempts. Contact an admin to unlock your account."
    ),
    gettext_noop("User Agent"),
    gettext_noop("IP Address"),
    gettext_noop("HTTP Accept"),
    gettext_noop("Path"),
    gettext_noop("Attempt Time"),
    gettext_noop("Access lock out"),
    gettext_noop("access failure"),
    gettext_noop("access failures"),
    gettext_noop("GET Data"),
    gettext_noop("POST Data"),
    gettext_noop("Failed Logins"),
    gettext_noop("access attempt"),
    gettext_noop("access attempts"),
    gettext_noop("Access Attempt"),
    gettext_noop("Expires At"),
    gettext_noop("The time when access attempt expires and is no longer valid."),
    gettext_noop("access attempt expiration"),
    gettext_noop("access attempt expirations"),
    gettext_noop("Logout Time"),
    gettext_noop("Session key hash (sha256)"),
    gettext_noop("access log"),
    gettext_noop("access logs"),
    gettext_noop("Select record"),
    gettext_noop("Select action"),
    gettext_noop("Select action to run"),
    gettext_noop(
        "Raw passwords are not stored, so there is no way to see this user’s password, but you "
        'can change the password using <a href="{}" class="text-primary-600 '
        'dark:text-primary-500">this form</a>.'
    ),
    gettext_noop("Select value"),
    gettext_noop("Dataset not found. No action performed."),
    gettext_noop("You can not create nested object without parent"),
    gettext_noop("Run"),
    gettext_noop("After you've created a user, you’ll be able to edit more user options."),
    gettext_noop("Expand row"),
    gettext_noop("Welcome back to"),
    gettext_noop("Type to search"),
    gettext_noop("You have been successfully logged out from the administration"),
    gettext_noop("No data"),
    gettext_noop("More actions"),
    gettext_noop("All applications"),
    gettext_noop("True"),
    gettext_noop("False"),
    gettext_noop("Apply Filters"),
    gettext_noop("Select all rows"),
    gettext_noop("Recent searches"),
    gettext_noop("No recent searches"),
    gettext_noop("No results matching your query"),
    gettext_noop("Loading more results..."),
    ngettext_lazy(
        "\n                Found %(counter)s result in %(time)s seconds\n            ",
        "\n                Found %(counter)s results in %(time)s seconds\n            ",
        "counter",
    ),
    gettext_noop("Cancel"),
    gettext_noop("Submit"),
    gettext_noop("Record picture"),
    gettext_noop("This item will be deleted."),
    gettext_noop("Click to cancel"),
    gettext_noop("No results found"),
    gettext_noop("This page yielded into no results. Create a new item or reset your filters."),
    gettext_noop("Reset filters"),
    gettext_noop("Image preview"),
    gettext_noop("Click to download"),
    gettext_noop("Go back"),
    gettext_noop("Previous"),
    gettext_noop("Next"),
    gettext_noop("Search apps and models..."),
    gettext_noop("General"),
    gettext_noop("Light"),
    gettext_noop("Dark"),
    gettext_noop("System"),
    gettext_noop("Return to site"),
    gettext_noop("Choose file to upload"),
    gettext_noop("Toggle password visibility"),
    gettext_noop("Add row"),
    gettext_noop("Date"),
    gettext_noop("Select currency"),
    gettext_noop("Welcome"),
    gettext_noop("Username"),
)

# Django's: without the name of a constraint, and what its own Chinese lacks.
DJANGO = (
    gettext_noop("Constraint “%(name)s” is violated."),
    ngettext_lazy(
        "This password is too short. It must contain at least %d character.",
        "This password is too short. It must contain at least %d characters.",
    ),
)

# Names of our apps in the path above a page.
APPS = (
    gettext_noop("Projects"),
    gettext_noop("Skills"),
    gettext_noop("Memory"),
    gettext_noop("Engines"),
    gettext_noop("Wechat"),
    gettext_noop("Authentication and Authorization"),
)

# `make run` prints these inside f-strings, where xgettext does not look.
START = (
    gettext_noop("Console"),
    gettext_noop("Phone page"),
    gettext_noop("Mode"),
    gettext_noop("Ctrl-C ends everything."),
)
