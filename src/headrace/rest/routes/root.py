"""`/`: which software answers, on which Kafka cluster."""

from __future__ import annotations

from starlette.responses import Response

from headrace import KAFKA_VERSION, __version__
from headrace.rest import answers
from headrace.rest.herder import Herder
from headrace.rest.resource import Resource

resource = Resource("root", early=True)


@resource.get("/", gives={200: "ServerInfo"})
def server_info(herder: Herder) -> Response:
    """The version of the interface, of headrace (as `commit`), and the id of the Kafka cluster."""
    body = {"version": KAFKA_VERSION, "commit": f"headrace-{__version__}", "kafka_cluster_id": herder.cluster_id}
    return answers.ok(body)
