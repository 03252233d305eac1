"""What is measured: one chain of transforms, over values with and without schemas. The same properties on both sides."""

from __future__ import annotations

from dataclasses import dataclass

JSON = "org.apache.kafka.connect.json.JsonConverter"
_TRANSFORMS = "org.apache.kafka.connect.transforms"


@dataclass(frozen=True)
class Format:
    """How values are written: `schemas`, an envelope `{"schema": …, "payload": …}` with each, or the bare JSON."""

    name: str
    schemas: bool

    @property
    def topic(self) -> str:
        """The topic of the records that the chain keeps."""
        return f"bench-{self.name}"

    @property
    def dropped_topic(self) -> str:
        """The topic of the records that it drops."""
        return f"bench-{self.name}-drop"

    @property
    def converters(self) -> dict[str, str]:
        """The converter of the values that are read, and of those that are written."""
        found = {}
        for name in ("source.value.converter", "value.converter"):
            found |= {name: JSON, f"{name}.schemas.enable": str(self.schemas).lower()}
        return found


FORMATS = (Format("json", schemas=False), Format("schemas", schemas=True))


def transforms(out: str) -> dict[str, str]:
    """Return the properties of the chain; what is read from bench-X is for the topic OUT-X."""
    chain: dict[str, dict[str, str]] = {
        "drop": {"type": "Filter", "predicate": "dropped"},
        "prune": {"type": "ReplaceField$Value", "exclude": "note,internal"},
        "cast": {"type": "Cast$Value", "spec": "quantity:int32,code:string,price:float64"},
        "stamp": {
            "type": "InsertField$Value",
            "static.field": "source",
            "static.value": "benchmark",
            "timestamp.field": "received",
        },
        "date": {
            "type": "TimestampConverter$Value",
            "field": "created",
            "target.type": "string",
            "format": "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'",
        },
        "route": {"type": "RegexRouter", "regex": "bench-(.*)", "replacement": f"{out}-$1"},
    }
    found = {
        "transforms": ",".join(chain),
        "predicates": "dropped",
        "predicates.dropped.type": f"{_TRANSFORMS}.predicates.TopicNameMatches",
        "predicates.dropped.pattern": "bench-.*-drop",
    }
    for alias, options in chain.items():
        for name, value in options.items():
            found[f"transforms.{alias}.{name}"] = f"{_TRANSFORMS}.{value}" if name == "type" else value
    return found
