"""`/headrace/dead-letters`: records that failed in a chain, looked at, tried again, and replayed once (of headrace)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from starlette.responses import Response

from headrace.cluster.herder import Herder
from headrace.config.redaction import redacted
from headrace.connect_config.cluster_names import ClusterNames, written_to
from headrace.dead_letters.letter import LetterId
from headrace.dead_letters.letter_reader import MAX_LETTERS
from headrace.dead_letters.topics import DeadLetterTopic, LetterTopic, ReplayRequest, choose, letter_topics, summaries
from headrace.errors import BadRequestError, ConnectError, NotFoundError
from headrace.rest import body, responses
from headrace.rest.resource import OwnJsonBody, Resource, whole_parameter
from headrace.runtime.worker_config import WorkerConfig
from headrace.spark.session import session

_DEFAULT_COUNT = 50


def resource(worker: WorkerConfig) -> Resource:
    """The resource of a worker with these settings."""
    resource = Resource("dead letters")
    spark = partial(session, worker.spark_conf())

    @resource.get("/headrace/dead-letters", gives={200: "DeadLetterTopics"})
    def topics(herder: Herder) -> Response:
        """The dead letter topics of all connectors, with how many records each has: letters, and marks of transactions."""
        return responses.ok({"topics": redacted(summaries(_topics(herder, worker), worker))})

    @resource.get("/headrace/dead-letters/{topic}", gives={200: "DeadLetterPage"}, errors=[400, 404])
    def show(herder: Herder, topic: str, count: str = str(_DEFAULT_COUNT), before: str = "", connector: str = "") -> Response:
        """The newest `count` letters of a topic, with why they failed.

        `before`: those before a place that an answer named; `connector`: one that uses the topic, needed if several clusters
        have a dead letter topic of this name.
        """
        letters = whole_parameter("count", count, 1, MAX_LETTERS)
        return responses.ok(redacted(_letters(herder, topic, connector).page(letters, before or None)))

    @resource.post("/headrace/dead-letters/{topic}/preview", takes="DeadLetterPreview", gives={200: "Preview"}, errors=[400, 404])
    def preview(herder: Herder, topic: str, entity: OwnJsonBody) -> Response:
        """What a chain makes of letters, step by step: that of `config`, or of the connector as it runs; nothing is written."""
        fields = _DeadLettersRequest.of(entity, "config")
        return responses.ok(_letters(herder, topic, fields.connector).preview(fields.ids, fields.connector, fields.config, spark))

    @resource.post(
        "/headrace/dead-letters/{topic}/replay",
        takes="DeadLetterReplay",
        gives={200: "DeadLetterReplayed"},
        errors=[400, 404, 409],
    )
    def replay(herder: Herder, topic: str, entity: OwnJsonBody) -> Response:
        """Write letters where they belong, each once: a sink's to the topic that it is from, a source's through its chain."""
        fields = _DeadLettersRequest.of(entity, "dry_run", "again")
        request = ReplayRequest(fields.ids, fields.connector, fields.dry_run, fields.again)
        replayed = _letters(herder, topic, fields.connector).replay(request, spark)
        return responses.ok(redacted({"topic": topic, "dry_run": request.dry_run, "letters": replayed}))

    def _letters(herder: Herder, topic: str, connector: str | None) -> DeadLetterTopic:
        return DeadLetterTopic(choose(_topics(herder, worker), topic, connector), worker)

    return resource


def _topics(herder: Herder, worker: WorkerConfig) -> list[LetterTopic]:
    configs = {}
    for name in herder.connectors():
        try:
            configs[name] = herder.info(name).config
        except NotFoundError:  # deleted meanwhile
            continue
    servers = [servers for config in configs.values() if (servers := _servers(config))]
    clusters = ClusterNames(",".join(worker.bootstrap_servers), servers)
    return letter_topics(configs, lambda config: clusters.place(_servers(config)))


def _servers(config: Mapping[str, str | None]) -> str | None:
    return written_to("source", config)  # dead letters of sinks are written with the producer's settings, too


@dataclass(frozen=True)
class _DeadLettersRequest:
    """The body of a request."""

    ids: Sequence[LetterId]
    connector: str | None
    config: dict[str, str | None] | None
    dry_run: bool
    again: bool

    @classmethod
    def of(cls, entity: body.Tree, *names: str) -> _DeadLettersRequest:
        """names: what may be asked for beside the letters and their connector. Raises BadRequestError."""
        try:
            fields = body.mapping(entity, "the request", ("letters", "connector", *names)) or {}
            ids = body.items(fields.get("letters"), '"letters"') or []
            connector = body.text(fields.get("connector"), '"connector"')
            config = body.texts(fields.get("config"), '"config"')
        except ConnectError as error:
            raise BadRequestError(error.message) from None
        if not ids:
            raise BadRequestError('"letters" has to be a list of "<partition>:<offset>", with at least one.')
        return cls(
            [LetterId.parse(letter_id) for letter_id in ids], connector, config, _flag(fields, "dry_run"), _flag(fields, "again")
        )


def _flag(fields: dict[str, body.Tree], name: str) -> bool:
    value = fields.get(name)
    if value is None or type(value) is bool:
        return bool(value)
    raise BadRequestError(f'"{name}" is {value!r}; it has to be true or false.')
