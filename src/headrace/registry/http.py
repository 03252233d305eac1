"""Requests to a registry: several servers, login, retries with back-off."""

from __future__ import annotations

import time
import weakref
from contextlib import suppress
from time import sleep
from typing import Any

import httpx
import structlog

from headrace.config.secrets import HIDDEN
from headrace.kafka.ssl_context import client_context
from headrace.registry.bearer_token import BearerToken
from headrace.registry.errors import InvalidResponseError, RegistryError, RegistryUnavailableError
from headrace.registry.request_wait import is_cancelled, wait_for_response
from headrace.registry.response import RETRIABLE_STATUSES, Response, one_line, read_response
from headrace.registry.settings import RegistrySettings
from headrace.retry import Backoff

log = structlog.get_logger(__name__)

_MEDIA_TYPE = "application/vnd.schemaregistry.v1+json"
_OF_PROXIES = (401, 403, 413, 414, 422)
"""The statuses of refused logins and requests, which a proxy before the registry may send, too."""
_LOGIN = "check basic.auth.credentials.source, basic.auth.user.info, bearer.auth.* and schema.registry.ssl.*"


class RegistryHttp:
    """Sends requests to one registry; thread-safe. Its connections are closed with the last reference to it."""

    def __init__(self, settings: RegistrySettings) -> None:
        """Raises ConfigError for TLS settings that cannot be used."""
        self._settings, self._first = settings, 0
        through = f"; through the proxy {settings.proxy}" if settings.proxy else ""
        self._where = ", ".join(settings.urls) + through  # for messages
        self._client = self._new_client({"Accept": _MEDIA_TYPE, **dict(settings.headers)}, settings.urls)
        token = settings.token
        self._token = None if token is None else BearerToken(token, self._new_client({}, (token.url,)))

    def _new_client(self, headers: dict[str, str], urls: tuple[str, ...]) -> httpx.Client:
        settings = self._settings
        https = any(url.startswith("https:") for url in urls)
        client = httpx.Client(
            headers=headers,
            timeout=httpx.Timeout(_seconds(settings.read_ms), connect=_seconds(settings.connect_ms)),
            verify=client_context(dict(settings.tls)) if https else False,
            proxy=settings.proxy,
            trust_env=False,
        )
        weakref.finalize(self, client.close)
        return client

    def request(self, method: str, path: str, body: object = None, **query: str) -> Any:
        """The parsed response.

        Raises RegistryError if the registry refuses the request, InvalidResponseError if what answers is no registry,
        RegistryUnavailableError if no server answers within the limits of the caller (`headrace.registry.request_wait`).
        """
        return wait_for_response(lambda until: self._request_with_retries(method, path, body, query, until), self._where)

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
            problems: list[Exception] = []
            for index in self._servers():
                try:
                    parsed = self._request_server(index, method, path, body, query)
                except (httpx.RequestError, OSError) as error:
                    why = f"{self._settings.urls[index]}: {self._shown(str(error) or type(error).__name__)}"
                except InvalidResponseError as error:  # another server may be a registry
                    problems.append(error)
                else:
                    self._first = index
                    return parsed
            if len(problems) == len(self._settings.urls):
                raise problems[0]
            log.debug("schema-registry.unavailable", cause=why)
        raise RegistryUnavailableError(f"The schema registry does not answer ({self._where}): {why}")

    def _servers(self) -> list[int]:
        """The indexes of the servers, beginning with the one that answered last."""
        count = len(self._settings.urls)
        return [(self._first + number) % count for number in range(count)]

    def _request_server(self, index: int, method: str, path: str, body: object, query: dict[str, str]) -> Any:
        """The parsed response of one server. Raises what `_parsed` does, httpx.RequestError and OSError."""
        url = self._settings.urls[index]
        authorization = self._authorization(index)
        headers = {"Authorization": authorization} if authorization else {}
        if body is not None:
            headers["Content-Type"] = _MEDIA_TYPE
        request = self._client.build_request(method, url + path, json=body, params=query, headers=headers)
        response = read_response(self._client, request)
        if response.status in RETRIABLE_STATUSES:
            message = response.json_object().get("message")
            why = f": {message}" if isinstance(message, str) and message.strip() else ""
            raise httpx.TransportError(f"it answered {response.status} {response.reason}".rstrip() + why)
        return self._parsed(response, url)

    def _authorization(self, index: int) -> str:
        """The header for one server; "": none, or one that every request has."""
        if self._token is not None:
            return f"Bearer {self._token.get()}"
        return self._settings.authorizations[index] if self._settings.authorizations else ""

    def _parsed(self, response: Response, url: str) -> Any:
        status = response.status
        if response.location:
            problem = (
                f"it redirects ({status}) to {one_line(response.location)}; set schema.registry.url to where the registry is."
            )
            raise InvalidResponseError(url, problem)
        if response.is_success:
            with suppress(ValueError):
                return response.json()
            raise InvalidResponseError(url, "it sends no JSON.")
        body = response.json_object()  # HTML, for instance, if a proxy refuses the request
        code, message = body.get("error_code"), body.get("message")
        if not isinstance(code, int):
            if status not in _OF_PROXIES:  # a 404, above all: it says nothing about the id or subject that is asked for
                problem = f"it answers {status} {response.reason}".rstrip() + " without an error_code."
                raise InvalidResponseError(url, problem, status)
            code = status
        shown = self._shown(message if isinstance(message, str) and message.strip() else response.reason or "no reason given")
        hint = f"; {_LOGIN}" if status in (401, 403) else ""
        raise RegistryError(f"The schema registry at {url} refuses ({status}, error {code}): {shown}{hint}", status, code)

    def _shown(self, text: str) -> str:
        """A text of a server for messages, without the secrets that it may repeat."""
        for secret in self._settings.secrets:
            text = text.replace(secret, HIDDEN)
        return one_line(text if self._token is None else self._token.hidden_in(text))


def _seconds(ms: int) -> float | None:
    """A timeout in seconds; as in Java, 0 is none."""
    return ms / 1000 or None
