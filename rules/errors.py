"""The one error a rule can raise."""


class RuleError(ValueError):
    """A rule that can't be compiled or computed; the message is for the rule's author."""
