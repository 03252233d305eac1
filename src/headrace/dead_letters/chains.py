"""The records that a replay writes: for a sink the original record, for a source the record after its current chain."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from headrace.connect_config.cluster_names import ClusterNames
from headrace.connect_config.settings import connector_settings
from headrace.connectors.file_stream.source import FileStreamSourceConnector
from headrace.connectors.java.connector import JavaConnector
from headrace.connectors.kafka_source.connector import KafkaSourceConnector
from headrace.connectors.mirror.source_connector import MirrorSourceConnector
from headrace.connectors.spark_source.connector import SparkSourceConnector
from headrace.converters.typed_column import TypedColumn, TypedHeaders
from headrace.dead_letters.letter import Letter, LetterId, Replay
from headrace.errors import BadRequestError
from headrace.preview.records import RawRecord, as_bytes
from headrace.preview.run import Preview
from headrace.preview.trace import traces
from headrace.runtime.hosted import plan_polled
from headrace.runtime.letter_values import type_of
from headrace.runtime.plan import client_settings, plan_source_task
from headrace.runtime.tolerance import KEY_TYPE, VALUE_TYPE
from headrace.spark import failure
from headrace.transforms.chain import Readers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_RAW_SOURCES = (KafkaSourceConnector, MirrorSourceConnector, FileStreamSourceConnector)
"""The sources whose records are bytes or lines, which dead letters have unchanged."""


@dataclass(frozen=True)
class ReplayAttempt:
    """The result of a replay of one letter."""

    record: RawRecord | None
    """The record to write; None: nothing."""
    outcome: str = "ready"
    """ready, or why nothing is written: dropped, failed or refused."""
    message: str | None = None
    """Why nothing is written."""

    def json(self, letter_id: str, previous: Replay | None, *, dry_run: bool) -> dict[str, Any]:
        """The JSON of the REST API. previous: the earlier replay of the letter, if there is one."""
        outcome, message = self.outcome, self.message
        topic = self.record.topic if self.record else None
        if previous is not None:
            outcome, topic, message = "already-replayed", previous.destination, f"It was replayed at {previous.time}."
        elif self.record is not None and not dry_run:
            outcome = "replayed"
        return {"id": letter_id, "outcome": outcome, "topic": topic, "message": message}


_UNTYPED = ReplayAttempt(
    None, "refused", "It does not say of which types it is (errors.deadletterqueue.context.headers.enable=false)."
)


def attempts(
    preview: Preview, letters: Mapping[LetterId, Letter], spark: Callable[[], SparkSession]
) -> dict[LetterId, ReplayAttempt]:
    """The results for letters of one connector. Raises BadRequestError if its letters cannot be replayed, ConnectError."""
    if preview.plan.sink:
        _require_same_cluster(preview)
        return {letter_id: _to_source_topic(preview, letter) for letter_id, letter in letters.items()}
    attempts_by_id: dict[LetterId, ReplayAttempt] = {}
    for reading, batch in group_by_reader(preview, letters.items()):
        attempts_by_id |= (
            _through_chain(reading, dict(batch), spark) if reading else {letter_id: _UNTYPED for letter_id, _ in batch}
        )
    return attempts_by_id


def group_by_reader(
    preview: Preview, letters: Iterable[tuple[LetterId, Letter]]
) -> Iterator[tuple[Preview | None, list[tuple[LetterId, Letter]]]]:
    """Group letters by the chain that can read them; None: the letters do not have the types of their keys and values.

    Raises BadRequestError for a connector whose letters are not records of its source.
    """
    if preview.plan.sink or issubclass(preview.connector, _RAW_SOURCES):
        yield preview, list(letters)
    elif issubclass(preview.connector, JavaConnector):
        yield _preview_of_java_source(preview), list(letters)
    elif issubclass(preview.connector, SparkSourceConnector):
        by_types: dict[tuple[str | None, str | None], list[tuple[LetterId, Letter]]] = {}
        for letter_id, letter in letters:
            types = letter.context.get(KEY_TYPE), letter.context.get(VALUE_TYPE)
            by_types.setdefault(types, []).append((letter_id, letter))
        for (key, value), batch in by_types.items():
            yield _preview_with_types(preview, key, value), batch
    else:
        raise BadRequestError(f"{preview.connector.plugin_name} makes its records itself: there is nothing to replay.")


def _preview_of_java_source(preview: Preview) -> Preview:
    """The preview of a source in Java: its letters are the records before all transforms, as JSON with schemas."""
    config, worker = preview.config, preview.worker
    settings = connector_settings(config, preview.connector.plugin_kind)
    task = plan_source_task(settings.name, 0, settings, config, worker)  # type: ignore[arg-type]
    hosted, _ = plan_polled(replace(task, tolerance=replace(task.tolerance, all=True)), config, worker)  # as it was then
    assert hosted.source_key_converter and hosted.source_value_converter
    reading = Readers(hosted.source_key_converter, hosted.source_value_converter, TypedHeaders())
    plan = replace(preview.plan, stages=hosted.stages, reading=reading, writing=hosted.converters)
    return replace(preview, plan=plan)


def _preview_with_types(preview: Preview, key: str | None, value: str | None) -> Preview | None:
    """The preview of a Spark data source with the types of rows that the letters name. A key without type is null."""
    if value is None:
        return None
    try:
        reading = Readers(TypedColumn(type_of(key) if key else "null"), TypedColumn(type_of(value)), TypedHeaders())
    except ValueError as error:
        raise BadRequestError(f"A dead letter cannot be read: {error}.") from None
    return replace(preview, plan=replace(preview.plan, reading=reading))


def _through_chain(
    preview: Preview, letters: Mapping[LetterId, Letter], spark: Callable[[], SparkSession]
) -> dict[LetterId, ReplayAttempt]:
    records = [letter.original_record(preview.topic) for letter in letters.values()]
    try:
        chain_traces = traces(spark(), preview.plan, records)
    except Exception as error:
        raise failure.as_error(error, "The chain cannot be evaluated") from error
    return {
        letter_id: _to_destination(record, trace) for letter_id, record, trace in zip(letters, records, chain_traces, strict=True)
    }


def _require_same_cluster(preview: Preview) -> None:
    """Raise BadRequestError if the sink reads another cluster: records and marks of replays are written in one transaction."""
    servers = [
        client_settings("headrace", kind, preview.config, preview.worker)["bootstrap.servers"]
        for kind in ("producer", "consumer")
    ]
    clusters = ClusterNames(",".join(preview.worker.bootstrap_servers), servers)
    if len({clusters.place(of) for of in servers}) > 1:
        raise BadRequestError(
            "The connector reads from another cluster than its dead letters are in (consumer.override.bootstrap.servers, "
            "producer.override.bootstrap.servers); they cannot be replayed from here."
        )


def _to_source_topic(preview: Preview, letter: Letter) -> ReplayAttempt:
    """The original record of a sink, for the topic that it was read from."""
    live = preview.plan.origin.live
    if letter.topic is None:
        return ReplayAttempt(None, "refused", "It does not say which topic it was read from (context.headers.enable=false).")
    if live is None or not live.matches(letter.topic):
        return ReplayAttempt(None, "refused", f"The connector does not read '{letter.topic}', which the letter says it is from.")
    return ReplayAttempt(letter.record)


def _to_destination(record: RawRecord, trace: Mapping[str, Any]) -> ReplayAttempt:
    """The record of a source after its current chain, for its destination topic."""
    if trace["outcome"] == "dropped":
        return ReplayAttempt(None, "dropped", f"The chain drops it, at transform '{trace['dropped_by']}'.")
    if trace["outcome"] == "failed":
        step, message = trace["failure"]["step"], trace["failure"]["message"]
        return ReplayAttempt(None, "failed", f"The chain still fails, at {step}: {message}")
    output = trace["output"]
    headers = tuple((name, as_bytes(value)) for name, value in output["headers"])
    key, value = as_bytes(output["key"]), as_bytes(output["value"])
    return ReplayAttempt(RawRecord(output["topic"], output["partition"], record.offset, output["timestamp"], key, value, headers))
