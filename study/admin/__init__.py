"""The console's pages of studies, their people, documents, settings and trail."""

from study.admin import documents, people, settings, studies, trail

__all__ = ["documents", "people", "settings", "studies", "trail"]
