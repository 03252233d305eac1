"""Previews: the results of a configuration's chain for given or live records, as JSON. Nothing is deployed, written or committed.

    {"connector": <name or null>, "class": <connector.class>, "type": "source" | "sink",
     "records": [
       {"input": {"topic", "partition", "offset", "timestamp", "key", "value", "headers"},      the notation of `records`
        "steps": [                        up to the one where the record was dropped or failed
          {"step": "input",               after the converters, or what the source gives
           "applied": true, "dropped": false, "failed": false,
           "record": {"topic", "partition", "timestamp", "key": PART, "value": PART, "headers": [[name, bytes], …]}},
          {"step": "transform:<alias>",
           "type": <class>,
           "predicate": null | {"alias", "negate": bool, "held": bool},
           "applied": bool,               false: the predicate (or its negation) kept the transform from the record
           "dropped": bool, "failed": bool,
           "record": … | null}],          null where the record was dropped or failed
        "outcome": "passed" | "dropped" | "failed",
        "dropped_by": null | <alias>,
        "failure": null | {"step", "class", "message", "cause", "then": <what becomes of the record and the task>},
        "output": null | {"topic", "partition", "timestamp", "key", "value", "headers"},        as it is written, if it passed
        "schemas": {"key" | "value": {      left out where no converter has a schema registry
         "read", "written": null | {"id", "subject", "version"}}},      id null: it would be registered
       "destination": null | {           of a source's record that passed
          "topic",
          "exists": true | false | null,  null: the destination cluster was not queried, or did not answer
          "partitions": null | <count of the topic that exists>,
          "create": null | {"group", "partitions", "replication.factor", "configs": {…}},       -1: the broker's default
          "note": null | <sentence>}}]}

PART is `{"type", "json", "schema"}`: the kind of the value (null, boolean, int8 … int64, float32, float64, string, bytes,
decimal, date, list, map, struct, huge: an integer beyond 64 bits), its text as JSON (bytes in base64, decimals as digits, dates
as text), and its schema as JsonConverter writes it, null for schemaless data. `step` of a failure is `input.key`, `input.value`,
`input.headers`, `transform:<alias>` (the transform or its predicate), `output.headers`, `output.key` or `output.value`.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headrace.config.redaction import concealed, redacted
from headrace.connect_config import validation
from headrace.errors import BadRequestError, ConnectError, HeadraceError
from headrace.kafka.admin import Admin
from headrace.preview.destination import ExistingTopics, destination, existing_topics
from headrace.preview.live import last_records
from headrace.preview.origin import PreviewPlan, plan
from headrace.preview.records import RawRecord
from headrace.preview.trace import traces
from headrace.registry.request_wait import WaitLimit, limit_wait
from headrace.runtime.plan import client_settings
from headrace.runtime.tolerance import Tolerance
from headrace.runtime.worker_config import WorkerConfig
from headrace.spark import failure

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Config = dict[str, Any]
_NAME = "preview"
_REGISTRY_TIMEOUT_S = 10.0  # time limit of each request to a schema registry: a user waits for the page


@dataclass(frozen=True)
class Preview:
    """A validated configuration, with the plan of its chain."""

    config: Config
    connector: type[Any]
    plan: PreviewPlan
    worker: WorkerConfig

    @property
    def topic(self) -> str:
        """The topic of given records that name none."""
        return self.plan.origin.default_topic

    def live(self, count: int) -> list[RawRecord]:
        """The last records of the connector's topics. Raises BadRequestError if it does not read from Kafka, ConnectError."""
        topics = self.plan.origin.live
        if topics is None:
            raise BadRequestError(
                f"{self.connector.plugin_name} does not read from Kafka: give records instead of asking for live ones."
            )
        return last_records(topics, count)

    def run(self, spark: SparkSession, records: Sequence[RawRecord], describe_topics: bool = True) -> dict[str, Any]:
        """The preview. describe_topics: whether to describe the destination topics in the cluster. Raises ConnectError."""
        try:
            with limit_wait(WaitLimit(threading.Event(), timeout_s=_REGISTRY_TIMEOUT_S)):
                traced = traces(spark, self.plan, records)
        except Exception as error:
            raise failure.as_error(error, "The preview cannot be evaluated") from error
        finally:
            self.plan.close()
        return {
            "connector": self.config["name"] if self.config["name"] != _NAME else None,
            "class": self.connector.plugin_name,
            "type": str(self.connector.plugin_kind),
            "records": redacted(self._records(records, traced, describe_topics)),
        }

    def _records(self, records: Sequence[RawRecord], traced: Sequence[Config], describe_topics: bool) -> list[Config]:
        topics = [] if self.plan.sink else [trace["output"]["topic"] for trace in traced if trace["output"]]
        existing = existing_topics(topics, self.admin) if describe_topics and topics else {}
        return [self._record(record, trace, existing) for record, trace in zip(records, traced, strict=True)]

    def _record(self, record: RawRecord, trace: Config, existing: ExistingTopics) -> Config:
        record_destination = None
        if trace["output"] and not self.plan.sink:
            record_destination = destination(trace["output"]["topic"], self.plan.creation, existing)
        if trace["failure"]:
            trace = trace | {"failure": trace["failure"] | {"then": _consequence(self.plan.tolerance)}}
        return {"input": record.json(), **trace, "destination": record_destination}

    def admin(self) -> Admin:
        """An admin client of the cluster that a source writes to."""
        return Admin(client_settings("headrace-preview", "admin", self.config, self.worker))


def prepare(config: Config, worker: WorkerConfig) -> Preview:
    """Validate a configuration; its `name` is optional. Raises BadRequestError with all errors."""
    named = {**config, "name": config.get("name") or _NAME}
    if config.get(validation.CLASS) is None:
        validation.connector_class(config)  # raises
    with concealed():
        return _prepare({**worker.resolver.resolve(named).props, "name": named["name"]}, named, worker)


def _prepare(resolved: Config, named: Config, worker: WorkerConfig) -> Preview:
    connector = validation.connector_class(resolved)
    validation.check(named, worker)
    try:
        return Preview(resolved, connector, plan(connector, resolved, worker), worker)
    except (BadRequestError, ConnectError) as error:
        raise BadRequestError(f"A task of the connector could not start: {error.message}") from error
    except HeadraceError as error:
        raise BadRequestError(error.message) from error


def _consequence(tolerance: Tolerance) -> str:
    if not tolerance.all:
        return "the task fails (errors.tolerance is none)"
    if tolerance.dead_letters:
        return f"the record goes to the dead letter topic '{tolerance.dead_letters.topic}'"
    return "the record is left out (errors.tolerance is all)"
