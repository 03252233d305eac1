"""Requests to the REST API of a worker, and one clear sentence for each way in which they fail."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import httpx

from headrace.cli.connectors.texts import plain
from headrace.config.rest_requests import json_bytes, path_of
from headrace.errors import ConfigError, ConnectError, RestError

PATIENCE_S = 30.0
"""How long a request is repeated while the workers rebalance."""
_TIMEOUT_S = 100.0  # a worker gives up after 90 s, and says why
_PAUSE_S = 0.5
_DOTS = re.compile(r"/\.\.?(?=[/?]|$)")


@dataclass(frozen=True)
class RestResponse:
    """What a worker answered."""

    status: int
    text: str

    @property
    def ok(self) -> bool:
        """Whether it did what it was asked for."""
        return 200 <= self.status < 300

    @property
    def json(self) -> Any:
        """The parsed body, None for an empty one. Raises ConnectError if it is not JSON, so that no worker wrote it."""
        try:
            return json.loads(self.text) if self.text else None
        except ValueError:
            raise ConnectError(f"The answer ({self.status}) is not JSON; is the address that of a worker's REST API?") from None

    @property
    def object(self) -> dict[str, Any]:
        """The parsed body, where it has to be a JSON object. Raises ConnectError if it is something else."""
        if not isinstance(self.json, dict):
            raise ConnectError("The answer is not as a worker's; is the address that of one of Kafka Connect 2.3 or later?")
        return self.json

    @property
    def message(self) -> str:
        """The sentence of an error answer: the worker's own, or the status where something else than a worker answered."""
        try:
            return plain(json.loads(self.text)["message"], lines=True)
        except (ValueError, KeyError, TypeError):
            text = self.text.strip()
            brief = f": {plain(text)}" if text and len(text) <= 200 and "<" not in text else ""
            return f"The request was answered {self.status} {httpx.codes.get_reason_phrase(self.status)}{brief}".rstrip()

    @property
    def rebalancing(self) -> bool:
        """Whether the same request may be taken a little later: any conflict but a name that is taken."""
        return self.status == 409 and not self.message.endswith("already exists")


class RestClient:
    """Talks to one worker.

    url: its address, a user and password in it are sent as basic authentication; patience_s: how long a request is repeated
    while the workers rebalance (409); transport: for tests; named_by: where the user has named the address, for messages, None:
    by the option. Raises ConfigError if the address is none.
    """

    def __init__(
        self,
        url: str,
        patience_s: float = PATIENCE_S,
        transport: httpx.BaseTransport | None = None,
        named_by: str | None = None,
    ) -> None:
        self._named_by = named_by or "--url or HEADRACE_URL"
        try:
            address = httpx.URL(url.rstrip("/"))
        except httpx.InvalidURL:
            address = httpx.URL()
        if address.scheme not in ("http", "https") or not address.host or address.query or address.fragment:
            raise ConfigError(f"The address of a worker has to be like http://localhost:8083; see {self._named_by}.")
        auth = httpx.BasicAuth(address.username, address.password) if address.userinfo else None
        self.url = str(address.copy_with(username=None, password=None)).rstrip("/")
        self._patience_s = patience_s
        self._http = httpx.Client(auth=auth, timeout=_TIMEOUT_S, transport=transport, headers={"Accept": "application/json"})

    def close(self) -> None:
        """Close its connections."""
        self._http.close()

    def ask(self, method: str, *segments: str, query: Mapping[str, Any] | None = None, body: object = None) -> RestResponse:
        """One request, repeated while the workers rebalance; an error answer is returned like any other.

        segments: of the path, as they are meant: they are escaped here. query: values may be lists. Raises ConnectError if no
        answer came.
        """
        path = path_of(segments)
        path += "?" + urlencode(query, doseq=True) if query else ""
        end = time.monotonic() + self._patience_s
        while (response := self._send(method, path, body)).rebalancing and time.monotonic() < end:
            time.sleep(min(_PAUSE_S, max(0.0, end - time.monotonic())))
        return response

    def call(self, method: str, *segments: str, query: Mapping[str, Any] | None = None, body: object = None) -> RestResponse:
        """Like `ask`, but an error answer is raised: RestError with the worker's sentence."""
        response = self.ask(method, *segments, query=query, body=body)
        if response.ok:
            return response
        if response.rebalancing:
            raise RestError(
                409, f"The workers have been busy for {self._patience_s:g} s; try again. They say: {response.message}"
            )
        raise RestError(response.status, response.message)

    def _send(self, method: str, path: str, body: object) -> RestResponse:
        content = None if body is None else json_bytes(body)
        headers = {} if content is None else {"Content-Type": "application/json"}
        # `..` may be a connector's name: said apart from the address, which httpx would shorten.
        target = {"target": (httpx.URL(self.url).path.rstrip("/") + path).encode()} if _DOTS.search(path) else {}
        try:
            response = self._http.request(method, self.url + path, content=content, headers=headers, extensions=target)
        except httpx.ConnectTimeout as error:
            raise self._no_answer(error) from None
        except httpx.TimeoutException:
            raise ConnectError(f"The worker at {self.url} did not answer {method} {path} within {_TIMEOUT_S:g} s.") from None
        except (httpx.TransportError, httpx.DecodingError) as error:
            raise self._no_answer(error) from None
        return RestResponse(response.status_code, response.text)

    def _no_answer(self, error: Exception) -> ConnectError:
        return ConnectError(
            f"No worker can be reached at {self.url} ({str(error) or type(error).__name__}); "
            f"start one, or name another by {self._named_by}."
        )
