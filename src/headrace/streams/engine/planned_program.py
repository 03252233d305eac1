"""The program of a task, planned by Spark: once for all batches, unless Spark fixes the present time when it plans."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from headrace.streams.engine import dead_letters, offset_metadata
from headrace.streams.engine.context import Context, StateManager
from headrace.streams.engine.flows import Flow, Records
from headrace.streams.engine.operators import tables
from headrace.streams.engine.program import Program
from headrace.streams.engine.runtime import Output, RecordFailedError
from headrace.streams.engine.source import RAW, SourceReader
from headrace.streams.nodes import SourceNode

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class PlannedProgram:
    """The plan of a sub-topology's nodes, and the jobs that run it."""

    def __init__(self, program: Program, source_reader: SourceReader, state: StateManager) -> None:
        """Plans nothing yet: that needs the formats of internal topics, which the plans of other sub-topologies determine."""
        self.program, self.source_reader = program, source_reader
        self.context = Context(state)
        """The plan; empty before `prepare`."""
        self._state = state
        self._job: Any = None
        self._dead_letter_job: Any = None

    def has_known_inputs(self) -> bool:
        """Whether the formats of all topics that are read are known, as `prepare` needs it."""
        return all(map(self.source_reader.is_known, self.program.sources))

    def infer_formats(self) -> bool:
        """Plan the nodes as far as the formats of internal topics are known; whether that determines more formats."""
        count_before, context = len(self.source_reader.topics.internal_formats), self._context()
        self.program.infer_formats(context, self._inputs(context, self.source_reader.is_known), self.source_reader.topics)
        return len(self.source_reader.topics.internal_formats) > count_before

    def prepare(self) -> None:
        """Plan the nodes without records: creates the stores, and finds what Spark refuses. Raises StreamsError."""
        self.context, self._job, self._dead_letter_job = self._planned(), None, None
        offset_metadata.require_fits(self.program.number, self.context)

    def job(self) -> Any:
        """The job of a batch: planned once, unless it has functions of the present time, which planning fixes."""
        if self._job is None or self._state.runtime.volatile:
            if self._state.runtime.volatile:  # `prepare` may have been long ago, before a restore
                self.context = self._planned()
            self._job = self._state.runtime.program(self.context.outputs)
        return self._job

    def dead_letter_job(self, failure: RecordFailedError, kept: Mapping[str, SourceNode]) -> Any:
        """The job of a batch of one record that has failed: writes it to the dead letter topic, if there is one.

        kept: by store whose changelog is the topic of a source, the source; a restore puts the record there, and so does this.
        """
        runtime, to = self._state.runtime, self.source_reader.dead_letter_topic
        runtime.set_dead_letter_cause(failure)
        if self._dead_letter_job is None or runtime.volatile:
            inputs = {source.name: runtime.input(source.name, RAW, "partition") for source in self.program.sources}
            frames = [] if to is None else [dead_letters.failed(raw, to, runtime.id) for raw in inputs.values()]
            context = Context(self._state)
            for store, source in kept.items():
                records = self.source_reader.flow(source, inputs[source.name], partial(self._skip, context))
                assert isinstance(records, Records)
                tables.source(context, source.name, store, True, records)
            self._dead_letter_job = runtime.program([*(Output("sink", "", None, frame) for frame in frames), *context.outputs])
        return self._dead_letter_job

    def is_punctuation_due(self) -> bool:
        """Whether a batch without records has to run, because a punctuation of a processor is due."""
        nodes = self.context.processors
        return bool(nodes) and self._state.runtime.is_punctuation_due(nodes)

    def _context(self) -> Context:
        return Context(self._state, topics=tuple(self.source_reader.numbers))

    def _planned(self) -> Context:
        context = self._context()
        self.program.run(context, self._inputs(context, lambda _: True), self.source_reader.topics)
        return context

    def _inputs(self, context: Context, select: Callable[[SourceNode], bool]) -> dict[str, Flow]:
        """The flows of the sources, for every batch."""
        inputs: dict[str, Flow] = {}
        for source in self.program.sources:
            if select(source):
                raw = self._state.runtime.input(source.name, RAW, "partition")
                inputs[source.name] = self.source_reader.flow(source, raw, partial(self._skip, context))
        return inputs

    def _skip(self, context: Context, records: DataFrame, why: str) -> None:
        context.skip(records, why)
        if not why and self.source_reader.dead_letter_topic is not None:
            context.write([dead_letters.unreadable(records, self.source_reader.dead_letter_topic)])
