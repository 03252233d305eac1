"""Rules for the values of options: Kafka's `ConfigDef.Validator`s, with Kafka's wording.

A validator is called with the option's name and its parsed value and raises ConfigError; its text (`str()`) describes
the values it allows, for the docs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from headrace.config.java_pattern import JavaRegexError, PythonRegexError, java_regex
from headrace.config.types import invalid, java_text
from headrace.errors import ConfigError

__all__ = [
    "All",
    "CaseInsensitiveValidString",
    "Lambda",
    "ListSize",
    "NonEmptyString",
    "NonEmptyStringWithoutControlChars",
    "NonNull",
    "Range",
    "Regex",
    "ValidList",
    "ValidString",
    "Validator",
]


class Validator(Protocol):
    """One rule about one value."""

    def __call__(self, name: str, value: Any) -> None:
        """Raise ConfigError if `value` may not be the value of the option `name`."""
        ...


@dataclass(frozen=True)
class Range:
    """A number from `min` to `max`, both included."""

    min: float | None = None
    """None: no bound on this side; as of `max`."""
    max: float | None = None

    def __call__(self, name: str, value: Any) -> None:
        """Raise ConfigError for null and for numbers out of bounds."""
        if value is None:
            raise invalid(name, value, "Value must be non-null")
        if self.min is not None and value < self.min:
            raise invalid(name, value, f"Value must be at least {java_text(self.min)}")
        if self.max is not None and value > self.max:
            raise invalid(name, value, f"Value must be no more than {java_text(self.max)}")

    def __str__(self) -> str:
        low = "..." if self.min is None else java_text(self.min)
        high = "..." if self.max is None else java_text(self.max)
        return f"[{low},{high}]" if self.min is None or self.max is None else f"[{low},...,{high}]"


class ValidString:
    """One of the given texts, exactly."""

    def __init__(self, *allowed: str) -> None:
        self.allowed = allowed

    def __call__(self, name: str, value: Any) -> None:
        """Raise ConfigError for null and for any other text."""
        if value not in self.allowed:
            raise invalid(name, value, "String must be one of: " + ", ".join(self.allowed))

    def __str__(self) -> str:
        return "[" + ", ".join(self.allowed) + "]"


class CaseInsensitiveValidString:
    """One of the given texts, in any case."""

    def __init__(self, *allowed: str) -> None:
        self.allowed = tuple(text.upper() for text in allowed)

    def __call__(self, name: str, value: Any) -> None:
        """Raise ConfigError for null and for any other text."""
        if value is None or value.upper() not in self.allowed:
            raise invalid(name, value, "String must be one of (case insensitive): " + ", ".join(self.allowed))

    def __str__(self) -> str:
        return "(case insensitive) [" + ", ".join(self.allowed) + "]"


class ValidList:
    """A list without duplicates and empty items; with `allowed` given, of these texts only (Kafka 4.x rules)."""

    def __init__(self, *allowed: str, empty_ok: bool = True, null_ok: bool = False) -> None:
        self.allowed = ValidString(*allowed) if allowed else None
        self.empty_ok = empty_ok
        self.null_ok = null_ok

    def __call__(self, name: str, value: Sequence[str] | None) -> None:
        """Raise ConfigError for a list, or an item, that is not allowed."""
        if value is None:
            if not self.null_ok:
                raise ConfigError(f"Configuration '{name}' values must not be null.")
            return
        if not value and not self.empty_ok:
            expected = self.allowed or "any non-empty value"
            raise ConfigError(f"Configuration '{name}' must not be empty. Valid values include: {expected}")
        if len(set(value)) != len(value):
            raise ConfigError(f"Configuration '{name}' values must not be duplicated.")
        for item in value:
            if not item:
                raise ConfigError(f"Configuration '{name}' values must not be empty.")
            if self.allowed:
                self.allowed(name, item)

    def __str__(self) -> str:
        return str(self.allowed) if self.allowed else ""


class NonEmptyString:
    """A text of at least one character, or null."""

    def __call__(self, name: str, value: Any) -> None:
        """Raise ConfigError for the empty text."""
        if value == "":
            raise invalid(name, value, "String must be non-empty")

    def __str__(self) -> str:
        return "non-empty string"


class NonEmptyStringWithoutControlChars:
    """A text of at least one character, none of them an ISO control character, or null."""

    def __call__(self, name: str, value: Any) -> None:
        """Raise ConfigError for the empty text and for control characters."""
        if value is None:
            return
        if value == "":
            raise invalid(name, value, "String may not be empty")
        codes = [str(ord(c)) for c in value if ord(c) < 0x20 or 0x7F <= ord(c) <= 0x9F]
        if codes:
            why = "String may not contain control sequences but had the following ASCII chars: " + ", ".join(codes)
            raise invalid(name, value, why)

    def __str__(self) -> str:
        return "non-empty string without ISO control characters"


class NonNull:
    """Anything but null."""

    def __call__(self, name: str, value: Any) -> None:
        """Raise ConfigError for null."""
        if value is None:
            raise invalid(name, value, "entry must be non null")

    def __str__(self) -> str:
        return "non-null string"


@dataclass(frozen=True)
class ListSize:
    """A list of at most `max` items."""

    max: int

    def __call__(self, name: str, value: Any) -> None:
        """Raise ConfigError for a longer list."""
        if value is not None and len(value) > self.max:
            raise invalid(name, value, f"exceeds maximum list size of [{self.max}].")

    def __str__(self) -> str:
        return f"List containing maximum of {self.max} elements"


class All:
    """Several rules at once; the first that fails is reported (Kafka's CompositeValidator)."""

    def __init__(self, *validators: Validator) -> None:
        self.validators = validators

    def __call__(self, name: str, value: Any) -> None:
        """Raise the ConfigError of the first rule that fails."""
        for validator in self.validators:
            validator(name, value)

    def __str__(self) -> str:
        return ", ".join(str(validator) for validator in self.validators)


@dataclass(frozen=True)
class Lambda:
    """A rule given as a function `(name, value)` that raises ConfigError, with its description."""

    fn: Callable[[str, Any], None]
    description: str

    def __call__(self, name: str, value: Any) -> None:
        """Call the function."""
        self.fn(name, value)

    def __str__(self) -> str:
        return self.description


class Regex:
    """A Java regular expression, or a list of them (Kafka's RegexValidator)."""

    def __init__(self, in_java: bool = False) -> None:
        """in_java: Java matches with it, so what only Python cannot do is no problem."""
        self._in_java = in_java

    def __call__(self, name: str, value: Any) -> None:
        """Raise ConfigError for null and for a pattern that Java would refuse."""
        for pattern in value if isinstance(value, list) else [value]:
            if pattern is None:
                raise invalid(name, None, "Invalid regex: there is no pattern")
            try:
                java_regex(pattern)
            except PythonRegexError as error:
                if not self._in_java:
                    raise invalid(name, pattern, f"Invalid regex: {error}") from None
            except JavaRegexError as error:
                raise invalid(name, pattern, f"Invalid regex: {error}") from None

    def __str__(self) -> str:
        return "valid regex"
