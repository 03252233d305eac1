"""`/`: which software answers, on which Kafka cluster."""

from __future__ import annotations

from starlette.responses import Response

from headrace import __version__
from headrace.rest import answers
from headrace.rest.herder import Herder
from headrace.rest.resource import Resource

# The version of Kafka Connect whose interface this is: clients switch features on by it.
CONNECT_VERSION = "4.3.0"

resource = Resource("root", early=True)


@resource.get("/")
def server_info(herder: Herder) -> Response:
    """The version of the interface, of headrace (as `commit`), and the id of the Kafka cluster."""
    body = {"version": CONNECT_VERSION, "commit": f"headrace-{__version__}", "kafka_cluster_id": herder.cluster_id}
    return answers.ok(body)
