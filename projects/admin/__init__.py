"""The console's pages of the study itself and of the house."""

from projects.admin import accounts, house, people, studies, trail

__all__ = ["accounts", "house", "people", "studies", "trail"]
