"""The dead letter topics of a group of workers: lists them, reads, previews and replays their letters.

Only topics that are configured as the dead letter topic of a connector can be read. A replay writes only records that the
connector's chain would write (sources), or to topics that the connector reads (sinks).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from headrace.config.redaction import concealed
from headrace.connectors.base import Props
from headrace.dead_letters.chains import ReplayAttempt, attempts, group_by_reader
from headrace.dead_letters.letter import Letter, LetterId, topic_of
from headrace.dead_letters.letter_reader import MAX_LETTERS, LetterPage, LetterReader
from headrace.dead_letters.reasons import reasons
from headrace.dead_letters.replays import Marks, Replays
from headrace.errors import BadRequestError, ConnectError, HeadraceError, NotFoundError
from headrace.kafka.admin import shared
from headrace.preview.run import prepare
from headrace.runtime.plan import client_settings
from headrace.runtime.worker_config import WorkerConfig

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Config = Mapping[str, str | None]
Json = dict[str, Any]
_SUMMARY_TIMEOUT_S, _REASONS_TIMEOUT_S, _MAX_CONCURRENT = 2.0, 8.0, 8
_NO_HEADERS = "errors.deadletterqueue.context.headers.enable=false"


@dataclass(frozen=True)
class LetterTopic:
    """A dead letter topic of one cluster, with the connectors that use it."""

    name: str
    configs: Mapping[str, Config]
    """The configurations of the config topic, by name of the connector; the first one's credentials are used."""
    cluster: str | None = None
    """The name of its cluster; None: that of the workers."""


def letter_topics(configs: Mapping[str, Config], cluster_of: Callable[[Config], str | None]) -> list[LetterTopic]:
    """The dead letter topics of connectors, by name. configs: of all connectors; cluster_of: what a connector writes to."""
    connectors: dict[tuple[str, str | None], dict[str, Config]] = {}
    for connector in sorted(configs):
        if topic := topic_of(configs[connector]):
            connectors.setdefault((topic, cluster_of(configs[connector])), {})[connector] = configs[connector]
    return [LetterTopic(key[0], connectors[key], key[1]) for key in sorted(connectors, key=lambda key: (key[0], key[1] or ""))]


def choose(topics: Sequence[LetterTopic], name: str, connector: str | None) -> LetterTopic:
    """The topic of this name; connector: one that uses it and whose credentials are used, needed if several clusters have it.

    Raises NotFoundError, BadRequestError if it is not known which one is meant.
    """
    named = [topic for topic in topics if topic.name == name]
    if not named:
        raise NotFoundError(f"'{name}' is the dead letter topic of no connector (errors.deadletterqueue.topic.name).")
    chosen = [topic for topic in named if connector in topic.configs] or named
    if len(chosen) > 1:
        users = ", ".join(connector for topic in named for connector in topic.configs)
        raise BadRequestError(f"Several clusters have a dead letter topic '{name}'; name the connector: one of {users}.")
    configs = chosen[0].configs
    if connector is None or connector not in configs:
        return chosen[0]
    return replace(chosen[0], configs={connector: configs[connector], **configs})


@dataclass(frozen=True)
class ReplayRequest:
    """A request to replay letters."""

    ids: Sequence[LetterId]
    connector: str | None = None
    """The connector of letters that name none; None: the only one of the topic."""
    dry_run: bool = False
    """Whether nothing is written."""
    again: bool = False
    """Whether to replay letters again that have been replayed."""


class DeadLetterTopic:
    """Reads, previews and replays the letters of one dead letter topic. Every method may raise ConnectError."""

    def __init__(self, topic: LetterTopic, worker: WorkerConfig) -> None:
        self._topic, self._worker = topic, worker
        self._props: dict[str, Props] = {}

    def summary(self) -> Json:
        """The entry of the topic in the list of topics."""
        summary: Json = {"topic": self._topic.name, "cluster": self._topic.cluster, "connectors": sorted(self._topic.configs)}
        summary |= {"records": None, "problem": None}
        try:
            return summary | {"records": sum(end - first for first, end in self._reader(_SUMMARY_TIMEOUT_S).bounds().values())}
        except NotFoundError:
            return summary | {"records": 0}
        except HeadraceError as error:
            return summary | {"problem": str(error)}

    def page(self, count: int, before: str | None) -> Json:
        """A page of letters, newest first, and the reasons of failure of the newest MAX_LETTERS letters of the topic."""
        read = self._reader().page(count, before)
        newest, has_no_others = self._newest(read, before)
        letters = self._marked(read.letters, self._replays().marks())
        return {
            "topic": self._topic.name,
            "connectors": sorted(self._topic.configs),
            "records": read.records,
            "reasons": reasons(newest),
            "counted": len(newest),
            "counted_all": has_no_others,
            "letters": [letter.json() for letter in letters],
            "before": read.before,
        }

    def _newest(self, read: LetterPage, before: str | None) -> tuple[Sequence[Letter], bool]:
        """The newest MAX_LETTERS letters, and whether there are no others; those of the first page if it takes too long."""
        if not before and not read.before:
            return read.letters, True
        try:
            newest = self._reader(_REASONS_TIMEOUT_S).page(MAX_LETTERS, keep=Letter.reason_of)
        except ConnectError:
            return () if before else read.letters, False
        return newest.letters, newest.before is None

    def preview(self, ids: Sequence[LetterId], connector: str | None, config: Config | None, spark: Callable[[], Any]) -> Json:
        """The preview of a chain with these letters (`headrace.preview.run`); nothing is written.

        config: the configuration of the chain, None: that of the connector. Raises BadRequestError.
        """
        letters = self._reader().find(ids)
        if config is None or connector:
            names = sorted({self._name(letter, connector) for letter in letters.values()})
            if len(names) > 1 or (config is not None and names != [connector]):
                of = ", ".join(f"'{name}'" for name in names)
                raise BadRequestError(f"These dead letters are of {of}: a preview is of the letters of one connector.")
            config = self._resolved(names[0]) if config is None else config
        preview: Json = {}
        records: dict[LetterId, Json] = {}
        for reading, batch in group_by_reader(prepare(dict(config), self._worker), letters.items()):
            if reading is None:
                raise BadRequestError(f"Dead letter {batch[0][0]} does not say of which types it is ({_NO_HEADERS}).")
            preview = reading.run(spark(), [letter.original_record(reading.topic) for _, letter in batch])
            records |= zip((letter_id for letter_id, _ in batch), preview["records"], strict=True)
        return preview | {"records": [records[letter_id] for letter_id in letters]}

    def replay(self, request: ReplayRequest, spark: Callable[[], SparkSession]) -> list[Json]:
        """Write the letters to their destinations; returns the result for each, in the order of the request."""
        letters = self._reader().find(request.ids)
        attempts_by_id = self._attempts(letters, request.connector, spark)
        replays, already_replayed = self._replays(), Marks()

        def choose(marks: Marks) -> dict[LetterId, Any]:
            already_replayed.update(
                {} if request.again else {letter_id: marks[letter_id] for letter_id in letters if letter_id in marks}
            )
            return {
                letter_id: attempts_by_id[letter_id].record
                for letter_id in letters
                if letter_id not in already_replayed and attempts_by_id[letter_id].record is not None
            }

        if request.dry_run:
            choose(replays.marks())
        elif any(attempt.record is not None for attempt in attempts_by_id.values()):
            replays.write(choose)
        ids = dict.fromkeys(request.ids)
        return [
            attempts_by_id[letter_id].json(str(letter_id), already_replayed.get(letter_id), dry_run=request.dry_run)
            for letter_id in ids
        ]

    def _attempts(
        self, letters: Mapping[LetterId, Letter], connector: str | None, spark: Callable[[], SparkSession]
    ) -> dict[LetterId, ReplayAttempt]:
        by_connector: dict[str, dict[LetterId, Letter]] = {}
        for letter_id, letter in letters.items():
            by_connector.setdefault(self._name(letter, connector), {})[letter_id] = letter
        attempts_by_id: dict[LetterId, ReplayAttempt] = {}
        for name, batch in by_connector.items():
            prepared = prepare({**self._resolved(name), "name": name}, self._worker)
            attempts_by_id |= attempts(prepared, batch, spark)
        return attempts_by_id

    def _name(self, letter: Letter, connector: str | None) -> str:
        """The connector of a letter: the one that it names, as the chain of another one would write it to a wrong topic.

        connector: if it names none, or one that no longer uses this topic. Raises BadRequestError if it is unknown.
        """
        if letter.connector is not None and letter.connector in self._topic.configs:
            return letter.connector
        name = connector or letter.connector or (next(iter(self._topic.configs)) if len(self._topic.configs) == 1 else None)
        if name is None:
            raise BadRequestError(
                f"Dead letter {letter.id} does not say which connector it is of "
                f"({_NO_HEADERS}); name one of {', '.join(sorted(self._topic.configs))}."
            )
        if name not in self._topic.configs:
            raise BadRequestError(f"Connector '{name}' does not exist, or '{self._topic.name}' is not its dead letter topic.")
        return name

    def _resolved(self, connector: str) -> Props:
        """The configuration with the values of its config providers, which are read once."""
        if connector in self._props:
            return self._props[connector]
        config = {key: value for key, value in self._topic.configs[connector].items() if value is not None}
        with concealed():
            self._props[connector] = self._worker.resolver.resolve(config).props
        return self._props[connector]

    def _client(self, kind: str) -> Props:
        config = self._resolved(next(iter(self._topic.configs)))
        return client_settings(f"headrace-dead-letters-{kind}", kind, config, self._worker)

    def _consumer(self) -> Props:
        """Settings of a consumer of the cluster that dead letters are written to: the one of the producer."""
        return {**self._client("consumer"), "bootstrap.servers": self._client("producer")["bootstrap.servers"]}

    def _reader(self, timeout_s: float = 20.0) -> LetterReader:
        return LetterReader(self._topic.name, self._consumer(), shared(self._client("admin")), timeout_s)

    def _replays(self) -> Replays:
        return Replays(self._topic.name, self._client("producer"), self._consumer(), shared(self._client("admin")))

    def _marked(self, letters: Iterable[Letter], marks: Marks) -> list[Letter]:
        return [replace(letter, replay=marks.get(letter.id)) for letter in letters]


def summaries(topics: Collection[LetterTopic], worker: WorkerConfig) -> list[Json]:
    """The list of topics; several are read concurrently, because their clusters may be unreachable."""
    with ThreadPoolExecutor(_MAX_CONCURRENT, "dead-letters") as threads:
        return list(threads.map(lambda topic: DeadLetterTopic(topic, worker).summary(), topics))
