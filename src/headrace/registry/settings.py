"""Settings of the HTTP client of a registry, from the options of a converter."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit, urlunsplit

from headrace.config.types import Password
from headrace.errors import ConfigError
from headrace.kafka.jaas import parse_jaas
from headrace.registry.options import RegistryConfig

_HEADERS = "request.header."
_TLS = "schema.registry.ssl."


@dataclass(frozen=True)
class Token:
    """How a bearer token is fetched (OAuth 2.0, client credentials)."""

    url: str
    client_id: str
    secret: str = field(repr=False)
    scope: str = ""


@dataclass(frozen=True)
class RegistrySettings:
    """Settings of the client of one registry; equal settings share a client."""

    urls: tuple[str, ...]
    """Without login."""
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """The headers of each request."""
    tls: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """`ssl.*`; times in ms."""
    token: Token | None = None
    connect_ms: int = 60000
    read_ms: int = 60000
    retries: int = 3
    wait_ms: int = 1000
    longest_wait_ms: int = 20000
    proxy: str | None = None
    """A URL or None."""


def registry_settings(config: RegistryConfig) -> RegistrySettings:
    """The settings from a converter's options, and from those under `request.header.` and `schema.registry.ssl.`.

    Raises ConfigError.
    """
    urls = [url.strip() for url in config.schema_registry_url if url.strip()]
    if not urls:
        raise ConfigError.missing("schema.registry.url")
    plain, in_url = zip(*(_without_login(url) for url in urls), strict=True)
    headers = config.originals_with_prefix(_HEADERS)
    token = _bearer(config, headers)
    if token is None and "Authorization" not in headers:
        login = _login(config, next((login for login in in_url if login), ""))
        if login:
            headers["Authorization"] = "Basic " + base64.b64encode(login.encode()).decode()
    tls = {"ssl." + key: value for key, value in config.originals_with_prefix(_TLS).items()}
    host, port = config.proxy_host, config.proxy_port
    return RegistrySettings(
        urls=plain,
        headers=tuple(sorted(headers.items())),
        tls=tuple(sorted(tls.items())),
        token=token,
        connect_ms=config.connect_timeout_ms,
        read_ms=config.read_timeout_ms,
        retries=config.max_retries,
        wait_ms=config.retries_wait_ms,
        longest_wait_ms=config.retries_max_wait_ms,
        proxy=f"http://{host}:{port}" if host and port > 0 else None,
    )


def _without_login(url: str) -> tuple[str, str]:
    """A URL without login, and the login: `name:password` or nothing."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        shown = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
        raise ConfigError.invalid("schema.registry.url", shown, "it has to begin with http:// or https://, and name a host")
    login, _, place = parts.netloc.rpartition("@")
    return urlunsplit(parts._replace(netloc=place)).rstrip("/"), unquote(login)


def _login(config: RegistryConfig, in_url: str) -> str:
    source = config.basic_source.strip()
    if source == "URL":
        return in_url
    if source == "USER_INFO":
        login = _secret(config.basic_user_info) or _secret(config.older_basic_user_info)
        if ":" not in login:
            raise ConfigError("basic.auth.user.info has to be name:password, as basic.auth.credentials.source is USER_INFO.")
        return login
    if source == "SASL_INHERIT":
        kafka = parse_jaas(_secret(config.sasl_jaas_config)).options
        return f"{kafka.get('username', '')}:{kafka.get('password', '')}"
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
    return Token(url, client, secret, config.bearer_scope)


def _secret(value: Password) -> str:
    return value.value.strip()
