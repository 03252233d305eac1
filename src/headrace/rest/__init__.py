"""The REST interface of a worker: that of Kafka Connect 4.3, over a herder."""

from headrace.rest.app import create_admin_app, create_app
from headrace.rest.server import RestServer

__all__ = ["RestServer", "create_admin_app", "create_app"]
