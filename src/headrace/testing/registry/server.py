"""The registry's REST interface, on a port of this machine."""

from __future__ import annotations

import base64
import json
import re
import socket
import ssl
import sys
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, unquote, urlsplit

from headrace.testing.registry.store import TYPES, RefusedError, Store, Version

_MEDIA_TYPE = "application/vnd.schemaregistry.v1+json"


class SchemaRegistry:
    """A registry on a thread of this process; a context manager.

    user: name and password that every request has to have, None for no login; tls: for `https`; port: 0 for any that is free.
    What is registered stays when it is stopped, and started again, on the same port, which nobody else gets meanwhile.
    """

    def __init__(self, user: tuple[str, str] | None = None, tls: ssl.SSLContext | None = None, port: int = 0) -> None:
        self.store = Store()
        self._lock = threading.RLock()
        self.requests: list[str] = []
        """Method and path of every request, in order."""
        self.token: str | None = None
        """The bearer token that every request has to have, None for none."""
        self._user, self._tls, self._port = user, tls, port
        self._server: ThreadingHTTPServer | None = None
        self._reservation: weakref.finalize[..., Self] | None = None
        self.connections: set[socket.socket] = set()
        """Those that are open."""

    @property
    def url(self) -> str:
        """Where it is, without login."""
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self._port}"

    def start(self) -> Self:
        """Listen; returns itself."""
        self._reserve_port()
        server = ThreadingHTTPServer(("127.0.0.1", self._port), _handler(self))
        server.daemon_threads = True
        if self._tls is not None:
            server.socket = self._tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        self._server, self._port = server, server.server_address[1]
        threading.Thread(target=server.serve_forever, args=(0.01,), name="schema-registry", daemon=True).start()
        return self

    def stop(self) -> None:
        """Listen no more; what is registered is kept."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None
        for connection in list(self.connections):  # which clients keep for their next request
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def _reserve_port(self) -> None:
        """Bind the port, without listening on it, until the end of the block: while the registry is stopped, the system gives it
        to no other server, and to no connection. Other systems than Linux do not let a server bind it then.
        """
        if self._reservation is None and sys.platform == "linux":
            reservation = socket.socket()
            self._reservation = weakref.finalize(self, reservation.close)
            reservation.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            reservation.bind(("127.0.0.1", self._port))
            self._port = reservation.getsockname()[1]

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.stop()
        if self._reservation is not None:
            self._reservation()
            self._reservation = None

    def register(self, subject: str, schema: object, kind: str = "AVRO", references: tuple[dict[str, Any], ...] = ()) -> int:
        """Register a schema, a text or what JSON makes one of; returns its id. Raises RefusedError."""
        text = schema if isinstance(schema, str) else json.dumps(schema)
        with self._lock:
            return self.store.register(subject, {"schema": text, "schemaType": kind, "references": list(references)}).schema.id

    def answer(self, method: str, path: str, query: dict[str, str], body: Any) -> Any:
        """What a request is answered, as JSON. Raises RefusedError."""
        for pattern, answer in _ROUTES:
            match = re.fullmatch(pattern, f"{method} {path}")
            if match:
                if method in ("POST", "PUT") and not isinstance(body, dict):
                    raise RefusedError(422, 42201, "The body of the request is no JSON object")
                with self._lock:  # each request has a thread
                    return answer(self.store, [unquote(part) for part in match.groups()], query, body)
        raise RefusedError(404, 404, "HTTP 404 Not Found")

    def knows(self, authorization: str | None) -> bool:
        """Whether a request may be answered."""
        if self.token is not None:
            return authorization == f"Bearer {self.token}"
        if self._user is None:
            return True
        return authorization == "Basic " + base64.b64encode(":".join(self._user).encode()).decode()


def _parsed(body: bytes) -> Any:
    """The body of a request; None for none, and if it is no JSON."""
    with suppress(ValueError, RecursionError):
        return json.loads(body)
    return None


def _handler(registry: SchemaRegistry) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 30
        wbufsize = -1  # an answer is one packet: the second one of two would wait 40 ms for the client's acknowledgement

        def setup(self) -> None:
            super().setup()
            registry.connections.add(self.connection)

        def finish(self) -> None:
            registry.connections.discard(self.connection)
            super().finish()

        def _do(self) -> None:
            url = urlsplit(self.path)
            registry.requests.append(f"{self.command} {url.path}")
            query = {name: values[-1] for name, values in parse_qs(url.query).items()}
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            try:
                if not registry.knows(self.headers.get("Authorization")):
                    raise RefusedError(401, 401, "Unauthorized")
                status, body = 200, registry.answer(self.command, url.path, query, _parsed(raw))
            except RefusedError as refused:
                status, body = refused.status, {"error_code": refused.code, "message": str(refused)}
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", _MEDIA_TYPE)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PUT = do_DELETE = _do  # noqa: N815

        def log_message(self, format: str, *args: Any) -> None:
            """Write nothing: `SchemaRegistry.requests` has them."""

    return Handler


Query = dict[str, str]
_Answer = Callable[[Store, list[str], Query, Any], Any]


def _yes(query: Query, name: str) -> bool:
    return query.get(name, "").lower() == "true"


def _shown(subject: str, version: Version) -> dict[str, Any]:
    return {"subject": subject, "version": version.number, "id": version.schema.id, **version.schema.json()}


def _subjects(store: Store, _path: list[str], query: Query, _body: Any) -> list[str]:
    prefix, deleted = query.get("subjectPrefix", ""), _yes(query, "deleted")
    subjects = store.subjects.items()
    return sorted(s for s, versions in subjects if s.startswith(prefix) and any(deleted or not v.deleted for v in versions))


def _register(store: Store, path: list[str], query: Query, body: Any) -> dict[str, Any]:
    return _shown(path[0], store.register(path[0], body, _yes(query, "normalize")))


def _lookup(store: Store, path: list[str], query: Query, body: Any) -> dict[str, Any]:
    return _shown(path[0], store.lookup(path[0], body, _yes(query, "deleted"), _yes(query, "normalize")))


def _by_guid(store: Store, path: list[str], _query: Query, _body: Any) -> dict[str, Any]:
    for schema in store.schemas.values():
        if schema.guid == path[0]:
            return {"id": schema.id, **schema.json()}
    raise RefusedError(404, 40403, f"Schema {path[0]} not found")


def _referenced_by(store: Store, path: list[str], _query: Query, _body: Any) -> list[int]:
    version = store.version(path[0], path[1])
    place = (path[0], version.number)
    return [s.id for s in store.schemas.values() if place in [(subject, number) for _, subject, number in s.references]]


def _compatible(store: Store, path: list[str], query: Query, body: Any) -> dict[str, Any]:
    only = store.version(path[0], path[1]) if len(path) > 1 else None
    against = store.against(path[0], body, only)
    return {"is_compatible": not against} | ({"messages": against} if _yes(query, "verbose") else {})


def _delete_subject(store: Store, path: list[str], query: Query, _body: Any) -> list[int]:
    permanent = _yes(query, "permanent")
    if permanent and any(not v.deleted for v in store.subjects.get(path[0], [])):
        raise RefusedError(404, 40405, f"Subject '{path[0]}' was not deleted first before being permanently deleted")
    return store.delete(path[0], store.versions(path[0], deleted=permanent), permanent)


def _delete_version(store: Store, path: list[str], query: Query, _body: Any) -> int:
    permanent = _yes(query, "permanent")
    return store.delete(path[0], [store.version(path[0], path[1], deleted=permanent)], permanent)[0]


def _level(store: Store, path: list[str], query: Query, _body: Any) -> dict[str, str]:
    subject = path[0] if path else None
    if subject is not None and subject not in store.levels and not _yes(query, "defaultToGlobal"):
        raise RefusedError(404, 40408, f"Subject '{subject}' does not have subject-level compatibility configured")
    return {"compatibilityLevel": store.levels.get(subject, store.levels[None])}


def _set_level(store: Store, path: list[str], _query: Query, body: Any) -> Any:
    store.set_level(path[0] if path else None, body.get("compatibility"))
    return body


def _mode(store: Store, path: list[str], query: Query, _body: Any) -> dict[str, str]:
    subject = path[0] if path else None
    if subject is not None and subject not in store.modes and not _yes(query, "defaultToGlobal"):
        raise RefusedError(404, 40409, f"Subject '{subject}' does not have subject-level mode configured")
    return {"mode": store.modes.get(subject, store.modes[None])}


def _set_mode(store: Store, path: list[str], _query: Query, body: Any) -> Any:
    store.set_mode(path[0] if path else None, body.get("mode"))
    return body


_S, _V = "/subjects/([^/]+)", "/versions/([^/]+)"
_ROUTES: tuple[tuple[str, _Answer], ...] = (
    ("GET /", lambda *_: {}),
    ("GET /subjects", _subjects),
    ("GET /contexts", lambda *_: ["."]),
    ("GET /schemas/types", lambda *_: list(TYPES)),
    ("GET /schemas/ids/(-?\\d+)", lambda store, path, *_: store.by_id(int(path[0])).json()),
    ("GET /schemas/ids/(-?\\d+)/schema", lambda store, path, *_: json.loads(store.by_id(int(path[0])).text)),
    ("GET /schemas/ids/(-?\\d+)/subjects", lambda store, path, *_: sorted({s for s, _ in store.places(int(path[0]))})),
    ("GET /schemas/ids/(-?\\d+)/versions",
     lambda store, path, *_: [{"subject": s, "version": v} for s, v in store.places(int(path[0]))]),
    ("GET /schemas/guids/([^/]+)", _by_guid),
    (f"GET {_S}/versions", lambda store, path, query, _: [v.number for v in store.versions(path[0], _yes(query, "deleted"))]),
    (f"GET {_S}{_V}",
     lambda store, path, query, _: _shown(path[0], store.version(path[0], path[1], _yes(query, "deleted")))),
    (f"GET {_S}{_V}/schema", lambda store, path, *_: json.loads(store.version(path[0], path[1]).schema.text)),
    (f"GET {_S}{_V}/referencedby", _referenced_by),
    (f"POST {_S}/versions", _register),
    (f"POST {_S}", _lookup),
    (f"DELETE {_S}", _delete_subject),
    (f"DELETE {_S}{_V}", _delete_version),
    (f"POST /compatibility{_S}/versions", _compatible),
    (f"POST /compatibility{_S}{_V}", _compatible),
    ("GET /config", _level),
    ("GET /config/([^/]+)", _level),
    ("PUT /config", _set_level),
    ("PUT /config/([^/]+)", _set_level),
    ("DELETE /config/([^/]+)", lambda store, path, *_: {"compatibilityLevel": store.levels.pop(path[0], store.levels[None])}),
    ("GET /mode", _mode),
    ("GET /mode/([^/]+)", _mode),
    ("PUT /mode", _set_mode),
    ("PUT /mode/([^/]+)", _set_mode),
    ("DELETE /mode/([^/]+)", lambda store, path, *_: {"mode": store.modes.pop(path[0], store.modes[None])}),
)  # fmt: skip
