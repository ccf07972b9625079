"""The editor's preview, mounted before the console's catch-all."""

from django.urls import path

from memory.console import preview

urlpatterns = [path("markdown-preview/", preview, name="markdown_preview")]
