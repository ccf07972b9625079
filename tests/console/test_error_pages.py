"""Error pages in both languages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.template.loader import render_to_string
from django.test import Client
from django.utils import translation


@pytest.mark.parametrize(
    ("language", "text"), [("zh-hans", "页面不存在"), ("en", "This page does not exist")]
)
def test_not_found(as_user: Callable[..., Client], language: str, text: str) -> None:
    answer = as_user("admin", language).get("/nowhere/")
    assert answer.status_code == 404
    assert text in answer.content.decode()


def test_not_allowed(as_user: Callable[..., Client]) -> None:
    answer = as_user("charlie", "zh-hans").get("/admin/engines/taskrun/")
    assert answer.status_code == 403
    assert "您的角色无权打开此页面" in answer.content.decode()


@pytest.mark.parametrize(
    ("language", "text"), [("zh-hans", "系统出错了"), ("en", "Something went wrong on our side")]
)
def test_broken(language: str, text: str, settings: Any) -> None:
    with translation.override(language):
        page = render_to_string("500.html")
    assert text in page
    assert "http" not in page.replace("http-equiv", "")
