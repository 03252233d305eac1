"""An ordered collection of options that reads and checks configurations: Kafka's `ConfigDef`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import structlog

from headrace.config.markdown import table
from headrace.config.option import ConfigValue, Option
from headrace.config.types import Importance
from headrace.config.validators import ValidList
from headrace.errors import ConfigError

log = structlog.get_logger(__name__)


class ConfigDef:
    """Options in the order of their definition.

    Reads texts into values (`parse`) and reports every problem (`validate`).
    """

    def __init__(self, options: Iterable[Option] = ()) -> None:
        self.options: dict[str, Option] = {}
        for option in options:
            self.define(option)

    @property
    def names(self) -> list[str]:
        """The keys, in order of definition."""
        return list(self.options)

    @property
    def groups(self) -> list[str]:
        """The groups, in order of their first option."""
        return list(dict.fromkeys(o.group for o in self.options.values() if o.group is not None))

    def define(self, option: Option) -> ConfigDef:
        """Add an option; returns self. Raises ConfigError if the name is taken."""
        if option.name in self.options:
            raise ConfigError(f"Configuration {option.name} is defined twice.")
        self.options[option.name] = option
        return self

    def extend(self, other: ConfigDef) -> ConfigDef:
        """Add all options of another definition; returns self. Raises ConfigError if a name is taken."""
        for option in other.options.values():
            self.define(option)
        return self

    def parse(self, props: Mapping[str, Any]) -> dict[str, Any]:
        """Read a configuration; keys without an option are ignored, absent ones get their default.

        Returns key -> value for every option. Raises ConfigError with Kafka's sentence for the first problem.
        """
        undefined = self._undefined_dependents()
        if undefined:
            raise ConfigError("Some configurations in are referred in the dependents, but not defined: " + ",".join(undefined))
        return {name: _parse(option, props) for name, option in self.options.items()}

    def value(self, name: str, props: Mapping[str, Any]) -> Any:
        """One option of a configuration, its default where the key is absent. Raises ConfigError, KeyError for no option."""
        return _parse(self.options[name], props)

    def validate(self, props: Mapping[str, Any]) -> list[ConfigValue]:
        """Check a configuration; returns one ConfigValue per option, with all its errors, and raises nothing."""
        checked = {name: _check(option, props) for name, option in self.options.items()}
        parsed = {name: value.value for name, value in checked.items()}
        for name, value in checked.items():
            _recommend(self.options[name], value, parsed)
        for name in self._undefined_dependents():
            checked[name] = ConfigValue(name, errors=[f"{name} is referred in the dependents, but not defined."], visible=False)
        return list(checked.values())

    def without_effect(self, props: Mapping[str, Any]) -> dict[str, str]:
        """The options that these properties set and that change nothing: name → why (`Option.without_effect`)."""
        return {o.name: o.without_effect for o in self.options.values() if o.without_effect and o.name in props}

    def sorted_options(self) -> list[Option]:
        """By group (none first), order in the group, required before optional, importance, name: Kafka's natural order."""
        groups = self.groups

        def rank(option: Option) -> tuple[int, int, bool, int, str]:
            group = -1 if option.group is None else groups.index(option.group)
            return group, option.order, not option.required, list(Importance).index(option.importance), option.name

        return sorted(self.options.values(), key=rank)

    def to_markdown(self) -> str:
        """The options as a Markdown table, grouped as they are defined, for the docs."""
        return table(option for option in self.options.values() if not option.internal)

    def _undefined_dependents(self) -> list[str]:
        dependents = (d for option in self.options.values() for d in option.dependents)
        return [d for d in dict.fromkeys(dependents) if d not in self.options]


def _parse(option: Option, props: Mapping[str, Any]) -> Any:
    if option.name in props:
        value = option.read(props[option.name])
    elif option.required:
        raise ConfigError.missing(option.name)
    else:
        value = option.fresh_default()
    if isinstance(option.validator, ValidList) and isinstance(value, list):
        value = _without_duplicates(option.name, value)
    if option.validator:
        option.validator(option.name, value)
    return value


def _without_duplicates(name: str, value: list[str]) -> list[str]:
    """Drop duplicates, as Kafka 4 does when a worker reads its settings; in `validate` they are an error."""
    distinct = list(dict.fromkeys(value))
    if len(distinct) != len(value):
        log.warning(
            'Configuration key "%s" contains duplicate values. Duplicates will be removed. The original value is: %s, '
            "the updated value is: %s",
            name,
            value,
            distinct,
        )
    return distinct


def _check(option: Option, props: Mapping[str, Any]) -> ConfigValue:
    result = ConfigValue(option.name)
    try:
        if option.name in props:
            result.value = option.read(props[option.name])
        elif option.required:
            raise ConfigError.missing(option.name)
        else:
            result.value = option.fresh_default()
    except ConfigError as error:
        result.errors.append(error.message)
    if option.validator:  # also after a failure: Kafka validates the null that is left, and clients know both sentences
        try:
            option.validator(option.name, result.value)
        except ConfigError as error:
            result.errors.append(error.message)
    return result


def _recommend(option: Option, value: ConfigValue, parsed: dict[str, Any]) -> None:
    if option.recommender is None:
        return
    try:
        value.recommended_values = option.recommender.values(option.name, parsed)
        value.visible = option.recommender.visible(option.name, parsed)
    except ConfigError as error:
        value.errors.append(error.message)
