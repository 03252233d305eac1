"""A preview as tables for a terminal: one per record, a row per step with changes in bold, the outcome below."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Iterable, Mapping
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from headrace.preview.records import notation
from headrace.values.times import iso_of_ms

Json = Mapping[str, Any]
_COLUMNS = ("topic", "key", "value", "headers")
_CHANGED, _BAD = "bold yellow", "bold red"


def show(preview: Json, console: Console) -> None:
    """Print a preview. preview: its JSON (`headrace.preview.run`)."""
    for number, record in enumerate(preview["records"], 1):
        console.print(_table(number, record))
        for part, schemas in record.get("schemas", {}).items():
            console.print(_schema(part, schemas))
        console.print(Text(_outcome(record, preview["type"]), style=_BAD if record["outcome"] == "failed" else "bold"))
        console.print()


def _table(number: int, record: Json) -> Table:
    source = record["input"]
    title = f"record {number}: {source['topic']}-{source['partition']} offset {source['offset']}, {_time(source['timestamp'])}"
    table = Table(title=Text(title), title_justify="left", title_style="")
    for name in ("step", "applied", *_COLUMNS, "note"):
        table.add_column(name, overflow="fold")
    before: Json | None = None
    for step in record["steps"]:
        unread = _unreadable(source) if step["step"] == "input" and step["failed"] else None
        table.add_row(*_row(step, before, unread))
        before = step["record"]
    output = record["output"]
    if output:
        written = {"topic": output["topic"], **{part: _bytes_text(output[part]) for part in ("key", "value")}}
        table.add_row("output", "", *map(Text, (*written.values(), _headers(output["headers"]))), "as written")
    return table


def _unreadable(source: Json) -> Json:
    """A record that could not be read, in its input form."""
    return {
        "topic": source["topic"],
        **{part: _bytes_text(source[part]) for part in ("key", "value")},
        "headers": _headers(source["headers"]),
    }


def _row(step: Json, before: Json | None, unread: Json | None) -> Iterable[Text]:
    yield Text(step["step"].removeprefix("transform:"))
    yield Text("" if step["step"] == "input" else "yes" if step["applied"] else "no")
    record = step["record"]
    for name in _COLUMNS:
        cell = unread[name] if unread else _cell(record, name)
        changed = record and before and not _same(record[name], before[name])
        yield Text(cell, style=_CHANGED if changed else "")
    yield Text("\n".join(_notes(step, before)), style=_BAD if step["failed"] else "")


def _cell(record: Json | None, name: str) -> str:
    if record is None:
        return ""
    if name in ("key", "value"):
        return _part(record[name])
    return _headers(record[name]) if name == "headers" else record[name] or ""


def _part(part: Json) -> str:
    if part["type"] == "bytes" and part["json"] != "null":
        return _bytes_text(notation(b64decode(json.loads(part["json"]))))
    return part["json"]


def _notes(step: Json, before: Json | None) -> Iterable[str]:
    predicate, record = step.get("predicate"), step["record"]
    if predicate:
        yield f"{predicate['alias']}: {'holds' if predicate['held'] else 'does not hold'}" + (
            ", negated" if predicate["negate"] else ""
        )
    if step["dropped"]:
        yield "dropped"
    if step["failed"]:
        yield "failed"
    if record is None:
        return
    for part in ("key", "value"):
        new, old = record[part], before[part] if before else None
        if old is None or (new["type"], new["schema"]) != (old["type"], old["schema"]):
            yield f"{part}: {new['type']}{', with schema' if new['schema'] else ''}"
    if before and record["partition"] != before["partition"]:
        yield f"partition: {record['partition']}"
    if before and record["timestamp"] != before["timestamp"]:
        yield f"timestamp: {_time(record['timestamp'])}"


def _same(new: Any, old: Any) -> bool:
    if isinstance(new, dict) and new["schema"] == old["schema"]:  # the order of members means nothing
        return _parsed(new["json"]) == _parsed(old["json"])
    return new == old


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, parse_float=str, parse_constant=str)
    except (ValueError, RecursionError):
        return text


def _schema(part: str, schema: Json) -> Text:
    """A line for the schemas of the registry that a key, or a value, is read and written with."""
    return Text(f"{part}: " + ", ".join(f"{how} with {_named(schema[how])}" for how in ("read", "written") if schema[how]))


def _named(schema: Json) -> str:
    if schema["id"] is None:
        return "a schema that would be registered"
    where = f" (subject {schema['subject']}, version {schema['version']})" if schema["subject"] else ""
    return f"schema {schema['id']}{where}"


def _outcome(record: Json, connector_type: str) -> str:
    if record["outcome"] == "dropped":
        return f"dropped by transform '{record['dropped_by']}'"
    if record["outcome"] == "failed":
        return _failure(record["failure"])
    if connector_type == "sink":
        return "→ the sink"
    return f"→ {record['destination']['topic']} ({_destination(record['destination'])})"


def _failure(failure: Json) -> str:
    kind, _, alias = failure["step"].partition(":")
    direction, _, part = kind.partition(".")
    where = f"at transform '{alias}'" if alias else f"{'reading' if direction == 'input' else 'writing'} the {part}"
    cause = f"\n  caused by {failure['cause'].splitlines()[0]}" if failure["cause"] else ""
    return (
        f"fails {where}: {failure['class'].rpartition('.')[2]} {(failure['message'] or '').strip()}{cause}\n  {failure['then']}"
    )


def _destination(destination: Json) -> str:
    if destination["exists"]:
        return f"exists, partitions={destination['partitions']}"
    new = destination["create"]
    if new is None:
        return ("does not exist; " if destination["exists"] is False else "") + destination["note"]
    settings = {"partitions": new["partitions"], "replication.factor": new["replication.factor"]}
    texts = [f"{name}={'the default of the broker' if value == -1 else value}" for name, value in settings.items()]
    texts += [f"{name}={value}" for name, value in new["configs"].items()]
    would = "would be created" if destination["exists"] is False else "would be created, unless it exists,"
    return f"{would} by group '{new['group']}': {', '.join(texts)}"


def _headers(headers: list[list[Any]]) -> str:
    return "\n".join(f"{name}: {_bytes_text(value)}" for name, value in headers)


def _bytes_text(value: Any) -> str:
    if value is None:
        return "(null)"
    return value if isinstance(value, str) else f"base64 {value['base64']}"


def _time(millis: int | None) -> str:
    return "no timestamp" if millis is None else iso_of_ms(millis)
