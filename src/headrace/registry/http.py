"""Requests to a registry: several servers, login, retries with back-off."""

from __future__ import annotations

import threading
import time
import weakref
from time import sleep
from typing import Any

import httpx
import structlog

from headrace.errors import ConnectError
from headrace.kafka.ssl_context import client_context
from headrace.registry.errors import RegistryError, RegistryUnavailableError
from headrace.registry.request_wait import is_cancelled, wait_for_response
from headrace.registry.settings import RegistrySettings, Token
from headrace.retry import Backoff

log = structlog.get_logger(__name__)

_MEDIA_TYPE = "application/vnd.schemaregistry.v1+json"
_RETRIABLE_STATUSES = (408, 429, 500, 502, 503, 504)
_REFRESH_EARLY_S = 30.0
_LOGIN = "check basic.auth.credentials.source, basic.auth.user.info, bearer.auth.* and schema.registry.ssl.*"


class RegistryHttp:
    """Sends requests to one registry; thread-safe. Its connections are closed with the last reference to it."""

    def __init__(self, settings: RegistrySettings) -> None:
        """Raises ConfigError for TLS settings that cannot be used."""
        self._settings, self._first = settings, 0
        self._lock = threading.Lock()
        self._token: tuple[str, float] = ("", 0.0)  # and when it expires, by time.monotonic
        https = any(url.startswith("https:") for url in settings.urls)
        self._client = httpx.Client(
            headers={"Accept": _MEDIA_TYPE, **dict(settings.headers)},
            timeout=httpx.Timeout(settings.read_ms / 1000, connect=settings.connect_ms / 1000),
            verify=client_context(dict(settings.tls)) if https else False,
            proxy=settings.proxy,
            trust_env=False,
        )
        weakref.finalize(self, self._client.close)

    def request(self, method: str, path: str, body: object = None, **query: str) -> Any:
        """The parsed response. Raises RegistryError if the registry refuses the request, RegistryUnavailableError if no server
        answers within the limits of the caller (`headrace.registry.request_wait`).
        """
        return wait_for_response(
            lambda until: self._request_with_retries(method, path, body, query, until), ", ".join(self._settings.urls)
        )

    def _request_with_retries(self, method: str, path: str, body: object, query: dict[str, str], until: float) -> Any:
        why = ""
        backoff = Backoff(self._settings.wait_ms / 1000, self._settings.longest_wait_ms / 1000, jitter=0.5)
        for attempt in range(self._settings.retries + 1):
            if attempt:
                pause_s = backoff.failed()
                if time.monotonic() + pause_s >= until:
                    break  # the caller gets the reason before its time limit
                sleep(pause_s)
            if is_cancelled():
                break
            response, why = self._request_any_server(method, path, body, query)
            if response is not None:
                return self._parse_response(response)
        where = ", ".join(self._settings.urls)
        raise RegistryUnavailableError(f"The schema registry does not answer ({where}): {why}")

    def _request_any_server(
        self, method: str, path: str, body: object, query: dict[str, str]
    ) -> tuple[httpx.Response | None, str]:
        """The response of the first server that answers, starting with the one that answered last; None and the reason if none
        does.
        """
        urls, first, why = self._settings.urls, self._first, ""
        for number in range(len(urls)):
            index = (first + number) % len(urls)
            try:
                response = self._client.request(
                    method, urls[index] + path, json=body, params=query, headers=self._authorization() | _content(body)
                )
            except (httpx.TransportError, OSError) as error:
                why = f"{urls[index]}: {str(error) or type(error).__name__}"
                continue
            if response.status_code not in _RETRIABLE_STATUSES:
                self._first = index
                return response, ""
            why = f"{urls[index]} answered {response.status_code} {response.reason_phrase}"
        log.debug("schema-registry.unavailable", cause=why)
        return None, why

    def _parse_response(self, response: httpx.Response) -> Any:
        url = str(response.url.copy_with(path="/", query=None)).rstrip("/")
        try:
            body: Any = response.json() if response.content else None
        except ValueError:
            raise ConnectError(f"What answers at {url} is no schema registry: it sends no JSON.") from None
        if response.is_success:
            return body
        code, message = response.status_code, response.reason_phrase
        if isinstance(body, dict):
            code, message = body.get("error_code", code), body.get("message", message)
        hint = f"; {_LOGIN}" if response.status_code in (401, 403) else ""
        problem = f"The schema registry at {url} refuses ({response.status_code}, error {code}): {message}{hint}"
        raise RegistryError(problem, response.status_code, code)

    def _authorization(self) -> dict[str, str]:
        token = self._settings.token
        if token is None:
            return {}
        with self._lock:
            if time.monotonic() >= self._token[1]:
                self._token = self._fetch_token(token)
            return {"Authorization": f"Bearer {self._token[0]}"}

    def _fetch_token(self, token: Token) -> tuple[str, float]:
        form = {"grant_type": "client_credentials", **({"scope": token.scope} if token.scope else {})}
        try:
            response = httpx.post(
                token.url, data=form, auth=(token.client_id, token.secret), timeout=self._settings.read_ms / 1000, trust_env=False
            )
        except (httpx.TransportError, OSError) as error:
            raise httpx.TransportError(f"no token, as {token.url} does not answer: {error or type(error).__name__}") from error
        if not response.is_success:
            raise ConnectError(
                f"No token for the schema registry: {token.url} answered {response.status_code} {response.reason_phrase}; "
                "check bearer.auth.client.id and bearer.auth.client.secret."
            )
        try:
            content = response.json()
            return content["access_token"], time.monotonic() + max(0.0, float(content.get("expires_in", 300)) - _REFRESH_EARLY_S)
        except (ValueError, TypeError, KeyError):
            raise ConnectError(
                f"No token for the schema registry: what {token.url} answered has no access_token; check "
                "bearer.auth.issuer.endpoint.url."
            ) from None


def _content(body: object) -> dict[str, str]:
    return {} if body is None else {"Content-Type": _MEDIA_TYPE}
