"""Random Avro schemas: named types used again, namespaces, defaults, recursion, and how Connect's own types look in Avro."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from typing import Any

from hypothesis import strategies as st

from headrace.avro import mapping

PRIMITIVES = ("boolean", "int", "long", "float", "double", "string", "bytes")
LOGICAL: tuple[dict[str, Any], ...] = (
    {"type": "int", "connect.type": "int8"},
    {"type": "int", "connect.type": "int16"},
    {"type": "int", "logicalType": "date"},
    {"type": "int", "logicalType": "time-millis"},
    {"type": "long", "logicalType": "timestamp-millis"},
    {"type": "long", "logicalType": "timestamp-micros"},
    {"type": "string", "logicalType": "uuid"},
    {"type": "bytes", "logicalType": "decimal", "precision": 21, "scale": 2},
    {
        "type": "string",
        "connect.doc": "ein Wort: \u00e4\u007f\u0001",
        "connect.version": 3,
        "connect.parameters": {"b": "1", "a": "2"},
    },
)
DEFAULTS: dict[str, st.SearchStrategy[Any]] = {
    "boolean": st.booleans(),
    "int": st.sampled_from([0, 1, 127]),
    "long": st.sampled_from([0, 7, 2**40]),
    "float": st.sampled_from([0.0, 1.5, -0.25, 1e10, 0.1]),
    "double": st.sampled_from([0.0, 1.5, 1e10, 1.25e-7]),
    "string": st.sampled_from(["", "x", "\u00e9\n\u001f\u2028\U0001f600"]),
    "bytes": st.sampled_from(["", "a", "\u00ff\u0000"]),
}


class _Schemas:
    """Draws the parts of one schema."""

    def __init__(self, draw: st.DrawFn, defaults: bool) -> None:
        self._draw, self._defaults = draw, defaults
        self._numbers = count()
        self._defined: dict[str, dict[str, Any]] = {}  # by full name; those that are complete
        self._entries: set[str] = set()  # of maps
        self._enclosing: list[str] = []

    def of(self, space: str, depth: int, unions: bool = True) -> Any:
        """A schema. space: the enclosing namespace; unions: it may be a union."""
        kinds = ["primitive", "primitive", "logical", "enum", "fixed"]
        known = self._known(self._defined, space)
        kinds += ["again", "again"] if known else []
        kinds += ["record", "record", "array", "map", "pairs"] if depth else []
        kinds += ["optional", "optional", "union"] if depth and unions else []
        kind = self._draw(st.sampled_from(kinds))
        match kind:
            case "primitive":
                return self._draw(st.sampled_from(PRIMITIVES))
            case "logical":
                return dict(self._draw(st.sampled_from(LOGICAL)))
            case "again":
                return self._reference(self._draw(st.sampled_from(known)), space)
            case "enum":
                return self._complete(self._named("enum", space, symbols=["A", "B", "C"]), space)
            case "fixed":
                return self._complete(self._named("fixed", space, size=3), space)
            case "record":
                return self._record(space, depth)
            case "array":
                return {"type": "array", "items": self._inner(space, depth)}
            case "map":
                return {"type": "map", "values": self._inner(space, depth)}
            case "pairs":
                return self._pairs(space)
        return self._union(space, depth, kind)

    def _inner(self, space: str, depth: int) -> Any:
        if (enclosing := self._known(self._enclosing, space)) and self._draw(st.integers(0, 4)) == 0:
            return self._reference(self._draw(st.sampled_from(enclosing)), space)
        return self.of(space, depth - 1)

    def _union(self, space: str, depth: int, kind: str) -> list[Any]:
        if kind == "optional":
            return self._draw(st.permutations(["null", self._inner_of_union(space, depth)]))
        branches: list[Any] = ["null"] if self._draw(st.booleans()) else []
        for _ in range(self._draw(st.integers(2, 3))):
            defined, entries = dict(self._defined), set(self._entries)
            branch = self._inner_of_union(space, depth)
            if _branch_name(branch) not in map(_branch_name, branches):
                branches.append(branch)
            else:
                self._defined, self._entries = defined, entries
        return branches if len(branches) > 1 else ["null", *branches]

    def _inner_of_union(self, space: str, depth: int) -> Any:
        if (enclosing := self._known(self._enclosing, space)) and self._draw(st.integers(0, 4)) == 0:
            return self._reference(self._draw(st.sampled_from(enclosing)), space)
        return self.of(space, depth - 1, unions=False)

    def _pairs(self, space: str) -> dict[str, Any]:
        """A map as an array of entries, whose type has the name of the map, or, for a map without a name, `MapEntry`."""
        unnamed = f"{mapping.NAMESPACE}.{mapping.MAP_ENTRY}"
        full = self._draw(st.sampled_from([unnamed, f"pairs.P{next(self._numbers)}", *sorted(self._entries)]))
        named: dict[str, Any] = {} if full == unnamed else {"connect.name": full}
        if full in self._entries:
            return {"type": "array", "items": full, **named}
        key = self._draw(st.sampled_from(["int", "long", "boolean"]))
        mark = {} if full == unnamed else {"connect.internal.type": mapping.MAP_ENTRY}
        node = {
            "type": "record",
            "name": full,
            "fields": [{"name": "key", "type": key}, {"name": "value", "type": "string"}],
            **mark,
        }
        self._entries.add(full)
        return {"type": "array", "items": node, **named}

    def _record(self, space: str, depth: int) -> dict[str, Any]:
        node = self._named("record", space)
        full = mapping.full_name(node, space)
        inner = full.rpartition(".")[0]
        self._enclosing.append(full)
        node["fields"] = [self._field(place, inner, depth) for place in range(self._draw(st.integers(0, 4)))]
        self._enclosing.pop()
        return self._complete(node, space)

    def _field(self, place: int, space: str, depth: int) -> dict[str, Any]:
        field = {"name": f"f{place}", "type": self.of(space, depth - 1)}
        if self._draw(st.integers(0, 4)) == 0:
            field["doc"] = "of a field"
        if self._defaults and self._draw(st.booleans()):
            default = self._default(field["type"], space)
            field |= {} if default is _NONE else {"default": default}
        return field

    def _default(self, node: Any, space: str) -> Any:
        if node == "null":
            return None
        if isinstance(node, list):
            return self._default(node[0], space)
        if isinstance(node, str) and node not in PRIMITIVES:
            node = self._defined.get(mapping.resolved_name(node, space))
        kind = node["type"] if isinstance(node, dict) else node
        if isinstance(node, dict) and node.get("logicalType") == "decimal":
            return "\u0001\u00ff"
        if kind in DEFAULTS:
            return self._draw(DEFAULTS[kind])
        if kind == "enum":
            return "B"
        if kind == "fixed":
            return "\u00ffab"
        return {"array": [], "map": {}}.get(kind, _NONE)

    def _named(self, kind: str, space: str, **members: Any) -> dict[str, Any]:
        node: dict[str, Any] = {"type": kind, "name": f"{kind[0].upper()}{next(self._numbers)}"}
        namespace = self._draw(st.sampled_from([None, None, "a", "a.b"]))
        node |= {} if namespace is None else {"namespace": namespace}
        node |= {"doc": "of a type"} if kind != "fixed" and self._draw(st.integers(0, 4)) == 0 else {}
        return node | members

    def _complete(self, node: dict[str, Any], space: str) -> dict[str, Any]:
        self._defined[mapping.full_name(node, space)] = node
        return node

    @staticmethod
    def _known(names: Iterable[str], space: str) -> list[str]:
        """Those that can be referred to: within a namespace no name without one can."""
        return [name for name in names if "." in name or not space]

    def _reference(self, full: str, space: str) -> str:
        namespace, _, short = full.rpartition(".")
        return short if namespace == space else full


_NONE = object()


def _branch_name(branch: Any) -> str:
    if isinstance(branch, dict):
        return branch["name"] if branch["type"] in mapping.NAMED else branch["type"]
    return branch.rpartition(".")[2]


@st.composite
def avro_schemas(draw: st.DrawFn, depth: int = 4, defaults: bool = True) -> Any:
    """An Avro schema of a record; references without a namespace are to types without one. defaults: of its fields."""
    schemas = _Schemas(draw, defaults)
    space = draw(st.sampled_from(["", "a"]))
    whole = {"type": "record", "name": "Whole", **({"namespace": space} if space else {})}
    fields = [schemas._field(place, space, depth) for place in range(draw(st.integers(1, 5)))]
    return whole | {"fields": fields}
