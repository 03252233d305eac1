"""JSON that somebody typed into a field of the page."""

from __future__ import annotations

from headrace.errors import BadRequestError, ConnectError
from headrace.rest import body


def typed_json(text: str, subject: str) -> body.Tree:
    """What the text says, read as the REST API reads a body; None if it is empty. Numbers come as `body.Number`.

    subject: what it is, for the message. Raises BadRequestError.
    """
    try:
        return body.parse(text.encode("utf-8", "replace"), subject)
    except ConnectError as error:
        raise BadRequestError(f"{error.message.removesuffix('.')}.") from None
