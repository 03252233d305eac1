"""A plugin written in Java, as headrace asks it: what the adapters of all kinds have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from headrace.config import ConfigDef, Type
from headrace.config.answered import AnsweredDefinition
from headrace.spark.connect_host import ConnectHost

_ANSWER_MS = 60_000
"""How long a class may take for an answer: some ask their database. Kafka Connect's own REST limit is 90 s."""


class JavaPlugin:
    """What a Java class of any kind is asked: its options, and what it says about a configuration."""

    plugin_name: ClassVar[str]
    location: ClassVar[str]
    host: ClassVar[ConnectHost]
    props: dict[str, str]
    """Of an instance in a chain: its own settings, prefix taken off, which the class itself reads."""
    owner: Mapping[str, Any] = {}
    """Of an instance in a chain: `name` and `number` of the task, whose metrics its own are among, and its `retry`."""

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
