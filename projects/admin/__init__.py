"""The console's pages of accounts, tokens and the house."""

from projects.admin import accounts, house, tokens

__all__ = ["accounts", "house", "tokens"]
