"""The JSON Schemas of the REST API's requests and responses, by the names that routes use."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

KINDS, STATES = ("source", "sink", "unknown"), ("UNASSIGNED", "RUNNING", "PAUSED", "STOPPED", "FAILED", "RESTARTING")
STREAMS_STATES = ("CREATED", "REBALANCING", "RUNNING", "PENDING_SHUTDOWN", "NOT_RUNNING", "PENDING_ERROR", "ERROR")
LEVELS = ("ALL", "TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL", "OFF")


def ref(name: str) -> Schema:
    """A reference to one of SCHEMAS."""
    return {"$ref": f"#/components/schemas/{name}"}


def _object(required: dict[str, Schema], optional: dict[str, Schema] | None = None, **more: Any) -> Schema:
    """An object with these fields and no others."""
    properties = {**required, **(optional or {})}
    return {"type": "object", "required": list(required), "properties": properties, "additionalProperties": False, **more}


def _map(of: Schema, **more: Any) -> Schema:
    return {"type": "object", "additionalProperties": of, **more}


def _list(of: Schema, **more: Any) -> Schema:
    return {"type": "array", "items": of, **more}


def _one_of(words: tuple[str, ...], **more: Any) -> Schema:
    return {"type": "string", "enum": list(words), **more}


_TEXT: Schema = {"type": "string"}
_INT: Schema = {"type": "integer"}
_NUMBER: Schema = {"type": "number"}
_NUMBER_OR_NULL: Schema = {"type": ["number", "null"]}
_BOOLEAN: Schema = {"type": "boolean"}
_TEXT_OR_NULL: Schema = {"type": ["string", "null"]}
_INT_OR_NULL: Schema = {"type": ["integer", "null"]}
_SETTING: Schema = {"type": ["string", "number", "boolean", "null"]}
_OBJECT: Schema = {"type": "object"}
_OBJECT_OR_NULL: Schema = {"type": ["object", "null"]}
_STATE: dict[str, Schema] = {"state": _one_of(STATES), "worker_id": _TEXT}
_STATE_OPTIONAL: dict[str, Schema] = {"version": _TEXT_OR_NULL, "trace": {**_TEXT, "description": "A failure and its causes."}}
_RESTART = _object(
    {"attempts": _INT, "budget": _INT, "history": _list(_object({"at": _TEXT, "cause": _TEXT}))},
    {"next": _TEXT},
    description="Of a task that starts again by itself (`task.restart.*`): how often it did, and when it does next.",
)
_STREAM = _object({"mode": _one_of(("microbatch", "realtime")), "reason": _TEXT}, description="What `stream.mode` came to.")
_FRESHNESS = {**_INT_OR_NULL, "description": "Ms that the oldest record has been there that is not delivered; 0: there is none."}
_STALLED = {**_INT, "description": "For how many ms the task has stored no offset while its lag grew; only where that is so."}
_OWN_TASK = {
    **_STATE_OPTIONAL, "restart": _RESTART, "stream": _STREAM,
    "progress": _one_of(("STALLED",), description="That the task runs, and makes no progress while its lag grows; else absent."),
    "stalled_ms": _STALLED,
    "freshness_ms": _FRESHNESS,
    "waiting_for": {**_TEXT, "description": "Why schemas cannot be asked for; the records that need them wait."},
}  # fmt: skip
_TASK_ID = _object({"connector": _TEXT, "task": _INT})
_KIND = _one_of(KINDS)
_VERSION = _object({"class": _TEXT, "type": _TEXT}, {"version": _TEXT})
_BYTES: Schema = {
    "description": "The text of the bytes, or them in base64, or null for none.",
    "anyOf": [_TEXT_OR_NULL, _object({"base64": _TEXT})],
}
_RECORD = {
    "topic": _TEXT, "partition": _INT_OR_NULL, "offset": _INT, "timestamp": _INT_OR_NULL, "key": _BYTES, "value": _BYTES,
    "headers": _list({"type": "array", "minItems": 2, "maxItems": 2}),
}  # fmt: skip

_WORKER = _object({
    "worker_id": _TEXT, "version": _TEXT, "python": _TEXT, "started_ms": _INT, "leader": _BOOLEAN,
    "slots": {**_INT, "description": "Its share of `slot_count`."}, "slot_count": _INT, "generation": _INT,
    "data_plane": {"anyOf": [_object({"feeds": _INT, "lanes": _INT}), {"type": "null"}]},
    "memory_bytes": {**_INT_OR_NULL, "description": "Resident, of the Python process."},
    "jvm": {"anyOf": [_object({"used_bytes": _INT, "max_bytes": _INT}), {"type": "null"}]},
})  # fmt: skip
_INTERNAL_TOPICS: Schema = {"anyOf": [
    _list(_object(
        {"name": _TEXT, "kind": _TEXT, "partitions": _INT, "replication_factor": _INT, "state": _TEXT},
        {"configs": _map(_TEXT_OR_NULL), "problems": _list(_TEXT)}, additionalProperties=True,
    )),
    {"type": "null"},
]}  # fmt: skip
_STREAMS_REPORT = _object({
    "version": _TEXT, "state": _one_of(STREAMS_STATES), "active": _BOOLEAN, "paused": _BOOLEAN, "error": _TEXT_OR_NULL,
    "setup": _TEXT, "topology": _TEXT, "internal_topics": _INTERNAL_TOPICS, "problem": _TEXT_OR_NULL,
    "metrics": _map(_map({**_NUMBER, "minimum": 1 - 2**53, "maximum": 2**53 - 1})),
}, {
    "servers": {**_TEXT, "description": "The bootstrap servers of its cluster."},
    "results": _list(_object({"id": _TEXT, "ok": _BOOLEAN, "message": _TEXT}, {"topics": _list(_TEXT)})),
})  # fmt: skip
_STREAMS_COMMAND: Schema = {
    "command": _one_of(("init", "verify")), "dry_run": {**_BOOLEAN, "description": "Of init: say what would be created only."},
    "setup_if_incomplete": {**_BOOLEAN, "description": "Of init: create what is missing, even if some topics are there."},
}  # fmt: skip
_LETTERS: Schema = {
    "type": "array", "items": _TEXT, "minItems": 1, "maxItems": 500, "description": "Each `<partition>:<offset>`.",
}  # fmt: skip
_LETTER = _object({
    "id": _TEXT, "timestamp": _INT_OR_NULL, "connector": _TEXT_OR_NULL, "task": _INT_OR_NULL, "stage": _TEXT_OR_NULL,
    "class": _TEXT_OR_NULL, "exception": _TEXT_OR_NULL, "message": _TEXT_OR_NULL, "stacktrace": _TEXT_OR_NULL,
    "origin": {"anyOf": [_object({"topic": _TEXT, "partition": _INT_OR_NULL, "offset": _INT}), {"type": "null"}]},
    "key": _BYTES, "key_bytes": _INT_OR_NULL, "value": _BYTES, "value_bytes": _INT_OR_NULL,
    "headers": _list({"type": "array", "minItems": 2, "maxItems": 2}),
    "replayed": {"anyOf": [_object({"time": _TEXT, "topic": _TEXT}), {"type": "null"}]},
}, description="The record that failed, and what its headers say; of long keys and values the first 8 KiB.")  # fmt: skip

_SCHEMA_USE: Schema = {
    "task": _INT, "worker_id": _TEXT, "direction": _one_of(("read", "written")), "part": _one_of(("key", "value")),
    "id": _INT, "type": _TEXT, "topic": _TEXT_OR_NULL, "subject": _TEXT_OR_NULL, "version": _INT_OR_NULL,
    "since": {**_INT, "description": "When the task met it first, in ms since the epoch; since this worker process runs."},
    "fields": _list(_object({"name": _TEXT, "type": _TEXT}), description="Of a record, with Connect's types."),
}  # fmt: skip
SCHEMAS: dict[str, Schema] = {
    "Error": _object({"error_code": _INT, "message": _TEXT}),
    "ServerInfo": _object({"version": _TEXT, "commit": _TEXT, "kafka_cluster_id": _TEXT_OR_NULL}),
    "Health": _object({"status": _one_of(("healthy", "starting", "unhealthy")), "message": _TEXT}),
    "Config": _map(_TEXT_OR_NULL, description="A configuration: every setting as text."),
    "NewConfig": _map(_SETTING, description="A configuration. Numbers and booleans count as the text that they are written as."),
    "ConfigPatch": _map(_SETTING, description="The settings to change; null removes one."),
    "NewConnector": _object(
        {"name": _TEXT, "config": ref("NewConfig")},
        {"initial_state": {
            "anyOf": [_one_of(("RUNNING", "PAUSED", "STOPPED")), {"type": "null"}],
            "description": "The state to begin in (KIP-980), RUNNING by default; upper or lower case.",
        }},
    ),
    "ConnectorInfo": _object(
        {"name": _TEXT, "config": ref("Config"), "tasks": _list(_TASK_ID), "type": _KIND},
        {"offsets_status": {**_TEXT, "description": "Whether `initial_offsets` have been set (KIP-995)."}},
    ),
    "Connectors": {
        "description": "The names; with `expand` an object of the connectors with what was asked for of each.",
        "anyOf": [
            _list(_TEXT),
            _map(_object({}, {"status": ref("ConnectorStatus"), "info": ref("ConnectorInfo")})),
        ],
    },
    "TaskStatus": _object({"id": _INT, **_STATE}, {**_STATE_OPTIONAL, "restart": _RESTART}),
    "ConnectorStatus": _object(
        {"name": _TEXT, "connector": _object(_STATE, _STATE_OPTIONAL), "tasks": _list(ref("TaskStatus")), "type": _KIND}
    ),
    "OwnConnectorStatus": _object({
        "name": _TEXT, "connector": _object(_STATE, _STATE_OPTIONAL), "type": _KIND,
        "tasks": _list(_object({"id": _INT, **_STATE}, _OWN_TASK)),
    }),
    "Tasks": _list(_object({"id": _TASK_ID, "config": ref("Config")})),
    "Topics": _map(_object({"topics": _list(_TEXT)}), description="The active topics, under the connector's name."),
    "Offsets": _object({"offsets": _list(_object({"partition": _OBJECT_OR_NULL, "offset": _OBJECT_OR_NULL}))}),
    "NewOffsets": _object(
        {"offsets": _list(
            _object(
                {"partition": _OBJECT},
                {"offset": {**_OBJECT_OR_NULL, "description": "The new offset; null resets the partition."}},
                description="Of a sink: `{\"kafka_topic\", \"kafka_partition\"}` and `{\"kafka_offset\"}`.",
            ),
            minItems=1,
        )},
    ),
    "Message": _object({"message": _TEXT}),
    "Text": _TEXT,
    "ConnectorLogs": _object({
        "connector": _TEXT, "worker_id": _TEXT,
        "entries": _list(_object({
            "time": _TEXT, "level": _TEXT, "logger": _TEXT, "task": _INT_OR_NULL, "event": _TEXT, "details": _map(_TEXT),
            "worker_id": _TEXT,
        }), description="Oldest first (docs/metrics.md)."),
        "not_reached": _list(_TEXT),
    }),
    "Schemas": _object({"entries": _list(_object({"connector": _TEXT, **_SCHEMA_USE}))}),
    "ConnectorSchemas": _object({
        "connector": _TEXT, "entries": _list(_object(_SCHEMA_USE)),
        "not_reached": _list(_TEXT, description="Workers with tasks of it that did not answer."),
    }),
    "ConnectorLag": _object({
        "connector": _TEXT, "lag": {**_INT, "description": "Records, of all partitions of which it is known."},
        "freshness_ms": {**_INT_OR_NULL, "description": "Of the partition that is furthest behind."},
        "partitions": _list(_object({
            "topic": _TEXT, "partition": _INT, "task": _INT_OR_NULL,
            "offset": {**_INT_OR_NULL, "description": "Of the last record that is delivered, and stored as such."},
            "end_offset": {**_INT_OR_NULL, "description": "The one after the last record of the source."},
            "lag": _INT_OR_NULL,
            "timestamp": {**_INT_OR_NULL, "description": "Of the record at `offset`, in ms since the epoch."},
            "freshness_ms": {**_INT_OR_NULL, "description": "The age of the oldest record that is not delivered, 0: all are."},
        })),
    }),
    "Overview": _object({
        "worker_id": _TEXT, "kafka_cluster_id": _TEXT_OR_NULL, "counts": _map(_INT), "states": _map(_INT),
        "not_reached": _list(_TEXT, description="Workers that did not answer: what their tasks measure is missing."),
        "clusters_away": _list(_object({"cluster": _TEXT, "since_ms": _INT, "connectors": _INT, "writers": _INT}),
                               description="That give no answer, with how many connectors read from and write to each."),
        "matching": _INT, "page": _INT, "pages": _INT,
        "connectors": _list(_object({
            "name": _TEXT, "type": _KIND, "connector_class": _TEXT, "state": _one_of(STATES), "worker_id": _TEXT,
            "connector_state": _one_of(STATES), "workers": _list(_TEXT), "tasks": _INT, "running": _INT, "failed": _INT,
            "problem": {**_TEXT, "description": "The first sentence of what went wrong; empty if nothing did."},
            "lag": {**_INT_OR_NULL, "description": "Records; null where no task can tell."}, "freshness_ms": _FRESHNESS,
            "age_ms": {**_NUMBER_OR_NULL, "description": "The greatest age of a record that was copied in the last batches."},
            "rate": {**_NUMBER, "description": "Records per second."},
            "rates": _list(_NUMBER, description="The same in the last minutes, every 10 s, oldest first."),
            "topics": _list(_TEXT),
        })),
    }),
    "Figures": _object({
        "worker_id": _TEXT,
        "tasks": _list(_object({
            "connector": _TEXT, "task": _INT, "records": _NUMBER, "rate": _NUMBER, "lag": _INT_OR_NULL, "age_ms": _NUMBER_OR_NULL,
            "stalled_ms": _INT, "waiting_for": _TEXT_OR_NULL, "silent_since_ms": _INT_OR_NULL,
            "target_silent_since_ms": _INT_OR_NULL, "freshness_ms": _INT_OR_NULL,
        })),
        "history": _map(_list(_list(_NUMBER_OR_NULL)), description="By connector: records per second and greatest age."),
    }),
    "ConnectorFigures": _object({
        "connector": _TEXT, "rate": {**_NUMBER, "description": "Records per second, of all tasks."}, "lag": _INT_OR_NULL,
        "freshness_ms": _FRESHNESS,
        "age_ms": {**_NUMBER_OR_NULL, "description": "The greatest age of a record when it was copied."},
        "samples": _list(_object({
            "time_ms": {**_INT, "description": "When it was taken, to ten seconds, in ms since the epoch."},
            "rate": _NUMBER, "age_ms": _NUMBER_OR_NULL,
        }), description="Oldest first."),
        "not_reached": _list(_TEXT, description="Workers with tasks of it that did not answer."),
    }),
    "BulkAction": _object({
        "action": _one_of(("pause", "resume", "stop", "restart-failed", "restart")), "connectors": _list(_TEXT, minItems=1),
    }),
    "BulkAnswer": _object({
        "action": _TEXT, "connectors": _list(_object({"name": _TEXT, "done": _BOOLEAN, "message": _TEXT_OR_NULL})),
    }),
    "History": _object({
        "connector": _TEXT, "durable": _BOOLEAN, "before": {**_TEXT_OR_NULL, "description": "For older ones, if there are."},
        "entries": _list(_object(
            {"time": _TEXT, "connector": _TEXT, "state": _TEXT, "worker_id": _TEXT},
            {"task": _INT, "cause": {**_TEXT, "description": "A line, and one for each `Caused by: `."},
             "restart": _object({"attempts": _INT, "budget": _INT}, description="How often it had started again by itself.")},
        ), description="Oldest first."),
    }),
    "Audit": _object({
        "durable": {**_BOOLEAN, "description": "Whether it is kept in a topic, and not in this worker's memory alone."},
        "before": {**_TEXT_OR_NULL, "description": "For older ones, if there are."},
        "entries": _list(_object(
            {"time": _TEXT, "address": _TEXT, "via": _one_of(("rest", "page", "worker")), "method": _TEXT, "path": _TEXT,
             "status": _INT, "worker_id": _TEXT},
            {"user": _TEXT, "query": _TEXT, "connector": _TEXT, "message": _TEXT, "connectors": _list(_TEXT),
             "detail": {**_TEXT, "description": "What was asked for: an action, the names of settings; no values."}},
        ), description="Oldest first."),
    }),
    "Lineage": _object({
        "nodes": _list(_object({
            "id": _TEXT, "kind": _one_of(("connector", "topic", "external", "application", "unknown")), "name": _TEXT,
            "place": {**_TEXT_OR_NULL, "description": "A topic's cluster, null: the workers'; a table's server; a sub-topology"},
            "state": {**_TEXT_OR_NULL, "description": "A connector's, FAILED if any of its tasks has failed; an application's."},
            "schemas": _list(_object({
                "part": _one_of(("key", "value")), "id": _INT, "type": _TEXT, "subject": _TEXT, "version": _INT_OR_NULL,
                "fields": _list(_object({"name": _TEXT, "type": _TEXT})),
            }), description="Of a topic: those that tasks have used last, from a registry."),
        })),
        "edges": _list(_object({
            "source": _TEXT, "target": _TEXT,
            "since_ms": {**_INT_OR_NULL, "description": "When the topic was first seen in use, in ms since the epoch."},
        })),
        "columns": _list(_object({
            "connector": _TEXT,
            "column": {**_TEXT, "description": "Of the records that it writes, like value.city; *: whether there is a record."},
            "sources": _list(_object({
                "column": {**_TEXT, "description": "Of the records that it reads."},
                "transformation": _one_of(("IDENTITY", "TRANSFORMATION", "MASKED", "CONDITION", "FILTER")),
            }), description="None: it is a constant."),
        }), description="Of connectors with transforms, if asked for."),
        "not_reached": _list(_TEXT, description="Workers that did not answer: what only they know is missing."),
    }),
    "Drift": _object({
        "connector": _TEXT,
        "topics": _list(_object({
            "topic": _TEXT, "group": {**_TEXT_OR_NULL, "description": "The rule that is for it; null: none."},
            "partitions": {**_INT_OR_NULL, "description": "null: it does not exist."}, "replication_factor": _INT_OR_NULL,
            "settings": _map(_TEXT_OR_NULL, description="Its own; what the broker's defaults are is left out."),
        })),
        "drift": _list(_object({
            "topic": _TEXT, "group": _TEXT, "what": _TEXT, "wanted": _TEXT,
            "actual": {**_TEXT_OR_NULL, "description": "null: it does not exist."},
        }), description="Every difference from the rule that a topic was, or would be, created by."),
    }),
    "Worker": _WORKER,
    "StreamsReport": {**_STREAMS_REPORT, "additionalProperties": True, "description": "What `headrace.report.url` sends."},
    "StreamsCommandRequest": _object(
        {"command": _STREAMS_COMMAND["command"]}, {name: _STREAMS_COMMAND[name] for name in ("dry_run", "setup_if_incomplete")},
    ),
    "StreamsCommand": _object({
        "id": _TEXT, "application": _TEXT, "instance": _TEXT, **_STREAMS_COMMAND, "user": _TEXT_OR_NULL, "asked_ms": _INT,
        "state": _one_of(("waiting", "sent", "done", "failed", "expired")), "message": _TEXT_OR_NULL,
        "topics": _list(_TEXT, description="Those that have been created, or would be."),
    }),
    "StreamsCommandsDue": _object({"commands": _list(_object({"id": _TEXT, **_STREAMS_COMMAND}))}),
    "StreamsApplications": _object({
        "instances": _list({
            **_STREAMS_REPORT, "properties": {
                "application": _TEXT, "instance": _TEXT, "age_ms": _INT, **_STREAMS_REPORT["properties"],
            },
        }, description="The last reports that this worker has."),
        "commands": _list(ref("StreamsCommand"), description="The last that this worker has been asked for, newest first."),
        "applications": _list(_object({
            "application": _TEXT, "state": _one_of((*STREAMS_STATES, "SILENT")), "lag": _INT_OR_NULL, "records": _INT,
            "init": _one_of(("ready", "missing", "incomplete", "misconfigured", "unknown"), description="KIP-698"),
            "problem": _TEXT_OR_NULL, "setup": _TEXT, "servers": _TEXT, "topology": _TEXT, "internal_topics": _INTERNAL_TOPICS,
            "metrics": _map(_map(_NUMBER)),
            "instances": _list(_object({
                "instance": _TEXT, "state": _TEXT, "active": _BOOLEAN, "paused": _BOOLEAN, "version": _TEXT,
                "error": _TEXT_OR_NULL, "age_ms": _INT,
            })),
            "commands": _list(ref("StreamsCommand"), description="The last ones, newest first."),
        }), description="Of all workers; those in trouble first."),
        "not_reached": _list(_TEXT),
    }),
    "Workers": _object({
        "workers": _list(_object({
            "worker_id": _TEXT,
            "state": _one_of(("answers", "silent", "gone"), description="silent: does not answer; gone: no member."),
            "connectors": _INT, "tasks": _INT, "failed": _INT, "facts": {"anyOf": [_WORKER, {"type": "null"}]},
        })),
        "problem": {**_TEXT_OR_NULL, "description": "Why the members of the group are not known."},
    }),
    "DeadLetterTopics": _object({
        "topics": _list(_object({
            "topic": _TEXT, "cluster": {**_TEXT_OR_NULL, "description": "null: that of the workers."}, "connectors": _list(_TEXT),
            "records": {**_INT_OR_NULL, "description": "Its offsets: letters, and marks of transactions; null: not known."},
            "problem": {**_TEXT_OR_NULL, "description": "Why it could not be asked."},
        })),
    }),
    "DeadLetterPage": _object({
        "topic": _TEXT, "connectors": _list(_TEXT), "records": _INT,
        "reasons": _list(_object({
            "connector": _TEXT_OR_NULL, "stage": _TEXT_OR_NULL, "class": _TEXT_OR_NULL, "exception": _TEXT_OR_NULL,
            "message": _TEXT_OR_NULL, "messages": _INT, "records": _INT, "first_ms": _INT_OR_NULL, "last_ms": _INT_OR_NULL,
        }), description="Why the `counted` newest letters failed, 500 at most; many alike messages are one reason."),
        "counted": _INT, "counted_all": {**_BOOLEAN, "description": "Whether the topic has no others."},
        "letters": _list(_LETTER, description="Newest first."),
        "before": {**_TEXT_OR_NULL, "description": "The parameter `before` of the next page; null: there is none."},
    }),
    "DeadLetterPreview": _object(
        {"letters": _LETTERS}, {"connector": _TEXT_OR_NULL, "config": {"anyOf": [ref("NewConfig"), {"type": "null"}]}},
    ),
    "DeadLetterReplay": _object(
        {"letters": _LETTERS},
        {"connector": _TEXT_OR_NULL, "dry_run": _BOOLEAN,
         "again": {**_BOOLEAN, "description": "Also those that have been replayed already."}},
    ),
    "DeadLetterReplayed": _object({
        "topic": _TEXT, "dry_run": _BOOLEAN,
        "letters": _list(_object({
            "id": _TEXT, "outcome": _one_of(("ready", "replayed", "already-replayed", "dropped", "failed", "refused")),
            "topic": {**_TEXT_OR_NULL, "description": "Where it is written to, or has been."}, "message": _TEXT_OR_NULL,
        })),
    }),
    "Plugins": _list(_VERSION),
    "Definition": _object({
        "name": _TEXT, "type": _TEXT, "required": _BOOLEAN, "default_value": _TEXT_OR_NULL, "importance": _TEXT,
        "documentation": _TEXT, "group": _TEXT_OR_NULL, "width": _TEXT, "display_name": _TEXT, "dependents": _list(_TEXT),
        "order_in_group": _INT,
    }),
    "Definitions": _list(ref("Definition")),
    "Validation": _object({
        "name": _TEXT, "error_count": _INT, "groups": _list(_TEXT),
        "configs": _list(_object({
            "definition": {"anyOf": [ref("Definition"), {"type": "null"}]},
            "value": _object({
                "name": _TEXT, "value": _TEXT_OR_NULL, "recommended_values": _list(_TEXT_OR_NULL), "errors": _list(_TEXT),
                "visible": _BOOLEAN,
            }),
        })),
    }),
    "Logger": _object({"level": _one_of(LEVELS), "last_modified": {**_INT_OR_NULL, "description": "ms since the epoch"}}),
    "Loggers": _map(ref("Logger")),
    "LoggerNames": _list(_TEXT, description="The loggers that have the level now."),
    "NewLevel": _object({"level": _one_of(LEVELS, description="Upper or lower case.")}, additionalProperties=True),
    "PreviewRequest": {
        **_object({"config": ref("NewConfig")}, {
            "records": _list(_object({}, _RECORD), description="The records; each member may be left out."),
            "live": {"type": "integer", "minimum": 1, "description": "Instead: so many of the newest of its topics."},
        }),
        "oneOf": [{"required": ["records"]}, {"required": ["live"]}],
    },
    "TopicsPreviewRequest": _object({"config": ref("NewConfig")}),
    "TopicsPreview": _object({
        "topics": _list(_OBJECT, description="As `destination` of a preview."), "more": _INT, "note": _TEXT_OR_NULL,
    }),
    "Preview": _object({
        "connector": _TEXT_OR_NULL, "class": _TEXT, "type": _KIND,
        "records": _list(_object({
            "input": _OBJECT, "steps": _list(_OBJECT), "outcome": _one_of(("passed", "dropped", "failed")),
            "dropped_by": _TEXT_OR_NULL, "failure": _OBJECT_OR_NULL, "output": _OBJECT_OR_NULL, "destination": _OBJECT_OR_NULL,
        }, {"schemas": _OBJECT}), description="Each record with its steps (docs/preview.md)."),
    }),
}  # fmt: skip
"""Each schema by its name, as in `components/schemas` of the document."""
