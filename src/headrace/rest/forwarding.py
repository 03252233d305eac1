"""Forwards requests to other workers, and returns their responses (Kafka Connect's HerderRequestHandler and RestClient).

At most two hops: the first worker forwards to the leader it knows, and that one, if it is not the leader any more, to the next.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import httpx
from starlette.requests import Request
from starlette.responses import Response

from headrace.config.rest_requests import path_of
from headrace.errors import ElsewhereError, HeadraceError, RestError, RetriableError
from headrace.rest import logs, responses

NO_LEADER = "Cannot complete request momentarily due to no known leader URL, likely because a rebalance was underway."
CONFLICT = "Cannot complete request because of a conflicting operation (e.g. worker rebalance)"
_TIMEOUT = httpx.Timeout(95, connect=5)  # a little longer than a worker takes for an answer
_SHORT = httpx.Timeout(2)  # for displays: an unavailable worker is named, the others are shown
_AT_ONCE = 8
_FORWARDED_HEADERS = (
    "authorization", "content-type", "accept", "accept-language", "x-connect-authorization",
    "x-connect-request-signature-algorithm",
)  # fmt: skip
_RETURNED_HEADERS = ("content-type", "location")


class WorkerClient:
    """Asks other workers of the group. Thread-safe."""

    def __init__(self, scheme: str = "http", **tls: object) -> None:
        """scheme: of the workers' REST interfaces; tls: httpx's own options (`verify`, `cert`) for HTTPS."""
        self._scheme = scheme
        self._client = httpx.Client(timeout=_TIMEOUT, follow_redirects=False, trust_env=False, **tls)  # type: ignore[arg-type]

    def post(self, url: str, path: Sequence[str], body: bytes, headers: dict[str, str]) -> None:
        """POST JSON to a worker; path: its segments. Raises RetriableError if it is not reached, or refuses."""
        self._request("POST", url, _target(path), content=body, headers={**headers, "Content-Type": "application/json"})

    def put(self, url: str, path: Sequence[str], body: bytes, headers: dict[str, str]) -> None:
        """PUT JSON to a worker; as `post`."""
        self._request("PUT", url, _target(path), content=body, headers={**headers, "Content-Type": "application/json"})

    def get(self, url: str, path: Sequence[str], query: Mapping[str, str], request: Request) -> Any:
        """The JSON that a worker answers; as who has sent `request`. Raises RetriableError if it is not reached, or refuses."""
        response = self._request("GET", url, _target(path, query), headers=_forwarded_headers(request), timeout=_SHORT)
        try:
            return response.json()
        except ValueError:
            raise RetriableError(f"The worker at {url} answered with something that is no JSON.") from None

    def get_from(self, worker_id: str, path: Sequence[str], query: Mapping[str, str], request: Request) -> Any:
        """As `get`, of the worker of this id (`host:port`)."""
        return self.get(self.url_of(worker_id), path, query, request)

    def url_of(self, worker_id: str) -> str:
        """The address of the worker of this id."""
        return f"{self._scheme}://{worker_id}/"

    def get_from_all(
        self, workers: Iterable[str], path: Sequence[str], query: Mapping[str, str], request: Request
    ) -> dict[str, Any]:
        """The responses by worker id, None without a response; all requests run in parallel."""
        worker_ids = list(workers)

        def answer(worker_id: str) -> Any:
            try:
                return self.get_from(worker_id, path, query, request)
            except HeadraceError:
                return None

        if not worker_ids:
            return {}
        with ThreadPoolExecutor(_AT_ONCE, "workers") as threads:
            return dict(zip(worker_ids, threads.map(answer, worker_ids), strict=True))

    def entries_from_all(
        self, workers: Iterable[str], path: Sequence[str], query: Mapping[str, str], request: Request
    ) -> tuple[list[dict[str, Any]], list[str]]:
        """The `entries` that these workers answer together, and those that did not answer."""
        answered = self.get_from_all(workers, path, query, request)
        entries = [entry for response in answered.values() if response is not None for entry in response["entries"]]
        return entries, [worker_id for worker_id, response in answered.items() if response is None]

    def _request(self, method: str, url: str, target: bytes, **request: Any) -> httpx.Response:
        try:
            # The target apart from the address, in which httpx would take a connector called `..` for a way up.
            response = self._client.request(method, url, extensions={"target": target}, **request)
        except httpx.HTTPError as problem:
            raise RetriableError(f"The worker at {url} could not be asked: {problem}") from None
        if response.is_error:
            raise RetriableError(f"The worker at {url} answered {response.status_code}: {response.text[:500]}")
        return response

    def forward(self, request: Request, body: bytes, problem: ElsewhereError) -> Response:
        """Forward a request to the worker named by `problem`, and return its response. Raises RestError 409."""
        hop = request.query_params.get("forward")
        if hop is not None and hop.lower() != "true":
            raise RestError(409, CONFLICT)
        if problem.url is None:
            raise RestError(409, NO_LEADER)
        raw = request.scope.get("raw_path", b"").decode("ascii", "replace").partition("?")[0]
        query = [(k, v) for k, v in request.query_params.multi_items() if k != "forward"]
        query.append(("forward", "true" if hop is None else "false"))
        logs.CLIENT.debug("%s %s is for %s", request.method, raw, problem.url)
        try:
            target = {"target": _with_query(raw, query)}  # apart from the address, as in `_request`
            response = self._client.request(
                request.method, problem.url, content=body, headers=_forwarded_headers(request), extensions=target
            )
        except httpx.HTTPError as failed:
            logs.CLIENT.warning("%s %s could not be forwarded to %s: %s", request.method, raw, problem.url, failed)
            raise RestError(409, NO_LEADER) from None
        return _returned_response(response, request)

    def close(self) -> None:
        """End open connections."""
        self._client.close()


def _forwarded_headers(request: Request) -> dict[str, str]:
    return {name: value for name in _FORWARDED_HEADERS if (value := request.headers.get(name)) is not None}


def _target(path: Sequence[str], query: Mapping[str, str] | None = None) -> bytes:
    raw = path_of(path)
    return _with_query(raw, list(query.items())) if query else raw.encode("ascii")


def _with_query(path: str, query: Sequence[tuple[str, str]]) -> bytes:
    return f"{path}?{httpx.QueryParams(list(query))}".encode("ascii")


def _returned_response(response: httpx.Response, request: Request) -> Response:
    headers = {name: value for name in _RETURNED_HEADERS if (value := response.headers.get(name)) is not None}
    if location := headers.get("location"):  # a created connector is available on this worker, too
        headers["location"] = f"{request.url.scheme}://{request.url.netloc}{urlsplit(location).path}"
    if not response.content:
        return responses.done(response.status_code)
    return Response(response.content, response.status_code, headers=headers)
