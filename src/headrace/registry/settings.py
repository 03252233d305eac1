"""How a registry is called: from options to what an HTTP client is made with."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

from headrace.config.types import Password
from headrace.errors import ConfigError
from headrace.kafka.jaas import parse_jaas

_HEADERS = "request.header."
_TLS = "schema.registry.ssl."


@dataclass(frozen=True)
class Token:
    """Where a bearer token is asked for (OAuth 2.0, client credentials)."""

    url: str
    client_id: str
    secret: str = field(repr=False)
    scope: str = ""


@dataclass(frozen=True)
class RegistrySettings:
    """How one registry is called; equal settings share a client."""

    urls: tuple[str, ...]
    """Without login."""
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """Of each request."""
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


def registry_settings(options: Mapping[str, Any], props: Mapping[str, str]) -> RegistrySettings:
    """The settings of a converter's options (`registry_options`) and raw properties. Raises ConfigError."""
    given = [url.strip() for url in options["schema.registry.url"] if url.strip()]
    if not given:
        raise ConfigError.missing("schema.registry.url")
    plain, in_url = zip(*(_without_login(url) for url in given), strict=True)
    headers = {key.removeprefix(_HEADERS): value for key, value in props.items() if key.startswith(_HEADERS)}
    token = _bearer(options, headers)
    if token is None and "Authorization" not in headers:
        login = _login(options, next((login for login in in_url if login), ""))
        if login:
            headers["Authorization"] = "Basic " + base64.b64encode(login.encode()).decode()
    tls = {"ssl." + key.removeprefix(_TLS): value for key, value in props.items() if key.startswith(_TLS)}
    host, port = options["proxy.host"], options["proxy.port"]
    return RegistrySettings(
        urls=plain,
        headers=tuple(sorted(headers.items())),
        tls=tuple(sorted(tls.items())),
        token=token,
        connect_ms=options["http.connect.timeout.ms"],
        read_ms=options["http.read.timeout.ms"],
        retries=options["max.retries"],
        wait_ms=options["retries.wait.ms"],
        longest_wait_ms=options["retries.max.wait.ms"],
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


def _login(options: Mapping[str, Any], in_url: str) -> str:
    source = options["basic.auth.credentials.source"].strip()
    if source == "URL":
        return in_url
    if source == "USER_INFO":
        login = _secret(options["basic.auth.user.info"]) or _secret(options["schema.registry.basic.auth.user.info"])
        if ":" not in login:
            raise ConfigError("basic.auth.user.info has to be name:password, as basic.auth.credentials.source is USER_INFO.")
        return login
    if source == "SASL_INHERIT":
        kafka = parse_jaas(_secret(options["sasl.jaas.config"])).options
        return f"{kafka.get('username', '')}:{kafka.get('password', '')}"
    raise ConfigError.invalid("basic.auth.credentials.source", source, "it has to be URL, USER_INFO or SASL_INHERIT")


def _bearer(options: Mapping[str, Any], headers: dict[str, str]) -> Token | None:
    source = options["bearer.auth.credentials.source"].strip()
    if not source:
        return None
    for option, header in (("logical.cluster", "target-sr-cluster"), ("identity.pool.id", "Confluent-Identity-Pool-Id")):
        if options[f"bearer.auth.{option}"]:
            headers[header] = options[f"bearer.auth.{option}"]
    if source == "STATIC_TOKEN":
        token = _secret(options["bearer.auth.token"])
        if not token:
            raise ConfigError("bearer.auth.token is missing, as bearer.auth.credentials.source is STATIC_TOKEN.")
        headers["Authorization"] = "Bearer " + token
        return None
    if source != "OAUTHBEARER":
        raise ConfigError.invalid("bearer.auth.credentials.source", source, "it has to be STATIC_TOKEN or OAUTHBEARER")
    names = ("issuer.endpoint.url", "client.id", "client.secret")
    url, client, secret = (_secret(options[f"bearer.auth.{name}"]) for name in names)
    if not (url and client and secret):
        raise ConfigError(
            "OAUTHBEARER needs bearer.auth.issuer.endpoint.url, bearer.auth.client.id and bearer.auth.client.secret."
        )
    return Token(url, client, secret, options["bearer.auth.scope"])


def _secret(value: Any) -> str:
    return (value.value if isinstance(value, Password) else value or "").strip()
