"""A connector's configuration as the runtime reads it: parsed once, by the options that are declared for its kind."""

from __future__ import annotations

from collections.abc import Mapping

from headrace.connect_config.common import SinkConnectorConfig, SourceConnectorConfig
from headrace.plugins import Kind

ConnectorSettings = SourceConnectorConfig | SinkConnectorConfig
"""Typed attributes, and with `originals` what only the connector and its plugins know (`transforms.…`, `producer.override.…`)."""


def connector_settings(config: Mapping[str, str], kind: Kind) -> ConnectorSettings:
    """Parse a configuration whose placeholders are resolved. kind: the connector's, a source or a sink.

    Raises ConfigError with Kafka's sentence for the first option that is wrong.
    """
    return SinkConnectorConfig(config) if kind is Kind.SINK else SourceConnectorConfig(config)
