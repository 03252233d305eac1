"""Bearer tokens for a registry, from an OAuth 2.0 token endpoint (client credentials)."""

from __future__ import annotations

import threading
import time

import httpx

from headrace.config.secrets import HIDDEN
from headrace.errors import ConnectError
from headrace.registry.response import RETRIABLE_STATUSES, read_response
from headrace.registry.settings import Token

_DEFAULT_LIFE_S = 300.0
_REFRESH_EARLY_S = 30.0


class BearerToken:
    """The current token; thread-safe. client: for the token endpoint, which gets none of the registry's headers."""

    def __init__(self, token: Token, client: httpx.Client) -> None:
        self._settings, self._client = token, client
        self._lock = threading.Lock()
        self._value, self._expires_at = "", 0.0  # by time.monotonic

    def get(self) -> str:
        """The token, which is fetched again before it expires.

        Raises httpx.TransportError if the endpoint does not answer, or asks to retry; ConnectError if it refuses.
        """
        with self._lock:
            if time.monotonic() >= self._expires_at:
                self._fetch()
            return self._value

    def hidden_in(self, text: str) -> str:
        """A text for messages, without the token."""
        return text.replace(self._value, HIDDEN) if self._value else text

    def _fetch(self) -> None:
        url, scope = self._settings.url, self._settings.scope
        form = {"grant_type": "client_credentials", **({"scope": scope} if scope else {})}
        request = self._client.build_request("POST", url, data=form)
        next(httpx.BasicAuth(self._settings.client_id, self._settings.secret).auth_flow(request))  # which adds the header
        try:
            response = read_response(self._client, request)
        except (httpx.RequestError, OSError) as error:
            raise httpx.TransportError(f"no token, as {url} does not answer: {str(error) or type(error).__name__}") from error
        if response.status in RETRIABLE_STATUSES:
            raise httpx.TransportError(f"no token, as {url} answered {response.status} {response.reason}")
        if not response.is_success:
            raise ConnectError(
                f"No token for the schema registry: {url} answered {response.status} {response.reason}; "
                "check bearer.auth.client.id and bearer.auth.client.secret."
            )
        content = response.json_object()
        value, life = content.get("access_token"), content.get("expires_in", _DEFAULT_LIFE_S)
        try:
            life_s = float(life)
        except (ValueError, TypeError):
            life_s = _DEFAULT_LIFE_S
        if not (isinstance(value, str) and value.isascii() and value.isprintable() and value.strip()):
            raise ConnectError(
                f"No token for the schema registry: what {url} answered has no access_token; "
                "check bearer.auth.issuer.endpoint.url."
            )
        self._value, self._expires_at = value, time.monotonic() + max(0.0, life_s - _REFRESH_EARLY_S)
