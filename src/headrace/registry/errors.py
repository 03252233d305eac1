"""Errors of requests to a schema registry."""

from __future__ import annotations

from headrace.errors import ConnectError, RetriableError

_SERIALIZATION = "org.apache.kafka.common.errors.SerializationException"


class RegistryError(ConnectError):
    """The registry has refused a request; code: its own, which begins with the HTTP status."""

    java_class = _SERIALIZATION

    def __init__(self, message: str, status: int, code: int) -> None:
        super().__init__(message)
        self.http_status, self.code = status, code

    @property
    def is_missing(self) -> bool:
        """Whether the requested schema, subject or version does not exist."""
        return self.http_status == 404

    @property
    def refuses_login(self) -> bool:
        """Whether the registry has refused the credentials: then every request fails."""
        return self.http_status in (401, 403)


class InvalidResponseError(ConnectError):
    """What answers is no schema registry, or sends what no registry does."""

    def __init__(self, where: str, problem: str, status: int = 200) -> None:
        """where: the URL, or the path of the request; problem: the rest of the sentence; status: of HTTP."""
        super().__init__(f"What answers at {where} is no schema registry: {problem}")
        self.http_status = status


class RegistryUnavailableError(RetriableError):
    """No server of the registry has answered; the request can be retried."""
