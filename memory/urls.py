"""Console pages of the memories that are no table, mounted before the console's catch-all."""

from django.urls import path

from memory.console import preview
from memory.hot.console import sent_view

urlpatterns = [
    path("markdown-preview/", preview, name="markdown_preview"),
    path("what-would-be-sent/", sent_view, name="what_would_be_sent"),
]
