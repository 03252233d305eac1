"""The authentication configured in the worker's settings, and its refusals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from starlette.responses import Response

from headrace.errors import ConfigError
from headrace.rest import responses
from headrace.rest.property_file_login import EXTENSION, property_file_login
from headrace.rest.roles import Role
from headrace.rest.users import read_users
from headrace.runtime.worker_config import WorkerConfig

CHALLENGE = 'Basic realm="headrace", charset="UTF-8"'


@dataclass(frozen=True)
class Access:
    """Who may use the REST API."""

    role: Callable[[str | None, str | None], Role | None]
    """Takes name and password (None: not sent), returns the user's role, None for a stranger; it may take a while."""
    refuse: Callable[[], Response]
    """Returns the answer to a stranger."""


def access(config: WorkerConfig) -> Access | None:
    """The authentication of `rest.authentication` or `rest.extension.classes`, None if neither is set. Raises ConfigError."""
    extended = _extended(config.rest_extensions)
    if config.rest_authentication == "basic":
        if extended:
            raise ConfigError("rest.authentication=basic and BasicAuthSecurityRestExtension are two ways to one end; keep one.")
        if not config.rest_users_file:
            raise ConfigError("rest.authentication=basic needs rest.authentication.users.file.")
        return Access(read_users(Path(config.rest_users_file)).role, _unauthorized)
    return Access(property_file_login(config.jaas_file).role, _plain) if extended else None


def _extended(classes: list[str]) -> bool:
    strange = [name for name in classes if name not in (EXTENSION, EXTENSION.rpartition(".")[2])]
    if strange:
        raise ConfigError(
            f"rest.extension.classes: {strange[0]} is a Java class, which headrace cannot load; there is {EXTENSION} "
            "and, beyond Kafka, rest.authentication=basic."
        )
    return bool(classes)


def _unauthorized() -> Response:
    return responses.error(
        401,
        "This worker has to know who asks: send a user and a password (basic authentication).",
        {"WWW-Authenticate": CHALLENGE},
    )


def _plain() -> Response:
    return Response("User cannot access the resource.", 401, media_type="text/plain")
