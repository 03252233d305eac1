"""The worker's settings for its REST interface."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from headrace.config import Config, Importance, Type, option
from headrace.errors import ConfigError
from headrace.rest.headers import CrossOrigin, HeaderRule, parse_rules


@dataclass(frozen=True)
class Listener:
    """Where to listen. host: name or address, empty for all interfaces; port: 0 for any free one."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"http://{self.host}:{self.port}"


class RestConfig(Config):
    """Read from the properties of a worker; the same names as in Kafka Connect."""

    listeners: list[str] = option(
        "listeners",
        Type.LIST,
        "http://localhost:8083",
        importance=Importance.LOW,
        doc="Comma-separated URIs that the REST interface listens on; without a host (http://:8083) on all interfaces. "
        "The default differs from Kafka Connect's, which is all interfaces: the interface asks for no password.",
    )
    admin_listeners: list[str] | None = option(
        "admin.listeners",
        Type.LIST,
        None,
        importance=Importance.LOW,
        doc="Comma-separated URIs that the admin resources listen on. "
        "Not set: those of `listeners`; empty: no admin resources.",
    )
    advertised_host: str | None = option(
        "rest.advertised.host.name",
        Type.STRING,
        None,
        importance=Importance.LOW,
        doc="The host name given to other workers to connect to.",
    )
    advertised_port: int | None = option(
        "rest.advertised.port",
        Type.INT,
        None,
        importance=Importance.LOW,
        doc="The port given to other workers to connect to.",
    )
    allow_origin: str = option(
        "access.control.allow.origin",
        Type.STRING,
        "",
        importance=Importance.LOW,
        doc="Origins, separated by commas, whose web pages may use the REST interface; `*` for any.",
    )
    allow_methods: str = option(
        "access.control.allow.methods",
        Type.STRING,
        "",
        importance=Importance.LOW,
        doc="The methods that such pages may use. Empty: GET, POST and HEAD.",
    )
    response_headers: str = option(
        "response.http.headers.config",
        Type.STRING,
        "",
        importance=Importance.LOW,
        doc="Headers of every answer: `[action] [name]:[value]`, separated by commas. "
        "The actions are set, add, setDate and addDate.",
    )

    def check(self) -> None:
        """Read every listener and header rule once; raises ConfigError."""
        self.main = [_listener("listeners", uri) for uri in self.listeners]
        if not self.main:
            raise ConfigError.invalid("listeners", "[]", "At least one listener is needed, e.g. http://localhost:8083.")
        self.admin = [_listener("admin.listeners", uri) for uri in self.admin_listeners or ()]
        self.header_rules: list[HeaderRule] = parse_rules(self.response_headers)
        self.cross_origin = CrossOrigin(_words(self.allow_origin), _words(self.allow_methods) or CrossOrigin.methods)

    @property
    def serves_admin(self) -> bool:
        """Whether the main listeners serve the admin resources too."""
        return self.admin_listeners is None

    @property
    def worker_id(self) -> str:
        """`host:port` by which other workers know this one: the advertised address, else that of the first listener."""
        host = self.advertised_host or self.main[0].host or "localhost"
        return f"{host}:{self.advertised_port or self.main[0].port}"


def _listener(name: str, uri: str) -> Listener:
    parts = urlsplit(uri)
    try:
        port = parts.port
    except ValueError:
        port = None
    if parts.scheme.lower() == "https":
        raise ConfigError.invalid(
            name, uri, "HTTPS listeners are not supported; put a TLS proxy in front of http://localhost:PORT."
        )
    if parts.scheme.lower() != "http" or port is None or parts.path not in ("", "/"):
        raise ConfigError.invalid(name, uri, "Expected a URI like http://localhost:8083.")
    return Listener(parts.hostname or "", port)


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())
