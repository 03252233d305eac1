"""Whether a predicate holds for a record: Filter drops it then."""

from __future__ import annotations

from typing import Any

from tests.transforms.one_record import after


def holds(predicates: dict[str, dict[str, str]], value: Any, **record: Any) -> bool | str:
    """Whether the first predicate holds (alias → options); the message if the record fails."""
    props = {"transforms": "f", "transforms.f.type": "Filter", "transforms.f.predicate": next(iter(predicates))}
    props["predicates"] = ",".join(predicates)
    for alias, options in predicates.items():
        props |= {f"predicates.{alias}.{name}": text for name, text in options.items()}
    result = after(props, value, **record)
    return result["error"]["message"] if "error" in result else result.get("filtered", False)
