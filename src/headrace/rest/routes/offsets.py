"""`/connectors/{connector}/offsets`: show, alter, reset (KIP-875)."""

from __future__ import annotations

import json
from typing import Any

from starlette.responses import Response

from headrace.cluster.herder import Herder
from headrace.errors import BadRequestError, ConnectError
from headrace.rest import body, responses
from headrace.rest.resource import JsonBody, Resource
from headrace.values.java_hash import slot_order, value_hash

Json = dict[str, Any]
OffsetChange = tuple[Json | None, Json | None]
"""Partition and offset."""

resource = Resource("offsets")


@resource.get("/connectors/{connector}/offsets", gives={200: "Offsets"}, errors=[404])
def show_offsets(herder: Herder, connector: str) -> Response:
    """The committed offset of each partition of the source (or of each topic partition, for a sink)."""
    return responses.ok({"offsets": herder.offsets(connector)})


@resource.patch("/connectors/{connector}/offsets", takes="NewOffsets", gives={200: "Message"}, errors=[400, 404, 409])
def alter_offsets(herder: Herder, connector: str, entity: JsonBody) -> Response:
    """Set the offsets of a stopped connector; null resets a partition."""
    changes = _changes(entity)
    if not changes:
        raise BadRequestError("Partitions / offsets need to be provided for an alter offsets request")
    return responses.ok({"message": herder.alter_offsets(connector, changes)})


@resource.delete("/connectors/{connector}/offsets", gives={200: "Message"}, errors=[400, 404, 409])
def reset_offsets(herder: Herder, connector: str) -> Response:
    """Forget all offsets of a stopped connector."""
    return responses.ok({"message": herder.reset_offsets(connector)})


def _changes(entity: body.Tree) -> list[OffsetChange]:
    fields = body.mapping(entity, "the request", ("offsets",))
    if fields is None:
        raise ConnectError('The request has no body; expected {"offsets": [{"partition": {…}, "offset": {…}}]}.')
    return offset_changes(fields.get("offsets"), '"offsets"')


def offset_changes(offsets: body.Tree, field: str) -> list[OffsetChange]:
    """The partitions with their offsets in a list of a request; of several for one partition the last. Raises ConnectError.

    They are in the order of Connect's HashMap, which decides which of several wrong entries is reported.
    """
    entries = (_entry(item, field) for item in body.items(offsets, field) or [])
    changes = list({json.dumps(partition, sort_keys=True): (partition, offset) for partition, offset in entries}.values())
    return [changes[i] for i in slot_order([value_hash(partition) for partition, _ in changes])]


def _entry(item: body.Tree, field: str) -> OffsetChange:
    fields = body.mapping(item, f"an entry of {field}", ("partition", "offset"))
    if fields is None:
        raise ConnectError(f'An entry of {field} is null; expected {{"partition": {{…}}, "offset": {{…}}}}.')
    return _object(fields, "partition"), _object(fields, "offset")


def _object(fields: Json, key: str) -> Json | None:
    fields_of = body.mapping(fields.get(key), f'"{key}"')
    return None if fields_of is None else body.plain(fields_of)
