"""Where a connector is packaged: as in Kafka Connect, it uses the transforms, predicates and converters beside it there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headrace import plugins
from headrace.connect_config.engine import in_java
from headrace.connect_config.versions import with_version
from headrace.errors import HeadraceError
from headrace.plugins import Kind


def location_of_connector(props: Mapping[str, Any]) -> str | None:
    """The location on `plugin.path` of the class that `connector.class` names; None if it is not from there, or not known."""
    name = props.get("connector.class")
    if not name:
        return None
    try:
        cls = plugins.find(name, Kind.SOURCE, Kind.SINK, java=in_java(props), again=False)
        return getattr(with_version(cls, props.get("connector.plugin.version")), "location", None)
    except HeadraceError:  # whoever starts it, or checks its configuration, says so
        return None
