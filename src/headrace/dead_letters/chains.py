"""What a replay would write of each letter: a sink's record as it was read, a source's as its chain makes it now."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from headrace.connect_config.settings import connector_settings
from headrace.connectors.file_stream.source import FileStreamSourceConnector
from headrace.connectors.java.connector import JavaConnector
from headrace.connectors.kafka_source.connector import KafkaSourceConnector
from headrace.connectors.mirror.source_connector import MirrorSourceConnector
from headrace.connectors.spark_source.connector import SparkSourceConnector
from headrace.converters.typed_column import TypedColumn, TypedHeaders
from headrace.dead_letters.letter import Letter, LetterId, Replay
from headrace.errors import BadRequestError
from headrace.preview.records import GivenRecord, as_bytes
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

_AS_READ = (KafkaSourceConnector, MirrorSourceConnector, FileStreamSourceConnector)
"""The sources whose records are bytes or lines, which a letter has as they were."""


@dataclass(frozen=True)
class Attempt:
    """What a replay of one letter comes to."""

    record: GivenRecord | None
    """What is written; None: nothing."""
    outcome: str = "ready"
    """Of what is not written: dropped, failed or refused."""
    message: str | None = None

    def json(self, letter_id: str, done: Replay | None, *, dry_run: bool) -> dict[str, Any]:
        """The JSON of the REST API. done: that it had been replayed before."""
        outcome, message = self.outcome, self.message
        topic = self.record.topic if self.record else None
        if done is not None:
            outcome, topic, message = "already-replayed", done.destination, f"It was replayed at {done.time}."
        elif self.record is not None and not dry_run:
            outcome = "replayed"
        return {"id": letter_id, "outcome": outcome, "topic": topic, "message": message}


_UNTYPED = Attempt(None, "refused", "It does not say of which types it is (errors.deadletterqueue.context.headers.enable=false).")


def attempts(prepared: Preview, letters: Mapping[LetterId, Letter], spark: Callable[[], SparkSession]) -> dict[LetterId, Attempt]:
    """What becomes of letters of one connector. Raises BadRequestError where its letters cannot be replayed, ConnectError."""
    if prepared.plan.sink:
        _same_cluster(prepared)
        return {letter_id: _back(prepared, letter) for letter_id, letter in letters.items()}
    tried: dict[LetterId, Attempt] = {}
    for reading, some in read_alike(prepared, letters.items()):
        tried |= _through_chain(reading, dict(some), spark) if reading else {letter_id: _UNTYPED for letter_id, _ in some}
    return tried


def read_alike(
    prepared: Preview, letters: Iterable[tuple[LetterId, Letter]]
) -> Iterator[tuple[Preview | None, list[tuple[LetterId, Letter]]]]:
    """The chain of a connector as it reads letters, with those that it reads in this way; None: those do not say of which types
    they are. Raises BadRequestError for a connector whose letters are not what its source gave.
    """
    if prepared.plan.sink or issubclass(prepared.connector, _AS_READ):
        yield prepared, list(letters)
    elif issubclass(prepared.connector, JavaConnector):
        yield _hosted(prepared), list(letters)
    elif issubclass(prepared.connector, SparkSourceConnector):
        by_types: dict[tuple[str | None, str | None], list[tuple[LetterId, Letter]]] = {}
        for letter_id, letter in letters:
            types = letter.context.get(KEY_TYPE), letter.context.get(VALUE_TYPE)
            by_types.setdefault(types, []).append((letter_id, letter))
        for (key, value), some in by_types.items():
            yield _typed(prepared, key, value), some
    else:
        raise BadRequestError(f"{prepared.connector.plugin_name} makes its records itself: there is nothing to replay.")


def _hosted(prepared: Preview) -> Preview:
    """Of a source in Java: its letters are the records as its host handed them over, after the transforms that are in Java."""
    config, worker = prepared.config, prepared.worker
    settings = connector_settings(config, prepared.connector.plugin_kind)
    task = plan_source_task(settings.name, 0, settings, config, worker)  # type: ignore[arg-type]
    hosted, _ = plan_polled(task, config, worker)
    key, value = hosted.source_key_converter or TypedColumn("bytes"), hosted.source_value_converter or TypedColumn("bytes")
    plan = replace(prepared.plan, stages=hosted.stages, reading=Readers(key, value, TypedHeaders()), writing=hosted.converters)
    return replace(prepared, plan=plan)


def _typed(prepared: Preview, key: str | None, value: str | None) -> Preview | None:
    """Of a Spark data source, whose rows have types that only the letters know. A key may have none: it is null."""
    if value is None:
        return None
    try:
        reading = Readers(TypedColumn(type_of(key) if key else "null"), TypedColumn(type_of(value)), TypedHeaders())
    except ValueError as error:
        raise BadRequestError(f"A dead letter cannot be read: {error}.") from None
    return replace(prepared, plan=replace(prepared.plan, reading=reading))


def _through_chain(
    prepared: Preview, letters: Mapping[LetterId, Letter], spark: Callable[[], SparkSession]
) -> dict[LetterId, Attempt]:
    records = [letter.as_read(prepared.topic) for letter in letters.values()]
    try:
        chain_traces = traces(spark(), prepared.plan, records)
    except Exception as error:
        raise failure.as_error(error, "The chain cannot be evaluated") from error
    return {letter_id: _forward(record, trace) for letter_id, record, trace in zip(letters, records, chain_traces, strict=True)}


def _same_cluster(prepared: Preview) -> None:
    """Records can only go back in one transaction with their marks, which are where the dead letters are."""
    servers = {
        client_settings("headrace", kind, prepared.config, prepared.worker)["bootstrap.servers"]
        for kind in ("producer", "consumer")
    }
    if len(servers) > 1:
        raise BadRequestError(
            "The connector reads from another cluster than its dead letters are in (consumer.override.bootstrap.servers, "
            "producer.override.bootstrap.servers); they cannot be replayed from here."
        )


def _back(prepared: Preview, letter: Letter) -> Attempt:
    """The record of a sink, to the topic that it was read from."""
    live = prepared.plan.origin.live
    if letter.topic is None:
        return Attempt(None, "refused", "It does not say which topic it was read from (context.headers.enable=false).")
    if live is None or not live.matches(letter.topic):
        return Attempt(None, "refused", f"The connector does not read '{letter.topic}', which the letter says it is from.")
    return Attempt(letter.record)


def _forward(record: GivenRecord, trace: Mapping[str, Any]) -> Attempt:
    """The record of a source, as its chain makes it now."""
    if trace["outcome"] == "dropped":
        return Attempt(None, "dropped", f"The chain drops it, at transform '{trace['dropped_by']}'.")
    if trace["outcome"] == "failed":
        step, message = trace["failure"]["step"], trace["failure"]["message"]
        return Attempt(None, "failed", f"The chain still fails, at {step}: {message}")
    output = trace["output"]
    headers = tuple((name, as_bytes(value)) for name, value in output["headers"])
    key, value = as_bytes(output["key"]), as_bytes(output["value"])
    return Attempt(GivenRecord(output["topic"], output["partition"], record.offset, output["timestamp"], key, value, headers))
