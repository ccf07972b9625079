"""Console pages of the memories that are no table, mounted before the console's catch-all."""

from django.urls import path

from memory.console import preview
from memory.hot.console import meter_view, sent_view

urlpatterns = [
    path("markdown-preview/", preview, name="markdown_preview"),
    path("hot-memory-meter/", meter_view, name="hot_memory_meter"),
    path("what-would-be-sent/", sent_view, name="what_would_be_sent"),
]
