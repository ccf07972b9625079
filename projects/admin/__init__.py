"""The console's pages of the study itself and of the house."""

from projects.admin import accounts, documents, house, people, studies, tokens, trail

__all__ = ["accounts", "documents", "house", "people", "studies", "tokens", "trail"]
