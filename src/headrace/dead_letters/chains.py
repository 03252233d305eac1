"""What a replay would write of each letter: a sink's record as it was read, a source's as its chain makes it now."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headrace.connectors.file_stream.source import FileStreamSourceConnector
from headrace.connectors.kafka_source.connector import KafkaSourceConnector
from headrace.connectors.mirror.source_connector import MirrorSourceConnector
from headrace.dead_letters.letter import Letter, LetterId, Replay
from headrace.errors import BadRequestError
from headrace.preview.records import GivenRecord, as_bytes
from headrace.preview.run import Preview
from headrace.preview.trace import traces
from headrace.runtime.plan import client_settings
from headrace.spark import failure

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_REPLAYABLE = (KafkaSourceConnector, MirrorSourceConnector, FileStreamSourceConnector)
"""The sources whose records are bytes or lines, so that they can be read again from a letter."""


@dataclass(frozen=True)
class Attempt:
    """What a replay of one letter comes to."""

    record: GivenRecord | None
    """What is written; None: nothing."""
    outcome: str = "ready"
    """Of what is not written: dropped, failed or refused."""
    message: str | None = None

    def json(self, letter_id: str, done: Replay | None, *, dry_run: bool) -> dict[str, Any]:
        """As the REST API tells it. done: that it had been replayed before."""
        outcome, message = self.outcome, self.message
        topic = self.record.topic if self.record else None
        if done is not None:
            outcome, topic, message = "already-replayed", done.destination, f"It was replayed at {done.time}."
        elif self.record is not None and not dry_run:
            outcome = "replayed"
        return {"id": letter_id, "outcome": outcome, "topic": topic, "message": message}


def attempts(prepared: Preview, letters: Mapping[LetterId, Letter], spark: Callable[[], SparkSession]) -> dict[LetterId, Attempt]:
    """What becomes of letters of one connector. Raises BadRequestError where its letters cannot be replayed, ConnectError."""
    if prepared.plan.sink:
        _same_cluster(prepared)
        return {letter_id: _back(prepared, letter) for letter_id, letter in letters.items()}
    if not issubclass(prepared.connector, _REPLAYABLE):
        raise BadRequestError(
            f"Dead letters of {prepared.connector.plugin_name} cannot be replayed: they are not as its source gives its records."
        )
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
