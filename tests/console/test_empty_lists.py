"""An empty list says what comes there and how, each in its own words."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import translation

pytestmark = pytest.mark.django_db


def pages() -> dict[str, Any]:
    """Address of each list -> its page."""
    return {
        reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist"): page
        for model, page in admin.site._registry.items()
    }


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_no_two_lists_share_their_words(language: str) -> None:
    with translation.override(language):
        told = Counter(str(page.empty) for page in pages().values())
    assert [text for text, times in told.items() if times > 1 or not text] == []


@pytest.mark.full
def test_each_empty_list_says_its_own(db: None) -> None:
    client = Client()
    root = User.objects.create_superuser("root")
    client.force_login(root, backend="django.contrib.auth.backends.ModelBackend")
    client.cookies["django_language"] = "zh-hans"
    silent = []
    for url, page in pages().items():
        shown = client.get(url)
        with translation.override("zh-hans"):
            if (
                not shown.context["cl"].result_count
                and str(page.empty) not in shown.content.decode()
            ):
                silent.append(url)
    assert silent == []
