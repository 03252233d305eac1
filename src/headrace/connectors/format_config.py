"""The common options of SparkSource and SparkSink: those of the data source, and rules between options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from headrace.config import Config
from headrace.config.secrets import without_logins
from headrace.connectors.base import Props
from headrace.errors import ConfigError
from headrace.spark import formats


class FormatConfig(Config):
    """Configuration of a connector of a Spark data source, which `format` names."""

    format: str

    def __init__(self, props: Mapping[str, Any], *, checked: bool = True) -> None:
        """Read `props`; checked: raise ConfigError for the first of `problems` as well."""
        self._checked = checked
        super().__init__(props)

    @property
    def options(self) -> dict[str, str]:
        """The options of the Spark data source."""
        return {name: str(value) for name, value in self.originals_with_prefix("option.").items() if value is not None}

    @property
    def option_names(self) -> set[str]:
        """The names of these options in lower case: Spark ignores their case."""
        return {name.lower() for name in self.originals_with_prefix("option.")}

    def problems(self) -> dict[str, str]:
        """Errors between options that are valid one by one: option → sentence."""
        return {}

    def check(self) -> None:
        """Check what needs more than one option. Raises ConfigError."""
        for name, sentence in self.problems().items() if self._checked else ():
            value = self.values.get(name, self.originals.get(name))
            raise ConfigError.invalid(name, without_logins(value) if isinstance(value, str) else value, sentence)

    @classmethod
    def all_problems(cls, props: Props) -> Mapping[str, Sequence[str]]:
        """Errors that concern more than one option; and of the format, if Spark is running already and can check it."""
        try:
            config = cls(props, checked=False)
        except ConfigError:
            return {}  # reported option by option
        problems = {name: [sentence] for name, sentence in config.problems().items()}
        unknown = formats.missing(config.format)
        return problems if unknown is None else problems | {"format": [unknown]}
