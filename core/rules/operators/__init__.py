"""The operators of rules, each with all that is known of it (`compiler.Operator`)."""

from core.rules.compiler import OPERATORS
from core.rules.operators import calculation, comparison, lists, logic, study, text

__all__ = ["OPERATORS", "calculation", "comparison", "lists", "logic", "study", "text"]
