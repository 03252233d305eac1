"""A request for another worker: sent on, and its answer handed back (Kafka Connect's HerderRequestHandler and RestClient).

At most two hops: the first worker asks the leader that it knows of, and that one, if it leads no more, the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

import httpx
from starlette.requests import Request
from starlette.responses import Response

from headrace.errors import ElsewhereError, RestError, RetriableError
from headrace.rest import answers, logs

NO_LEADER = "Cannot complete request momentarily due to no known leader URL, likely because a rebalance was underway."
CONFLICT = "Cannot complete request because of a conflicting operation (e.g. worker rebalance)"
_TIMEOUT = httpx.Timeout(95, connect=5)  # a little longer than a worker takes for an answer
_PASSED_ON = (
    "authorization", "content-type", "accept", "accept-language", "x-connect-authorization",
    "x-connect-request-signature-algorithm",
)  # fmt: skip
_HANDED_BACK = ("content-type", "location")


class WorkerClient:
    """Asks other workers of the group. Thread-safe."""

    def __init__(self, **tls: object) -> None:
        """tls: httpx's own options (`verify`, `cert`) for workers that are reached by HTTPS."""
        self._client = httpx.Client(timeout=_TIMEOUT, follow_redirects=False, trust_env=False, **tls)  # type: ignore[arg-type]

    def post(self, url: str, path: Sequence[str], body: bytes, headers: dict[str, str]) -> None:
        """POST JSON to a worker; path: its segments. Raises RetriableError if it is not reached, or refuses."""
        self._ask("POST", url, path, body, headers)

    def put(self, url: str, path: Sequence[str], body: bytes, headers: dict[str, str]) -> None:
        """PUT JSON to a worker; as `post`."""
        self._ask("PUT", url, path, body, headers)

    def _ask(self, method: str, url: str, path: Sequence[str], body: bytes, headers: dict[str, str]) -> None:
        address = url.rstrip("/") + "".join("/" + quote(segment, safe="") for segment in path)
        try:
            answer = self._client.request(method, address, content=body, headers={**headers, "Content-Type": "application/json"})
        except httpx.HTTPError as problem:
            raise RetriableError(f"The worker at {url} could not be asked: {problem}") from None
        if answer.is_error:
            raise RetriableError(f"The worker at {url} answered {answer.status_code}: {answer.text[:500]}")

    def forward(self, request: Request, body: bytes, problem: ElsewhereError) -> Response:
        """Send a request on to where `problem` says it belongs, and return the answer. Raises RestError 409."""
        hop = request.query_params.get("forward")
        if hop is not None and hop.lower() != "true":
            raise RestError(409, CONFLICT)
        if problem.url is None:
            raise RestError(409, NO_LEADER)
        raw = request.scope.get("raw_path", b"").decode("ascii", "replace").partition("?")[0]
        query = [(k, v) for k, v in request.query_params.multi_items() if k != "forward"]
        query.append(("forward", "true" if hop is None else "false"))
        headers = {name: value for name in _PASSED_ON if (value := request.headers.get(name)) is not None}
        logs.CLIENT.debug("%s %s is for %s", request.method, raw, problem.url)
        try:
            # The target apart from the address, in which httpx would take a connector called `..` for a way up.
            target = {"target": _with_query(raw, query)}
            answer = self._client.request(request.method, problem.url, content=body, headers=headers, extensions=target)
        except httpx.HTTPError as failed:
            logs.CLIENT.warning("%s %s could not be forwarded to %s: %s", request.method, raw, problem.url, failed)
            raise RestError(409, NO_LEADER) from None
        return _handed_back(answer, request)

    def close(self) -> None:
        """End open connections."""
        self._client.close()


def _with_query(path: str, query: Sequence[tuple[str, str]]) -> bytes:
    return f"{path}?{httpx.QueryParams(list(query))}".encode("ascii")


def _handed_back(answer: httpx.Response, request: Request) -> Response:
    kept = {name: value for name in _HANDED_BACK if (value := answer.headers.get(name)) is not None}
    if location := kept.get("location"):  # a connector that was made is shown by this worker, too
        kept["location"] = f"{request.url.scheme}://{request.url.netloc}{httpx.URL(location).raw_path.decode('ascii')}"
    if not answer.content:
        return answers.done(answer.status_code)
    return Response(answer.content, answer.status_code, headers=kept)
