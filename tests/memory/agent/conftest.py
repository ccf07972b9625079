"""Fixtures of the Memory Manager's tests."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_django import Settings


@pytest.fixture
def immigration(settings: Settings) -> Any:
    """The house fills the seed's own profile."""
    settings.MEMORY_SCHEMA = "immigration"
