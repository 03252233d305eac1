"""`/headrace/preview`: what the chain of a configuration makes of records; nothing is deployed (of headrace)."""

from __future__ import annotations

from functools import partial

from starlette.responses import Response

from headrace.cluster.herder import Herder
from headrace.errors import BadRequestError, ConnectError
from headrace.preview.new_topics import planned_topics
from headrace.preview.records import RawRecord, count, from_objects
from headrace.preview.run import Preview, prepare
from headrace.rest import body, responses
from headrace.rest.resource import OwnJsonBody, Resource
from headrace.runtime.worker_config import WorkerConfig
from headrace.spark.session import session

_BODY = '{"config": {…}, "records": [{"topic", "partition", "offset", "timestamp", "key", "value", "headers"}, …] or "live": N}'


def resource(worker: WorkerConfig) -> Resource:
    """The resource of a worker with these settings; it works beside the herder, which does not hear of it."""
    resource = Resource("preview")

    @resource.post("/headrace/preview", takes="PreviewRequest", gives={200: "Preview"}, errors=[400])
    def preview(herder: Herder, entity: OwnJsonBody) -> Response:
        """Each record before and after every transform, where it is dropped or fails and why, and the topic it goes to."""
        fields = _fields(entity)
        prepared = prepare(fields["config"], worker)
        records = _records(prepared, fields)
        return responses.ok(prepared.run(session(worker.spark_conf()), records))

    @resource.post("/headrace/topics/preview", takes="TopicsPreviewRequest", gives={200: "TopicsPreview"}, errors=[400])
    def topics(herder: Herder, entity: OwnJsonBody) -> Response:
        """The topics that a source would write to, by those that it matches now, and with which settings it would create them."""
        try:
            config = body.texts((body.mapping(entity, "the request", ("config",)) or {}).get("config"), '"config"')
        except ConnectError as error:
            raise BadRequestError(error.message) from None
        if config is None:
            raise BadRequestError('Expected a request {"config": {…}}.')
        return responses.ok(planned_topics(prepare(config, worker), partial(session, worker.spark_conf())))

    return resource


def _fields(entity: body.Tree) -> dict[str, body.Tree]:
    """What was sent; what cannot be right is the client's fault here, unlike in Kafka's own resources."""
    try:
        fields = body.mapping(entity, "the request", ("config", "records", "live")) or {}
        config = body.texts(fields.get("config"), '"config"')
        records = body.items(fields.get("records"), '"records"')
    except ConnectError as error:
        raise BadRequestError(error.message) from None
    live = fields.get("live")
    if config is None or (records is None) == (live is None):
        raise BadRequestError(f"Expected a request {_BODY}.")
    return {"config": config, "records": records, "live": live}


def _records(prepared: Preview, fields: dict[str, body.Tree]) -> list[RawRecord]:
    try:
        records_and_live = body.plain([fields["records"], fields["live"]])
    except ConnectError as error:
        raise BadRequestError(error.message) from None
    return (
        from_objects(records_and_live[0], prepared.topic)
        if records_and_live[0] is not None
        else prepared.live(count(records_and_live[1]))
    )
