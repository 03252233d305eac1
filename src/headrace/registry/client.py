"""A registry: schemas by their ids, and ids of schemas. What does not change is asked for once, as long as it is used."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar
from urllib.parse import quote

from headrace.registry.errors import RegistryError, RegistryUnavailableError
from headrace.registry.http import RegistryHttp
from headrace.registry.settings import RegistrySettings

T = TypeVar("T")

_ANSWERS = 20_000
"""That are kept: those of some 5,000 schemas, of which each is asked for in four ways."""


@dataclass(frozen=True)
class Reference:
    """A schema that another one names: under which name, and where it is registered."""

    name: str
    subject: str
    version: int


@dataclass(frozen=True)
class RegisteredSchema:
    """A schema of the registry."""

    id: int
    type: str
    """AVRO, JSON or PROTOBUF."""
    text: str
    references: tuple[Reference, ...] = ()


@dataclass(frozen=True)
class SubjectVersion:
    """Where a schema is registered."""

    subject: str
    version: int


class Registry:
    """One registry, asked from any thread; methods raise what `RegistryHttp.ask` does."""

    def __init__(self, settings: RegistrySettings) -> None:
        self._http = RegistryHttp(settings)
        self._lock = threading.Lock()
        self._known: OrderedDict[tuple[object, ...], Any] = OrderedDict()  # those used last at the end

    def schema(self, id: int | str) -> RegisteredSchema:
        """The schema of an id, or of a GUID."""
        kind = "guids" if isinstance(id, str) else "ids"
        return self._once((kind, id), lambda: _schema(self._http.ask("GET", f"/schemas/{kind}/{id}"), id))

    def referenced(self, schema: RegisteredSchema) -> list[str]:
        """The texts of the schemas that a schema refers to, and of those that these refer to, the innermost first."""
        return list(dict.fromkeys(self.references(schema).values()))

    def references(self, schema: RegisteredSchema) -> dict[str, str]:
        """The same by the names that schemas refer to them by."""
        texts: dict[str, str] = {}
        for reference in schema.references:
            other = self.version(reference.subject, reference.version)
            texts |= self.references(other)
            texts.setdefault(reference.name, other.text)
        return texts

    def places(self, id: int) -> list[SubjectVersion]:
        """The subjects and versions of a schema."""
        places = self._once(("places", id), lambda: self._http.ask("GET", f"/schemas/ids/{id}/versions"))
        return [SubjectVersion(place["subject"], place["version"]) for place in places]

    def version_in(self, subject: str, id: int) -> int | None:
        """The version that a schema is under a subject; None if the registry does not say."""
        for attempt in range(2):
            try:
                version = next((place.version for place in self.places(id) if place.subject == subject), None)
            except (RegistryError, RegistryUnavailableError):
                return None
            if version is not None or attempt:
                return version
            with self._lock:
                self._known.pop(("places", id), None)  # from before it was registered under this subject, too
        return None

    def version(self, subject: str, number: int) -> RegisteredSchema:
        """A version of a subject."""
        path = f"/subjects/{_part(subject)}/versions/{number}"
        return self._once(("version", subject, number), lambda: _schema(self._http.ask("GET", path)))

    def latest(self, subject: str) -> RegisteredSchema:
        """The newest version of a subject, which is asked for each time."""
        return _schema(self._http.ask("GET", f"/subjects/{_part(subject)}/versions/latest"))

    def register(self, subject: str, text: str, type: str = "AVRO", normalize: bool = False) -> int:
        """The id of a schema under a subject, where it is registered if it is not there."""
        return self._id("/versions", subject, text, type, normalize)

    def lookup(self, subject: str, text: str, type: str = "AVRO", normalize: bool = False) -> int:
        """The id of a schema that is there under a subject."""
        return self._id("", subject, text, type, normalize)

    def _id(self, path: str, subject: str, text: str, type: str, normalize: bool) -> int:
        asked = f"/subjects/{_part(subject)}{path}"
        query = {"normalize": "true"} if normalize else {}
        return self._once(
            ("id", path, subject, text, type, normalize), lambda: self._http.ask("POST", asked, _body(text, type), **query)["id"]
        )

    def _once(self, key: tuple[object, ...], ask: Callable[[], T]) -> T:
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]
        answer = ask()
        with self._lock:
            self._known[key] = answer
            if len(self._known) > _ANSWERS:
                self._known.popitem(last=False)
        return answer


@lru_cache(maxsize=64)
def registry_of(settings: RegistrySettings) -> Registry:
    """The registry with these settings, one for the process. Raises ConfigError for TLS settings that cannot be used."""
    return Registry(settings)


def _schema(answer: Any, id: int | str = 0) -> RegisteredSchema:
    references = tuple(Reference(r["name"], r["subject"], r["version"]) for r in answer.get("references") or ())
    number = answer.get("id", id)
    return RegisteredSchema(number, answer.get("schemaType") or "AVRO", answer["schema"], references)


def _part(subject: str) -> str:
    return quote(subject, safe="")


def _body(text: str, type: str) -> dict[str, str]:
    return {"schema": text} | ({} if type == "AVRO" else {"schemaType": type})
