"""The REST interface of a worker, as a FastAPI app over a herder."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from headrace import __version__
from headrace.cluster.herder import Herder
from headrace.errors import HeadraceError
from headrace.rest import logs, openapi, page, responses
from headrace.rest.access import access
from headrace.rest.audit import Audit
from headrace.rest.authentication import Authentication
from headrace.rest.cluster_figures import ClusterFigures
from headrace.rest.forwarding import WorkerClient
from headrace.rest.headers import ConfiguredHeaders, CrossOrigin, parse_rules
from headrace.rest.jaxrs import JaxRs
from headrace.rest.overview import Overview
from headrace.rest.request_limits import RequestLimits
from headrace.rest.resource import REQUEST_TIMEOUT_S, Resource
from headrace.rest.routes import MAIN, dead_letters, lineage, loggers, metrics, overview, own_status, preview, streams, workers
from headrace.rest.routes import logs as connector_logs
from headrace.rest.routes import schemas as connector_schemas
from headrace.rest.same_origin import SameOrigin
from headrace.rest.streams_reports import GroupReports, StreamsReports
from headrace.runtime.worker_config import WorkerConfig


def create_app(
    herder: Herder,
    worker_config: WorkerConfig,
    worker_client: WorkerClient | None = None,
    limit_s: float = REQUEST_TIMEOUT_S,
    reported: StreamsReports | None = None,
) -> FastAPI:
    """Return the app of the main listeners; it has the admin resources too unless `admin.listeners` is set.

    others: the other workers, for requests that are for them; limit_s: seconds that the herder may take for one request;
    reported: takes what streams applications report. Raises ConfigError for bad `response.http.headers.config`.
    """
    reported = reported or StreamsReports()
    admin = _admin(reported) if worker_config.admin_listeners is None else []
    worker_client = worker_client or WorkerClient(worker_config.rest_scheme())
    figures = ClusterFigures(worker_client)
    snapshots, reports = Overview(figures), GroupReports(reported, worker_client)
    own_routes = [
        preview.resource(worker_config),
        dead_letters.resource(worker_config),
        connector_logs.resource(worker_client),
        connector_schemas.resource(worker_client),
        overview.resource(snapshots, worker_client),
        own_status.resource(figures),
        workers.resource(worker_client),
        streams.resource(reports),
        lineage.resource(reports, worker_client, ",".join(worker_config.bootstrap_servers)),
    ]
    app = _app(herder, worker_config, [*MAIN, *own_routes, *admin], worker_client, limit_s)
    if worker_config.rest_page_enable:
        page.mount(app, herder, worker_config, snapshots)
    herder.on_log_level(loggers.apply)
    return app


def create_admin_app(
    herder: Herder,
    worker_config: WorkerConfig,
    worker_client: WorkerClient | None = None,
    limit_s: float = REQUEST_TIMEOUT_S,
    reported: StreamsReports | None = None,
) -> FastAPI:
    """Return the app of `admin.listeners`: the admin resources alone; `reported` as for `create_app`. Raises ConfigError."""
    return _app(herder, worker_config, _admin(reported or StreamsReports()), worker_client or WorkerClient(), limit_s)


def _admin(reported: StreamsReports) -> list[Resource]:
    return [loggers.resource, metrics.resource(reported)]


def _app(
    herder: Herder, config: WorkerConfig, resources: Sequence[Resource], worker_client: WorkerClient, limit_s: float
) -> FastAPI:
    rules = parse_rules(config.response_headers)
    cross_origin = CrossOrigin.of(config.cors_origins, config.cors_methods)
    allowed = access(config)
    app = FastAPI(
        title="headrace",
        version=__version__,
        description="The REST interface of Kafka Connect.",
        docs_url=None,  # it would load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        middleware=[
            Middleware(ConfiguredHeaders, rules=rules, cross_origin=cross_origin),
            Middleware(RequestLimits),
            Middleware(JaxRs),
            Middleware(Audit, herder=herder),
            *([Middleware(SameOrigin, allowed=cross_origin.allows)] if config.rest_page_enable else []),
            *([Middleware(Authentication, access=allowed)] if allowed else []),
        ],
        exception_handlers=dict.fromkeys((HeadraceError, HTTPException), _failure),
    )
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(ClientDisconnect, _client_disconnected)
    app.state.takes_initial_offsets = config.initial_offsets_enable
    for resource in resources:
        resource.mount(app, herder, worker_client, limit_s)
    openapi.describe(app, resources, secured=allowed is not None)
    logs.APP.debug("REST resources: %s", ", ".join(resource.tag for resource in resources))
    return app


async def _failure(request: Request, problem: Exception) -> Response:
    return responses.failure(request, problem)


async def _invalid(_request: Request, problem: Exception) -> Response:
    return responses.error(400, str(problem))


async def _client_disconnected(_request: Request, _problem: Exception) -> Response:
    return responses.done(400)  # the client has disconnected
