"""One option: what is declared once and read by validation, REST, docs, the command line and the typed attribute."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from headrace.config.types import REQUIRED, Importance, Type, Width, parse_type, trim
from headrace.config.validators import Validator
from headrace.errors import ConfigError

Parsed = dict[str, Any]


@dataclass(frozen=True)
class Recommender:
    """Suggests values of an option, and hides it, according to the other values of the configuration."""

    values: Callable[[str, Parsed], list[Any]]
    """(option name, all parsed values) -> values worth offering."""
    visible: Callable[[str, Parsed], bool] = lambda _name, _parsed: True
    """The same -> is the option of use at all."""


@dataclass(frozen=True)
class Option:
    """An option of a configuration, with the fields of Kafka's `ConfigDef.ConfigKey`."""

    name: str
    type: Type
    default: Any = REQUIRED
    """REQUIRED, or the value if the key is absent (texts are read as `type`, and the validator has to accept it)."""
    validator: Validator | None = None
    """Raises ConfigError for a value that is not allowed; the default is checked too. None allows all of the type."""
    importance: Importance = Importance.MEDIUM
    doc: str = ""
    """REST gives it as it is; docs leave out the HTML that Kafka's texts have."""
    group: str | None = None
    """The heading in docs and REST; None stands before all groups."""
    order: int = -1
    """The place in its group, in REST."""
    width: Width = Width.NONE
    """Of an input field, for programs that show a form."""
    display_name: str = ""
    """For REST; empty is the name."""
    dependents: tuple[str, ...] = ()
    """Names of options whose recommended values and visibility depend on this one."""
    recommender: Recommender | None = None
    """None recommends nothing, and never hides the option."""
    internal: bool = False
    """Not in docs and REST definitions. Raises ConfigError when the default is not valid."""
    without_effect: str = ""
    """Why an option that Kafka has changes nothing here: printed in docs, and logged where a configuration sets it."""
    resolve: Callable[[str], str | None] | None = None
    """For a CLASS, gives the full name of the class that a user's text stands for, None if there is none."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "dependents", tuple(self.dependents))
        object.__setattr__(self, "display_name", self.display_name or self.name)
        if self.required:
            return
        object.__setattr__(self, "default", parse_type(self.name, self.default, self.type))
        if self.validator:
            self.validator(self.name, self.default)

    @property
    def required(self) -> bool:
        """Whether the option is required: it has no default."""
        return self.default is REQUIRED

    def fresh_default(self) -> Any:
        """The default; a list is a copy, so that nobody changes it for all."""
        return list(self.default) if isinstance(self.default, list) else self.default

    def read(self, value: Any) -> Any:
        """Return a given text (or Python value) as a value of this option's type, not yet validated.

        Raises ConfigError.
        """
        parsed = parse_type(self.name, value, self.type)
        if self.type is not Type.CLASS or self.resolve is None or parsed is None:
            return parsed
        name = self.resolve(trim(parsed))
        if name is None:
            raise ConfigError.invalid(self.name, value, f"Class {value} could not be found.")
        return name


@dataclass
class ConfigValue:
    """The validation result of one option (Kafka's `ConfigValue`)."""

    name: str
    value: Any = None
    """Parsed; None if it cannot be."""
    recommended_values: list[Any] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    visible: bool = True
    """Whether the option is of use at all, by its recommender."""


class OptionAttribute:
    """The class attribute that `option()` makes: on an instance the parsed value, on the class the Option."""

    def __init__(self, declared: Option, convert: Callable[[Any], Any] | None = None) -> None:
        self.option, self._convert = declared, convert

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Return the Option when read from the class, the value when read from a configuration."""
        if instance is None:
            return self.option
        value = instance.values[self.option.name]
        return value if self._convert is None else self._convert(value)

    def __set__(self, instance: Any, value: Any) -> None:
        """Refuse: a configuration does not change."""
        raise AttributeError(f"{self.option.name} of {type(instance).__name__} cannot be set; make a new configuration instead.")


def option(name: str, type: Type, default: Any = REQUIRED, *, convert: Callable[[Any], Any] | None = None, **fields: Any) -> Any:
    """Declare an option as an attribute of a Config class: `group_id: str = option("group.id", Type.STRING, doc="…")`.

    Takes the fields of Option. convert: makes the attribute's value of the parsed and validated one; must not raise for any
    that is valid. Typed Any, so that the attribute can carry the type of its value.
    """
    return OptionAttribute(Option(name, type, default, **fields), convert)
