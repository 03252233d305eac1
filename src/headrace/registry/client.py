"""Client of a schema registry: schemas by their ids, and ids of schemas. Responses are cached, but for newest versions."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import quote

from headrace.registry.errors import InvalidResponseError, RegistryError, RegistryUnavailableError
from headrace.registry.http import RegistryHttp
from headrace.registry.settings import RegistrySettings

T = TypeVar("T")

_MAX_CACHED_RESPONSES = 20_000
"""The size of the cache, enough for some 5,000 schemas with four requests for each."""


@dataclass(frozen=True)
class Reference:
    """A reference of a schema to another one."""

    name: str
    """As the schema has it."""
    subject: str
    """Of the other schema, as `version`."""
    version: int


@dataclass(frozen=True)
class RegisteredSchema:
    """A schema of the registry."""

    id: int
    type: str
    """AVRO, JSON or PROTOBUF."""
    text: str
    references: tuple[Reference, ...] = ()
    """The schemas that its text refers to."""


@dataclass(frozen=True)
class SubjectVersion:
    """A subject, and the version of a schema in it."""

    subject: str
    version: int


class Registry:
    """One registry; thread-safe. Methods raise what `RegistryHttp.request` does.

    A response is cached as long as this object lives: in Kafka Connect as long as a converter of a task, so a task that is
    restarted asks again; in Kafka Streams as long as the process.
    """

    def __init__(self, settings: RegistrySettings) -> None:
        """Raises ConfigError for TLS settings that cannot be used."""
        self._http = RegistryHttp(settings)
        self._place = " of " + ", ".join(settings.urls)  # for messages, after a path
        self._lock = threading.Lock()
        self._cache: OrderedDict[tuple[object, ...], Any] = OrderedDict()  # the last used at the end

    def schema(self, id: int | str) -> RegisteredSchema:
        """The schema with an id, or with a GUID."""
        if isinstance(id, str):
            return self._cached(("guids", id), lambda: self._fetch_schema_of_guid(id))
        return self._cached(("ids", id), lambda: self._fetch_schema(f"/schemas/ids/{id}", id))

    def _fetch_schema_of_guid(self, guid: str) -> RegisteredSchema:
        path = f"/schemas/guids/{guid}"
        try:
            return self._fetch_schema(path, guid)
        except InvalidResponseError as error:
            if error.http_status != 404:
                raise
            # As a registry without GUIDs may answer; any record may begin with the byte of a GUID, and no task ends for it.
            raise RegistryError(
                f"There is no {path}{self._place}: the registry answers 404 without an error_code.", 404, 404
            ) from None

    def reference_texts(self, schema: RegisteredSchema) -> list[str]:
        """The texts of the schemas that a schema references, directly or indirectly, the innermost first."""
        return list(dict.fromkeys(self.references(schema).values()))

    def references(self, schema: RegisteredSchema) -> dict[str, str]:
        """The texts of the schemas that a schema references, directly or indirectly, by the names of the references."""
        texts: dict[str, str] = {}
        for reference in schema.references:
            referenced = self.version(reference.subject, reference.version)
            texts |= self.references(referenced)
            texts.setdefault(reference.name, referenced.text)
        return texts

    def subject_versions(self, id: int) -> list[SubjectVersion]:
        """The subjects and versions of a schema."""
        return self._cached(("subject versions", id), lambda: self._fetch_subject_versions(id))

    def version_in(self, subject: str, id: int) -> int | None:
        """The version of a schema in a subject; None if the registry does not know it or does not answer."""
        try:
            entries = self.subject_versions(id)
            if all(entry.subject != subject for entry in entries):  # cached before it was registered under this subject
                entries = self._cached(("subject versions", id, subject), lambda: self._fetch_subject_versions(id))
        except (RegistryError, InvalidResponseError, RegistryUnavailableError):
            return None
        return next((entry.version for entry in entries if entry.subject == subject), None)

    def _fetch_subject_versions(self, id: int) -> list[SubjectVersion]:
        path = f"/schemas/ids/{id}/versions"
        return _subject_versions(path + self._place, self._http.request("GET", path))

    def version(self, subject: str, number: int) -> RegisteredSchema:
        """A version of a subject, also one that is softly deleted: schemas that reference it are still read."""
        path = f"/subjects/{_url_part(subject)}/versions/{number}"
        return self._cached(("version", subject, number), lambda: self._fetch_schema(path, deleted="true"))

    def latest(self, subject: str) -> RegisteredSchema:
        """The newest version of a subject; not cached."""
        return self._fetch_schema(f"/subjects/{_url_part(subject)}/versions/latest")

    def register(self, subject: str, text: str, type: str = "AVRO", normalize: bool = False) -> int:
        """The id of a schema under a subject; registers it if it is new."""
        return self._id("/versions", subject, text, type, normalize)

    def lookup(self, subject: str, text: str, type: str = "AVRO", normalize: bool = False) -> int:
        """The id of a schema that is registered under a subject."""
        return self._id("", subject, text, type, normalize)

    def _id(self, path: str, subject: str, text: str, type: str, normalize: bool) -> int:
        endpoint = f"/subjects/{_url_part(subject)}{path}"
        query = {"normalize": "true"} if normalize else {}
        return self._cached(
            ("id", path, subject, text, type, normalize),
            lambda: _id(endpoint + self._place, self._http.request("POST", endpoint, _body(text, type), **query)),
        )

    def _fetch_schema(self, path: str, id: int | str = 0, **query: str) -> RegisteredSchema:
        return _schema(path + self._place, self._http.request("GET", path, **query), id)

    def _cached(self, key: tuple[object, ...], fetch: Callable[[], T]) -> T:
        with self._lock:
            if key in self._cache:
                self._cache.move_to_end(key)
                return self._cache[key]
        response = fetch()
        with self._lock:
            self._cache[key] = response
            if len(self._cache) > _MAX_CACHED_RESPONSES:
                self._cache.popitem(last=False)
        return response


def _schema(where: str, response: Any, id: int | str) -> RegisteredSchema:
    body = _object(where, response)
    references = tuple(
        Reference(_text(where, entry, "name"), _text(where, entry, "subject"), _number(where, entry, "version"))
        for entry in _objects(where, body.get("references") or [])
    )
    type_ = _text(where, body, "schemaType") if body.get("schemaType") else "AVRO"
    number: Any = _id(where, body) if "id" in body else id
    return RegisteredSchema(number, type_, _text(where, body, "schema"), references)


def _subject_versions(where: str, response: Any) -> list[SubjectVersion]:
    return [
        SubjectVersion(_text(where, entry, "subject"), _number(where, entry, "version")) for entry in _objects(where, response)
    ]


def _id(where: str, response: Any) -> int:
    return _number(where, _object(where, response), "id")


def _object(where: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidResponseError(where, "its response is no JSON object.")
    return value


def _objects(where: str, value: Any) -> list[dict[str, Any]]:
    if not isinstance(value, list):
        raise InvalidResponseError(where, "its response has no list of JSON objects.")
    return [_object(where, entry) for entry in value]


def _text(where: str, body: dict[str, Any], name: str) -> str:
    text = body.get(name)
    if not isinstance(text, str):
        raise InvalidResponseError(where, f"its response has no text {name}.")
    return text


def _number(where: str, body: dict[str, Any], name: str) -> int:
    """A number of Java's int; one that is written as text is one, too, as for Confluent's client."""
    number = body.get(name)
    if isinstance(number, str) and re.fullmatch("-?[0-9]{1,10}", number):
        number = int(number)
    if not isinstance(number, int) or isinstance(number, bool) or not -(1 << 31) <= number < 1 << 31:
        raise InvalidResponseError(where, f"its response has no number {name}.")
    return number


def _url_part(subject: str) -> str:
    return quote(subject, safe="")


def _body(text: str, type: str) -> dict[str, str]:
    return {"schema": text} | ({} if type == "AVRO" else {"schemaType": type})
