"""The common base of adapters of plugins written in Java."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, ClassVar

import structlog

from headrace.config import ConfigDef
from headrace.config.answered import AnsweredDefinition
from headrace.config.secrets import Secrets
from headrace.spark.connect_host import ConnectHost, PluginError, PluginHost, hiding

log = structlog.get_logger(__name__)

_Measured = tuple[str, str, float, Mapping[str, str]]  # as tasks give it to the registry of metrics
_ANSWER_MS = 60_000
"""Time-out of a class, which may query its database. Kafka Connect's own REST limit is 90 s."""


def plugin_metrics(host: PluginHost, connector: str, tasks: Collection[str | None]) -> list[_Measured]:
    """The own metrics of a connector's plugins (KIP-877), with the tag of one of these tasks; None: without a task.

    Empty if the host does not answer: metrics are read at any time, also while the session ends.
    """
    try:
        metrics = host.metrics()
    except Exception as error:
        log.debug("plugin.metrics.unknown", cause=str(error))
        return []
    connector_metrics = [m for m in metrics if m["tags"]["connector"] == connector and m["tags"].get("task") in tasks]
    return [("plugins", m["name"], m["value"], m["tags"]) for m in connector_metrics]


class JavaPlugin:
    """Adapter of a Java plugin class: its options and its validation."""

    plugin_name: ClassVar[str]
    location: ClassVar[str]
    host: ClassVar[ConnectHost]

    @classmethod
    def of_class(cls, name: str, attributes: Mapping[str, Any]) -> type[Any]:
        """The adapter of one Java class: its simple name, and the attributes of a plugin."""
        return type(name, (cls,), dict(attributes))

    @classmethod
    def ask(cls, method: str, **request: Any) -> Any:
        """The response of a new instance of the class. Raises ConnectError for its exception, or after a time-out."""
        return cls.host.ask(method, **{"class": cls.plugin_name}, location=cls.location, limit=_ANSWER_MS, **request)

    @classmethod
    def ask_about(cls, method: str, props: Mapping[str, Any], **request: Any) -> Any:
        """The response about a configuration. Raises ConnectError as `ask`, without the secrets of the configuration."""
        with hiding(cls.passwords(props)):
            return cls.ask(method, props=dict(props), **request)

    @classmethod
    def definition(cls) -> ConfigDef:
        """The options of the class, which checks them itself."""
        return AnsweredDefinition(cls.ask("definitions"), cls._check)

    @classmethod
    def passwords(cls, props: Mapping[str, Any]) -> list[str]:
        """The values of a configuration that must not be shown, also of settings that the class does not define.

        Of a class that does not say its options they are known by name: Kafka Connect runs a converter without asking for them.
        """
        try:
            options = list(cls.definition().options.values())
        except PluginError as error:
            log.warning("plugin.options.unknown", plugin=cls.plugin_name, cause=f"{error.java_class}: {error.message}")
            options = []
        secrets = Secrets({"name": option.name, "type": option.type} for option in options)
        return [str(value) for name, value in props.items() if value and secrets.hides(name)]

    @classmethod
    def _check(cls, props: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        return cls.ask_about("validate", props)["values"]
