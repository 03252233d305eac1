"""A plugin written in Java, as headrace asks it: what the adapters of all kinds have in common."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, ClassVar

import structlog

from headrace.config import ConfigDef, Type
from headrace.config.answered import AnsweredDefinition
from headrace.spark.connect_host import ConnectHost, PluginHost

log = structlog.get_logger(__name__)

_Measured = tuple[str, str, float, Mapping[str, str]]  # as tasks give it to the registry of metrics
_ANSWER_MS = 60_000
"""How long a class may take for an answer: some ask their database. Kafka Connect's own REST limit is 90 s."""


def plugin_metrics(host: PluginHost, connector: str, tasks: Collection[str | None]) -> list[_Measured]:
    """What plugins of a connector measure themselves (KIP-877), those with the tag of one of these tasks; None: with none.

    A host that does not answer leaves out what it has: metrics are read at any time, also while the session ends.
    """
    try:
        metrics = host.metrics()
    except Exception as error:
        log.debug("plugin.metrics.unknown", cause=str(error))
        return []
    connector_metrics = [m for m in metrics if m["tags"]["connector"] == connector and m["tags"].get("task") in tasks]
    return [("plugins", m["name"], m["value"], m["tags"]) for m in connector_metrics]


class JavaPlugin:
    """What a Java class of any kind is asked: its options, and what it says about a configuration."""

    plugin_name: ClassVar[str]
    location: ClassVar[str]
    host: ClassVar[ConnectHost]

    @classmethod
    def of_class(cls, name: str, attributes: Mapping[str, Any]) -> type[Any]:
        """The adapter of one Java class: its simple name, and the attributes of a plugin."""
        return type(name, (cls,), dict(attributes))

    @classmethod
    def ask(cls, method: str, **request: Any) -> Any:
        """The answer of a new instance of the class. Raises ConnectError for what it throws, or if it takes too long."""
        return cls.host.ask(method, **{"class": cls.plugin_name}, location=cls.location, limit=_ANSWER_MS, **request)

    @classmethod
    def definition(cls) -> ConfigDef:
        """The options of the class, which checks them itself."""
        return AnsweredDefinition(cls.ask("definitions"), cls._check)

    @classmethod
    def passwords(cls, props: Mapping[str, str]) -> list[str]:
        """The values of a configuration that must not be shown."""
        secret = [option.name for option in cls.definition().options.values() if option.type == Type.PASSWORD]
        return [str(value) for name in secret if (value := props.get(name))]

    @classmethod
    def _check(cls, props: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        return cls.ask("validate", props=dict(props))["values"]
