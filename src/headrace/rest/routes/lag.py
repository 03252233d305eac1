"""`/headrace/connectors/{connector}/lag`: how far a connector is behind, by partition (of headrace)."""

from __future__ import annotations

from starlette.responses import Response

from headrace.cluster.herder import Herder
from headrace.rest import responses
from headrace.rest.resource import Resource

resource = Resource("lag")


@resource.get("/headrace/connectors/{connector}/lag", gives={200: "ConnectorLag"}, errors=[400, 404])
def lag(herder: Herder, connector: str, freshness: str = "") -> Response:
    """Records and time that the delivered and stored offset of each source partition is behind; any worker knows.

    Of a sink: records that its consumer group is behind, without times. `freshness=false`: without times for a source either, for
    which records of it are read.
    """
    partitions = herder.lag(connector, ages=freshness.lower() != "false")
    lags = [partition["lag"] for partition in partitions if partition["lag"] is not None]
    ages = [partition["freshness_ms"] for partition in partitions if partition["freshness_ms"] is not None]
    body = {"connector": connector, "lag": sum(lags), "freshness_ms": max(ages, default=None), "partitions": partitions}
    return responses.ok(body)
