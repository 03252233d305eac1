"""What a chain makes of one record: the real engine, without a job."""

from __future__ import annotations

import json
from typing import Any

from headrace.testing.conformance import outcome

JSON = "org.apache.kafka.connect.json.JsonConverter"
TEXT = "org.apache.kafka.connect.storage.StringConverter"


def after(
    props: dict[str, str], value: Any, *, schemas: bool = False, key: str | None = None, headers=(), **parts
) -> dict[str, Any]:
    """The record after the chain of `props`: its value as parsed JSON (text as it is given), its key text; or `error`.

    value: text, or what is written as JSON; schemas: it is an envelope, and what comes out is one.
    """
    config = {"key.converter": TEXT, "value.converter": JSON, "value.converter.schemas.enable": str(schemas).lower(), **props}
    text = value if value is None or isinstance(value, str) else json.dumps(value)
    record = {"topic": "orders", "partition": 1, "offset": 7, "timestamp": 1_700_000_000_000, "key": key, "value": text}
    result = outcome(config, {**record, "headers": list(headers), **parts})
    if result.get("value") is not None and config["value.converter"] == JSON:
        result["value"] = json.loads(result["value"])
    return result


def sql(**options: str) -> dict[str, str]:
    """The configuration of one Sql transform, of alias `x`; `value__a` is the option `value.a`."""
    settings = {f"transforms.x.{name.replace('__', '.')}": text for name, text in options.items()}
    return {"transforms": "x", "transforms.x.type": "headrace.transforms.Sql", **settings}


def envelope(payload: Any, **fields: Any) -> dict[str, Any]:
    """A struct of optional fields with its schema: `envelope({"a": 1}, a="int32")`."""
    described = [{"field": n, "optional": True, **({"type": t} if isinstance(t, str) else t)} for n, t in fields.items()]
    return {"schema": {"type": "struct", "optional": True, "fields": described}, "payload": payload}
