"""Console pages of the memories that are no table, mounted before the console's catch-all."""

from django.urls import path

from memory.console import meter_view, preview_view

urlpatterns = [
    path("markdown-preview/", preview_view, name="markdown_preview"),
    path("hot-memory-meter/", meter_view, name="hot_memory_meter"),
]
