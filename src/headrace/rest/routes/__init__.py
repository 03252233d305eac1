"""The resources, one module each."""

from headrace.rest.routes import (
    bulk,
    config,
    connectors,
    drift,
    events,
    health,
    internal,
    lag,
    offsets,
    plugins,
    restart,
    root,
    state,
    status,
    tasks,
    topics,
)

MAIN = [
    root.resource,
    health.resource,
    connectors.resource,
    config.resource,
    status.resource,
    tasks.resource,
    restart.resource,
    state.resource,
    topics.resource,
    offsets.resource,
    lag.resource,
    drift.resource,
    bulk.resource,
    events.resource,
    plugins.resource,
    internal.resource,
]
