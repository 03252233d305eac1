"""Answers of the REST API as tables for a terminal."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from itertools import groupby
from operator import itemgetter
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from headrace.cli.connectors.texts import first_line, plain
from headrace.config.secrets import Secrets
from headrace.values.times import moment_of

Json = Mapping[str, Any]
_TAG = re.compile(r"</?\w[^>]*>")  # Kafka's documentation of options is HTML
_STATES = {"RUNNING": "green", "FAILED": "bold red", "PAUSED": "yellow", "STOPPED": "yellow"}


def connector_list(connectors: Json, versions: Mapping[str, str]) -> Table:
    """All connectors, one row each.

    connectors: as in `GET /connectors?expand=info&expand=status`, the status may be missing; versions: of each plugin class,
    where the status does not tell it.
    """
    table = _table("name", "type", "state", "tasks", "version", "problem")
    for name in sorted(connectors):
        info, status = connectors[name].get("info") or {}, connectors[name].get("status") or {}
        connector, tasks = status.get("connector") or {}, status.get("tasks") or []
        running = sum(task["state"] == "RUNNING" for task in tasks)
        version = connector.get("version") or versions.get((info.get("config") or {}).get("connector.class") or "", "")
        cells = (plain(name), info.get("type", ""), _state(connector), f"{running}/{len(tasks)}", version)
        table.add_row(*cells_of(cells), Text(_problem(connector, tasks), style=_STATES["FAILED"]))
    return table


def _problem(connector: Json, tasks: Sequence[Json]) -> str:
    """What went wrong first: with the connector, else with a task."""
    parts = [("", connector), *((f"task {task['id']}: ", task) for task in tasks)]
    failed = (where + plain(first_line(part.get("trace") or part["state"])) for where, part in parts if _has_failed(part))
    return next(failed, "")


def _has_failed(part: Json) -> bool:
    return part.get("state") == "FAILED"


def states(status: Json) -> Table:
    """The connector and its tasks with state and worker (`GET …/status`)."""
    table = _table("", "state", "worker", "version")
    parts = [("connector", status["connector"]), *((f"task {task['id']}", task) for task in status["tasks"])]
    for title, part in parts:
        table.add_row(*cells_of((title, _state(part), part.get("worker_id", ""), part.get("version") or "")))
    return table


def streams(status: Json) -> Iterable[str]:
    """In which mode the stream of each task runs, and why, tasks alike in one line; and which make no progress."""
    alike: dict[str, list[int]] = {}
    for task in status["tasks"]:
        if stream := task.get("stream"):
            alike.setdefault(f"{plain(stream['mode'])} ({plain(stream['reason'])})", []).append(task["id"])
    for how, tasks in alike.items():
        yield f"{'task' if len(tasks) == 1 else 'tasks'} {', '.join(map(str, tasks))}: {how}"
    for task in status["tasks"]:
        if task.get("stalled_ms"):
            yield f"task {task['id']}: no progress for {task['stalled_ms'] // 1000} s, and its lag grows"


def traces(status: Json) -> Iterable[Text]:
    """What each failed part says about it, whole."""
    for title, part in [("connector", status["connector"]), *((f"task {task['id']}", task) for task in status["tasks"])]:
        if part.get("trace"):
            yield Text(f"{title} failed:", style=_STATES["FAILED"])
            yield Text(plain(part["trace"].strip(), lines=True))


def settings(config: Mapping[str, str | None], secrets: Secrets) -> Table:
    """A configuration, sorted by key; secrets are hidden."""
    table = _table("setting", "value")
    for key in sorted(config):
        table.add_row(*cells_of((plain(key), plain(secrets.shown(key, config[key]) if config[key] is not None else "(null)"))))
    return table


def offsets(response: Json) -> Table:
    """The committed offsets (`GET …/offsets`)."""
    table = _table("partition", "offset")
    for entry in response["offsets"]:
        table.add_row(*cells_of(plain(_compact(entry[part])) for part in ("partition", "offset")))
    return table


def lag(response: Json) -> Table:
    """How far each partition is behind (`GET /headrace/connectors/…/lag`)."""
    table = _table("topic", "partition", "task", "offset", "end", "lag", "last copied", "freshness")
    for partition in response["partitions"]:
        numbers = (_number(partition[part]) for part in ("task", "offset", "end_offset", "lag"))
        copied = "" if partition["timestamp"] is None else _time(partition["timestamp"], "milliseconds")
        cells = (plain(partition["topic"]), str(partition["partition"]), *numbers, copied, _age(partition["freshness_ms"]))
        table.add_row(*cells_of(cells))
    return table


def schemas(response: Json) -> Table:
    """The schemas that tasks read and write (`GET /headrace/connectors/…/schemas`)."""
    table = _table("task", "", "", "id", "subject", "version", "format", "since")
    for schema in response["entries"]:
        version = "" if schema["version"] is None else str(schema["version"])
        cells = (schema["direction"], schema["part"], str(schema["id"]), schema["subject"] or "", version, schema["type"])
        table.add_row(*cells_of([str(schema["task"]), *map(plain, cells), _time(schema["since"], "seconds")]))
    return table


def lag_of_all(response: Json) -> str:
    """The same of all partitions together."""
    if not response["partitions"]:
        return "No partition is copied, and none has been."
    age = _age(response["freshness_ms"])
    records = "1 record" if response["lag"] == 1 else f"{response['lag']:,} records"
    return f"{records} behind" + (f", the oldest of them {age} old" if response["lag"] and age else "")


def figures(response: Json) -> Table:
    """Records per second and ages, oldest first (`GET /headrace/connectors/…/figures`)."""
    table = _table("time", "records/s", "age when copied")
    for sample in response["samples"]:
        table.add_row(*cells_of((_time(sample["time_ms"], "seconds"), f"{sample['rate']:,.1f}", _latency(sample["age_ms"]))))
    return table


def figures_now(response: Json) -> str:
    """The same now, in a sentence."""
    behind = "" if response["lag"] is None else f", {response['lag']:,} behind"
    age = f", copied when they were {_latency(response['age_ms'])} old" if response["age_ms"] is not None else ""
    return f"{response['rate']:,.1f} records/s{behind}{age}"


def history(response: Json) -> Table:
    """The states that a connector and its tasks went through (`GET /headrace/connectors/…/history`)."""
    table = _table("time", "", "state", "worker", "cause")
    for event in response["entries"]:
        part = "connector" if event.get("task") is None else f"task {event['task']}"
        cells = (event["time"], part, _state(event), event["worker_id"], plain(event.get("cause") or ""))
        table.add_row(*cells_of(cells))
    return table


def audit(response: Json) -> Table:
    """Who changed what (`GET /headrace/audit`)."""
    table = _table("time", "user", "from", "via", "request", "result")
    for entry in response["entries"]:
        request = plain(f"{entry['method']} {entry['path']}" + (f"?{entry['query']}" if entry.get("query") else ""))
        request += f"\n{plain(entry['detail'])}" if entry.get("detail") else ""
        result = plain(f"{entry['status']} {entry.get('message') or ''}".strip())
        table.add_row(
            *cells_of((entry["time"], plain(entry.get("user") or ""), plain(entry["address"]), entry["via"], request, result))
        )
    return table


def workers(response: Json) -> Table:
    """The workers of the group (`GET /headrace/workers`)."""
    table = _table("worker", "state", "connectors", "tasks", "failed", "share", "memory", "version", "up since")
    for worker in response["workers"]:
        facts = worker["facts"]
        name = plain(worker["worker_id"]) + (" (leader)" if facts and facts["leader"] else "")
        cells = [name, worker["state"], *(str(worker[part]) for part in ("connectors", "tasks", "failed"))]
        if facts:
            memory = "" if facts["memory_bytes"] is None else f"{facts['memory_bytes'] >> 20} MiB"
            cells += [
                f"{facts['slots']}/{facts['slot_count']}",
                memory,
                plain(facts["version"]),
                _time(facts["started_ms"], "seconds"),
            ]
        table.add_row(*cells_of(cells))
    return table


def dead_letter_topics(response: Json) -> Table:
    """The dead letter topics (`GET /headrace/dead-letters`)."""
    table = _table("topic", "cluster", "connectors", "records", "problem")
    for topic in response["topics"]:
        cells = (
            topic["topic"],
            topic["cluster"] or "",
            ", ".join(topic["connectors"]),
            _number(topic["records"]),
            topic["problem"] or "",
        )
        table.add_row(*cells_of(map(plain, cells)))
    return table


def reasons(response: Json) -> Table:
    """Why letters failed (`GET /headrace/dead-letters/…`)."""
    table = _table("letters", "connector", "stage", "exception", "message", "last")
    for reason in response["reasons"]:
        last = "" if reason["last_ms"] is None else _time(reason["last_ms"], "seconds")
        exception = (reason["exception"] or "").rpartition(".")[2]
        messages = reason.get("messages", 1)  # a worker of before, in a rolling upgrade, does not say it
        others = f" (and {_number(messages - 1)} messages like it)" if messages > 1 else ""
        message = (reason["message"] or "") + others
        cells = (reason["records"], reason["connector"] or "", reason["stage"] or "", exception, message, last)
        table.add_row(*cells_of(map(plain, cells)))
    return table


def letters(response: Json) -> Table:
    """The letters themselves (`GET /headrace/dead-letters/…`)."""
    table = _table("letter", "time", "from", "key", "value", "replayed")
    for letter in response["letters"]:
        time = "" if letter["timestamp"] is None else _time(letter["timestamp"], "milliseconds")
        origin = letter["origin"]
        place = f"{origin['topic']}-{origin['partition']} offset {origin['offset']}" if origin else ""
        key, value = (_brief(letter[part]) for part in ("key", "value"))
        table.add_row(*cells_of(map(plain, (letter["id"], time, place, key, value, (letter["replayed"] or {}).get("time", "")))))
    return table


def _brief(value: Any) -> str:
    """A key or value as it is shown: `null` for none, base64 for what is no text."""
    text = "null" if value is None else value if isinstance(value, str) else f"base64 {value['base64']}"
    return text if len(text) <= 120 else text[:119] + "…"


def replayed(response: Json) -> Table:
    """What became of letters (`POST /headrace/dead-letters/…/replay`)."""
    table = _table("letter", "outcome", "topic", "why")
    for letter in response["letters"]:
        table.add_row(*cells_of(map(plain, (letter["id"], letter["outcome"], letter["topic"] or "", letter["message"] or ""))))
    return table


def lineage(response: Json) -> Table:
    """How data flows (`GET /headrace/lineage`)."""
    shown = {n["id"]: f"{n['name']} @ {n['place']}" if n["place"] else n["name"] for n in response["nodes"]}
    kinds = {node["id"]: node["kind"] for node in response["nodes"]}
    table = _table("from", "", "to", "", "since")
    for edge in response["edges"]:
        source, target = edge["source"], edge["target"]
        since = "" if edge["since_ms"] is None else _time(edge["since_ms"], "seconds")
        table.add_row(*cells_of((plain(shown[source]), kinds[source], plain(shown[target]), kinds[target], since)))
    return table


def applications(instances: Iterable[Json]) -> Table:
    """The streams applications that report (`GET /headrace/streams`)."""
    table = _table("application", "state", "instances", "lag", "internal topics", "problem")
    for instance in instances:
        cells = (
            plain(instance["application"]),
            _state(instance),
            str(len(instance["instances"])),
            _number(instance["lag"]),
            instance["init"],
        )
        table.add_row(*cells_of((*cells, Text(plain(first_line(instance["problem"] or "")), style=_STATES["FAILED"]))))
    return table


def columns(rows: Iterable[Json]) -> Table:
    """Of which columns each column of a connector's records is made."""
    table = _table("connector", "column", "is made of", "how")
    for row in rows:
        sources = row["sources"] or [{"column": "", "transformation": "constant"}]
        made_of = [
            (name, ", ".join(source["transformation"] for source in of_column))
            for name, of_column in groupby(sources, itemgetter("column"))
        ]
        names, ways = ("\n".join(map(plain, column)) for column in zip(*made_of, strict=True))
        table.add_row(*cells_of((plain(row["connector"]), plain(row["column"]), names, ways.lower())))
    return table


def drift(differences: Iterable[Json]) -> Table:
    """How topics differ from the rules of their connectors, or with `connector` null from what a file declares."""
    table = _table("connector", "topic", "rule", "what", "wanted", "is")
    for difference in differences:
        cells = (
            difference["connector"] or "",
            *(difference[part] for part in ("topic", "group", "what", "wanted")),
            difference["actual"] or "does not exist",
        )
        table.add_row(*cells_of(map(plain, cells)))
    return table


def plugins(classes: Iterable[Json]) -> Table:
    """Plugins with kind and version, which a plugin may lack (`GET /connector-plugins`)."""
    table = _table("class", "type", "version")
    for plugin in classes:
        table.add_row(*cells_of(plain(plugin.get(part) or "") for part in ("class", "type", "version")))
    return table


def plugin_locations(locations: Iterable[Json]) -> Table:
    """Plugins of this machine, with their locations, and whether headrace has its own class of the name."""
    table = _table("class", "type", "version", "location", "runs")
    for plugin in locations:
        runs = "headrace's own class" if plugin["shadowed"] else ""
        table.add_row(*cells_of(plain(text) for text in (*(plugin[p] for p in ("class", "type", "version", "location")), runs)))
    return table


def definitions(options: Iterable[Json]) -> Table:
    """The options of a plugin (`GET /connector-plugins/…/config`)."""
    table = _table("option", "type", "default", "importance", "documentation")
    for option in options:
        default = "(required)" if option["required"] else option["default_value"] or ""
        described = _TAG.sub("", option["documentation"] or "")
        table.add_row(*cells_of(plain(x) for x in (option["name"], option["type"], default, option["importance"], described)))
    return table


def loggers(levels: Mapping[str, Json]) -> Table:
    """Log levels (`GET /admin/loggers`)."""
    table = _table("logger", "level", "changed")
    for name in sorted(levels):
        changed = levels[name].get("last_modified")
        since = "" if changed is None else _time(changed, "seconds")
        table.add_row(*cells_of((plain(name), plain(levels[name]["level"]), since)))
    return table


def errors(problems: Iterable[tuple[str, str]]) -> Table:
    """The errors of a configuration: option and sentence."""
    table = _table("option", "error")
    for option, sentence in problems:
        table.add_row(*cells_of((plain(option), plain(sentence, lines=True))))
    return table


def show(*parts: Table | Text | str, err: bool = False) -> None:
    """Print these, one below the other; a table without rows is left out. err: on standard error."""
    console = Console(highlight=False, stderr=err)
    for part in parts:
        if isinstance(part, Table):
            if part.row_count:
                console.print(part)
        else:
            console.print(Text(part) if isinstance(part, str) else part, soft_wrap=True)


def cells_of(texts: Iterable[str | Text]) -> list[Text]:
    """Cells that show what is written, brackets too."""
    return [text if isinstance(text, Text) else Text(text) for text in texts]


def _table(*columns: str) -> Table:
    table = Table()
    for name in columns:
        table.add_column(name, overflow="fold")
    return table


def _time(epoch_ms: int, to: str) -> str:
    moment = moment_of(epoch_ms)
    return moment.isoformat(timespec=to) if moment else f"{epoch_ms} ms"


def _number(value: int | None) -> str:
    return "" if value is None else str(value)


def _latency(millis: float | None) -> str:
    """As `_age`, of what is mostly less than a second."""
    return f"{millis:.0f} ms" if millis is not None and millis < 1000 else _age(millis)


def _age(millis: float | None) -> str:
    """A span of time as people read it."""
    if millis is None:
        return ""
    if millis < 60_000:
        return f"{millis / 1000:.1f} s"
    return str(timedelta(seconds=millis // 1000))


def _state(part: Json) -> Text:
    state = str(part.get("state", ""))
    return Text(state, style=_STATES.get(state, ""))


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
