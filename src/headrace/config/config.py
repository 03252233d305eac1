"""A configuration as an object: typed attributes, declared once (Kafka's `AbstractConfig`)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from headrace.config.definition import ConfigDef
from headrace.config.option import Option, OptionAttribute
from headrace.config.prefixes import under


class Config:
    """Base of configurations: declare options as attributes, build from texts, read typed values.

        class WorkerConfig(Config):
            group_id: str = option("group.id", Type.STRING, doc="…", importance=Importance.HIGH)

        WorkerConfig({"group.id": "g"}).group_id == "g"

    A subclass inherits the options of its bases; one declared again under the same attribute or name replaces the
    inherited one. `values` holds every option by name, `originals` what was given, with the keys that no option knows.
    """

    def __init__(self, props: Mapping[str, Any]) -> None:
        """Read `props`. Raises ConfigError with Kafka's sentence for the first problem."""
        self.originals: dict[str, Any] = dict(props)
        self.values: dict[str, Any] = self.definition().parse(props)
        self.check()

    def check(self) -> None:
        """Check rules that need more than one option; raises ConfigError. For subclasses."""

    @classmethod
    def definition(cls) -> ConfigDef:
        """The options of this class and its bases, in order of declaration; treat it as read-only."""
        return _definition(cls)

    def __getitem__(self, name: str) -> Any:
        """The value of an option by its Kafka name; KeyError if there is no such option."""
        return self.values[name]

    def originals_with_prefix(self, prefix: str) -> dict[str, Any]:
        """The given settings whose key begins with `prefix` (and is longer), without the prefix."""
        return under(self.originals, prefix)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.values})"


@cache
def _definition(cls: type[Config]) -> ConfigDef:
    attributes: dict[str, Option] = {}
    for base in reversed(cls.__mro__):
        attributes.update({k: v.option for k, v in vars(base).items() if isinstance(v, OptionAttribute)})
    by_name = {option.name: option for option in attributes.values()}
    return ConfigDef(by_name.values())
