"""What can go wrong with REDCap, each with its own name.

The message holds status and content only: REDCap's own text can quote data (2.1), so it stays in
`text`, for the console, and never reaches a log by way of `str()`.
"""


class RedcapError(Exception):
    """REDCap refused the request. `status` is the HTTP status (0: no answer), `text` its reason."""

    def __init__(self, status: int, text: str, content: str = "") -> None:
        self.status = status
        self.text = text
        self.content = content
        super().__init__(f"{type(self).__name__}: status {status}, content {content or '-'}")


class RedcapPermissionError(RedcapError):
    """403: wrong token, no API right, or a malformed request (1.8). Never retried."""


class RedcapUnavailable(RedcapError):
    """No usable answer: network, time-out, 408, 500, 502, 503 or 504 after every try, 429 after one."""


class RedcapProtocolError(RedcapError):
    """An answer that is not what the API promises: HTML, cut JSON, a redirect, another shape."""


PASSING = (RedcapUnavailable, RedcapProtocolError)
"""What may be over after a while: an outage, too many requests, a page of maintenance, a cut body."""
