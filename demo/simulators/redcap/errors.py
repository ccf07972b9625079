"""What REDCap says when it refuses (reference/redcap_dify.md 1.8)."""

from __future__ import annotations

from collections.abc import Iterable

NO_API = "You do not have permissions to use the API"
NO_EXPORT = "You do not have API Export privileges"
NO_IMPORT = "You do not have API Import/Update privileges"
NO_DELETE = "You do not have Delete Record privileges"
# Assumed: the reference has no text for a token without the Logging right.
NO_LOGGING = "You do not have Logging privileges"
BAD_CONTENT = 'The value of the parameter "content" is not valid'
NOT_IMPLEMENTED = "The requested method is not implemented."
NO_REPEATING = (
    "You cannot export repeating instruments and events because the project does not contain "
    "any repeating instruments and events"
)
# Assumed: 1.8 knows that wrong logic is an error, not its text.
BAD_LOGIC = 'The value of the parameter "filterLogic" is not valid'
BAD_FORMAT = (
    "The value you provided could not be validated because it does not follow the expected "
    "format. Please try again."
)


class ApiError(Exception):
    """A refusal: `status` and the text inside the error envelope."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text


def invalid_values(parameter: str, values: Iterable[str]) -> ApiError:
    """400 for values of `fields`, `forms`, `events` the project does not know."""
    quoted = ", ".join(f"'{value}'" for value in values)
    text = f'The following values in the parameter "{parameter}" are not valid: {quoted}'
    return ApiError(400, text)


def not_an_array(parameter: str) -> ApiError:
    """400 of the versions that refuse `fields=a,b` (redcapAPI issue 59)."""
    text = (
        f'The "{parameter}" parameter has been provided with a value, but the value is not an '
        f'array. The "{parameter}" parameter must be provided as an array of one or more values.'
    )
    return ApiError(400, text)


def classic(what: str) -> ApiError:
    """400 for arms, events and form/event mappings of a classic project."""
    return ApiError(400, f"You cannot export {what} for classic projects")
