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
from headrace.registry.patience import awaited, given_up
from headrace.registry.settings import RegistrySettings, Token
from headrace.retry import Backoff

log = structlog.get_logger(__name__)

_MEDIA_TYPE = "application/vnd.schemaregistry.v1+json"
_TRY_AGAIN = (408, 429, 500, 502, 503, 504)
_EARLY_S = 30.0
_LOGIN = "check basic.auth.credentials.source, basic.auth.user.info, bearer.auth.* and schema.registry.ssl.*"


class RegistryHttp:
    """Requests to one registry, from any thread; its connections are closed with the last reference to it."""

    def __init__(self, settings: RegistrySettings) -> None:
        """Raises ConfigError for TLS settings that cannot be used."""
        self._settings, self._first = settings, 0
        self._lock = threading.Lock()
        self._token: tuple[str, float] = ("", 0.0)  # and the time when it is over
        https = any(url.startswith("https:") for url in settings.urls)
        self._client = httpx.Client(
            headers={"Accept": _MEDIA_TYPE, **dict(settings.headers)},
            timeout=httpx.Timeout(settings.read_ms / 1000, connect=settings.connect_ms / 1000),
            verify=client_context(dict(settings.tls)) if https else False,
            proxy=settings.proxy,
            trust_env=False,
        )
        weakref.finalize(self, self._client.close)

    def ask(self, method: str, path: str, body: object = None, **query: str) -> Any:
        """The parsed answer. Raises RegistryError for one that refuses, RegistryUnavailableError if no server answers, or the
        asker's patience ends first (`headrace.registry.patience`).
        """
        return awaited(lambda until: self._ask(method, path, body, query, until), ", ".join(self._settings.urls))

    def _ask(self, method: str, path: str, body: object, query: dict[str, str], until: float) -> Any:
        why = ""
        backoff = Backoff(self._settings.wait_ms / 1000, self._settings.longest_wait_ms / 1000, jitter=0.5)
        for attempt in range(self._settings.retries + 1):
            if attempt:
                pause_s = backoff.failed()
                if time.monotonic() + pause_s >= until:
                    break  # so that the asker hears in time why there is no answer
                sleep(pause_s)
            if given_up():
                break
            answer, why = self._somewhere(method, path, body, query)
            if answer is not None:
                return self._taken(answer)
        where = ", ".join(self._settings.urls)
        raise RegistryUnavailableError(f"The schema registry does not answer ({where}): {why}")

    def _somewhere(self, method: str, path: str, body: object, query: dict[str, str]) -> tuple[httpx.Response | None, str]:
        """The answer of the first server that has one, from the one on that answered last; None, and why, if there is none."""
        urls, first, why = self._settings.urls, self._first, ""
        for number in range(len(urls)):
            place = (first + number) % len(urls)
            try:
                answer = self._client.request(
                    method, urls[place] + path, json=body, params=query, headers=self._bearer() | _content(body)
                )
            except (httpx.TransportError, OSError) as error:
                why = f"{urls[place]}: {str(error) or type(error).__name__}"
                continue
            if answer.status_code not in _TRY_AGAIN:
                self._first = place
                return answer, ""
            why = f"{urls[place]} answered {answer.status_code} {answer.reason_phrase}"
        log.debug("schema-registry.unavailable", cause=why)
        return None, why

    def _taken(self, answer: httpx.Response) -> Any:
        url = str(answer.url.copy_with(path="/", query=None)).rstrip("/")
        try:
            body: Any = answer.json() if answer.content else None
        except ValueError:
            raise ConnectError(f"What answers at {url} is no schema registry: it sends no JSON.") from None
        if answer.is_success:
            return body
        code, words = answer.status_code, answer.reason_phrase
        if isinstance(body, dict):
            code, words = body.get("error_code", code), body.get("message", words)
        hint = f"; {_LOGIN}" if answer.status_code in (401, 403) else ""
        message = f"The schema registry at {url} refuses ({answer.status_code}, error {code}): {words}{hint}"
        raise RegistryError(message, answer.status_code, code)

    def _bearer(self) -> dict[str, str]:
        token = self._settings.token
        if token is None:
            return {}
        with self._lock:
            if time.monotonic() >= self._token[1]:
                self._token = self._asked(token)
            return {"Authorization": f"Bearer {self._token[0]}"}

    def _asked(self, token: Token) -> tuple[str, float]:
        form = {"grant_type": "client_credentials", **({"scope": token.scope} if token.scope else {})}
        try:
            answer = httpx.post(
                token.url, data=form, auth=(token.client_id, token.secret), timeout=self._settings.read_ms / 1000, trust_env=False
            )
        except (httpx.TransportError, OSError) as error:
            raise httpx.TransportError(f"no token, as {token.url} does not answer: {error or type(error).__name__}") from error
        if not answer.is_success:
            raise ConnectError(
                f"No token for the schema registry: {token.url} answered {answer.status_code} {answer.reason_phrase}; "
                "check bearer.auth.client.id and bearer.auth.client.secret."
            )
        try:
            content = answer.json()
            return content["access_token"], time.monotonic() + max(0.0, float(content.get("expires_in", 300)) - _EARLY_S)
        except (ValueError, TypeError, KeyError):
            raise ConnectError(
                f"No token for the schema registry: what {token.url} answered has no access_token; check "
                "bearer.auth.issuer.endpoint.url."
            ) from None


def _content(body: object) -> dict[str, str]:
    return {} if body is None else {"Content-Type": _MEDIA_TYPE}
