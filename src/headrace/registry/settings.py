"""Settings of the HTTP client of a registry, from the options of a converter."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

import httpx

from headrace.config.redaction import maskable
from headrace.config.secrets import HIDDEN, Secrets
from headrace.config.types import Password
from headrace.errors import ConfigError
from headrace.kafka.jaas import parse_jaas
from headrace.registry.options import RegistryConfig

_HEADERS = "request.header."
_PREFIX = "schema.registry."
_TLS = _PREFIX + "ssl."
_HOST_CHECK = "ssl.endpoint.identification.algorithm"
_OF_CLIENT = ("basic.auth.", "bearer.auth.", "http.", "max.retries", "proxy.", "retries.", "sasl.jaas.config")
_HOST = r"[^\s/:@?#\[\]]+|\[[0-9A-Fa-f:.]+\]"
_HEADER_NAME = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"


@dataclass(frozen=True)
class Token:
    """How a bearer token is fetched (OAuth 2.0, client credentials)."""

    url: str
    """`bearer.auth.issuer.endpoint.url`."""
    client_id: str
    secret: str = field(repr=False)
    scope: str = ""
    """`bearer.auth.scope`; empty asks for none."""


@dataclass(frozen=True)
class RegistrySettings:
    """Settings of the client of one registry."""

    urls: tuple[str, ...]
    """Without login."""
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """The headers of each request."""
    authorizations: tuple[str, ...] = field(default=(), repr=False)
    """The header Authorization for the server of each URL, from the login in it; "" for none."""
    tls: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """`ssl.*`; times in ms."""
    token: Token | None = None
    """None sends no token that has to be fetched."""
    connect_ms: int = 60000
    """`http.connect.timeout.ms`; 0 is without end."""
    read_ms: int = 60000
    """`http.read.timeout.ms`; 0 is without end."""
    retries: int = 3
    """`max.retries`."""
    wait_ms: int = 1000
    """`retries.wait.ms`: the first pause; each next one is twice as long."""
    longest_wait_ms: int = 20000
    """`retries.max.wait.ms`."""
    proxy: str | None = None
    """A URL or None."""

    @property
    def secrets(self) -> tuple[str, ...]:
        """Texts that must not be in messages, which a server may repeat in its response."""
        secret_headers = Secrets()
        texts = {value for name, value in self.headers if secret_headers.hides(name)} | {self.token.secret if self.token else ""}
        for authorization in (dict(self.headers).get("Authorization", ""), *self.authorizations):
            scheme, _, credentials = authorization.partition(" ")
            texts |= {authorization, credentials}
            if scheme == "Basic":
                with suppress(ValueError):
                    login = base64.b64decode(credentials, validate=True).decode()
                    texts |= {login, login.partition(":")[2]}
        return tuple(maskable(texts))


def registry_settings(config: RegistryConfig) -> RegistrySettings:
    """The settings from a converter's options, and from those under `request.header.` and `schema.registry.`.

    Raises ConfigError.
    """
    config = _with_prefixed(config)
    urls = [url.strip() for url in config.schema_registry_url if url.strip()]
    if not urls:
        raise ConfigError.missing("schema.registry.url")
    plain, in_urls = zip(*(_without_login(url) for url in urls), strict=True)
    headers = config.originals_with_prefix(_HEADERS)
    for name, value in headers.items():
        if not (re.fullmatch(_HEADER_NAME, name) and _is_header_value(value)):
            raise ConfigError(f"{_HEADERS}{name} cannot be sent: a header has visible characters of ASCII, in one line.")
    token = _bearer(config, headers)
    authorizations: tuple[str, ...] = ()
    if token is None and "Authorization" not in headers:
        authorizations = tuple(_basic(login) if login else "" for login in _logins(config, in_urls))
    tls = {"ssl." + key: value for key, value in config.originals_with_prefix(_TLS).items()}
    if tls.get(_HOST_CHECK, "").lower() == "none":  # Confluent's word for Kafka's empty text
        tls[_HOST_CHECK] = ""
    return RegistrySettings(
        urls=plain,
        headers=tuple(sorted(headers.items())),
        authorizations=authorizations,
        tls=tuple(sorted(tls.items())),
        token=token,
        connect_ms=config.connect_timeout_ms,
        read_ms=config.read_timeout_ms,
        retries=config.max_retries,
        wait_ms=config.retries_wait_ms,
        longest_wait_ms=config.retries_max_wait_ms,
        proxy=_proxy(config),
    )


def _proxy(config: RegistryConfig) -> str | None:
    """The URL of the proxy; none, as in Confluent's client, if the host or the port is not set. Raises ConfigError."""
    host, port = config.proxy_host, config.proxy_port
    if not host or port <= 0:
        return None
    if not re.fullmatch(_HOST, host):
        raise ConfigError.invalid(
            "proxy.host", host, "it has to be a host, without http:// before it or a port behind it; an IPv6 address in brackets"
        )
    return _checked("proxy.host", f"http://{host}:{port}").geturl()


def _with_prefixed(config: RegistryConfig) -> RegistryConfig:
    """The configuration with the options of the client that are given with `schema.registry.` before them, as Confluent's
    `CachedSchemaRegistryClient` takes them. Those without the prefix count more. Raises ConfigError.
    """
    prefixed = config.originals_with_prefix(_PREFIX)
    own = {name: value for name, value in prefixed.items() if name.startswith(_OF_CLIENT) and name in config.definition().names}
    return RegistryConfig({**own, **config.originals}) if own else config


def _without_login(url: str) -> tuple[str, str]:
    """A URL without login, and the login: `name:password` or nothing."""
    parts = _checked("schema.registry.url", url)
    login, _, place = parts.netloc.rpartition("@")
    return urlunsplit(parts._replace(netloc=place)).rstrip("/"), unquote(login)


def _checked(option: str, url: str) -> SplitResult:
    """The parts of a URL. Raises ConfigError, without its login, if requests cannot be sent there."""
    try:
        parts = urlsplit(url)
        names_host = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 and httpx.URL(url).host
        if names_host and url.isprintable() and " " not in url and "@" not in parts.path + parts.query + parts.fragment:
            return parts
    except (ValueError, httpx.InvalidURL):  # of the port, the host, or the brackets of an address
        pass
    before, at, after = " ".join(url.split()).rpartition("@")
    shown = f"{before.partition('://')[0]}://{HIDDEN}@{after}" if at else after
    raise ConfigError.invalid(
        option, shown, "it has to begin with http:// or https://, and name a host; / and @ in a password are written %2F and %40"
    )


def _is_header_value(text: str) -> bool:
    return text.isascii() and text.isprintable()


def _basic(login: str) -> str:
    return "Basic " + base64.b64encode(login.encode()).decode()


def _logins(config: RegistryConfig, in_urls: Sequence[str]) -> list[str]:
    """The login for the server of each URL; "" for none. in_urls: the logins in the URLs."""
    if config.basic_source.strip() == "URL":
        return list(in_urls)  # each server has a login of its own: it must not get that of another one
    return [_login(config)] * len(in_urls)


def _login(config: RegistryConfig) -> str:
    source = config.basic_source.strip()
    if source == "USER_INFO":
        login = _secret(config.basic_user_info) or _secret(config.older_basic_user_info)
        if ":" not in login:
            raise ConfigError("basic.auth.user.info has to be name:password, as basic.auth.credentials.source is USER_INFO.")
        return login
    if source == "SASL_INHERIT":
        kafka = parse_jaas(_secret(config.sasl_jaas_config)).options
        if missing := [name for name in ("username", "password") if name not in kafka]:
            raise ConfigError(f"basic.auth.credentials.source is SASL_INHERIT, but sasl.jaas.config has no {missing[0]}.")
        return f"{kafka['username']}:{kafka['password']}"
    raise ConfigError.invalid("basic.auth.credentials.source", source, "it has to be URL, USER_INFO or SASL_INHERIT")


def _bearer(config: RegistryConfig, headers: dict[str, str]) -> Token | None:
    source = config.bearer_source.strip()
    if not source:
        return None
    if config.bearer_logical_cluster:
        headers["target-sr-cluster"] = config.bearer_logical_cluster
    if config.bearer_identity_pool:
        headers["Confluent-Identity-Pool-Id"] = config.bearer_identity_pool
    if source == "STATIC_TOKEN":
        token = _secret(config.bearer_token)
        if not token:
            raise ConfigError("bearer.auth.token is missing, as bearer.auth.credentials.source is STATIC_TOKEN.")
        if not _is_header_value(token):
            raise ConfigError("bearer.auth.token cannot be sent: it has characters that are no visible ASCII.")
        headers["Authorization"] = "Bearer " + token
        return None
    if source != "OAUTHBEARER":
        raise ConfigError.invalid(
            "bearer.auth.credentials.source",
            source,
            "it has to be STATIC_TOKEN (bearer.auth.token) or OAUTHBEARER (client credentials of bearer.auth.client.id); "
            "SASL_OAUTHBEARER_INHERIT and CUSTOM are not supported",
        )
    url, client, secret = config.bearer_url.strip(), config.bearer_client_id.strip(), _secret(config.bearer_client_secret)
    if not (url and client and secret):
        raise ConfigError(
            "OAUTHBEARER needs bearer.auth.issuer.endpoint.url, bearer.auth.client.id and bearer.auth.client.secret."
        )
    if _checked("bearer.auth.issuer.endpoint.url", url).username is not None:
        raise ConfigError("bearer.auth.issuer.endpoint.url has a login: set bearer.auth.client.id and bearer.auth.client.secret.")
    return Token(url, client, secret, config.bearer_scope)


def _secret(value: Password) -> str:
    return value.value.strip()
