"""Options defined and validated by a plugin in another language, in the format of REST responses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from headrace.config.definition import ConfigDef
from headrace.config.option import ConfigValue, Option
from headrace.config.types import REQUIRED, Importance, Type, Width

Answer = Mapping[str, Any]


@dataclass(frozen=True)
class AnsweredOption(Option):
    """An option whose definition was given in the form of REST's answer; its default and rules are the plugin's own."""

    answer: Answer = field(default_factory=dict)
    """The definition, as in GET /connector-plugins/{plugin}/config."""
    typed: bool = False
    """Whether its type is ours to read: Kafka Connect's own definition has the options of a chain's plugins, under a prefix."""

    def __post_init__(self) -> None:
        """Keep the default as written."""

    def read(self, value: Any) -> Any:
        """The value as it is written, unless it is `typed`: the plugin reads it."""
        return super().read(value) if self.typed else value

    @classmethod
    def of(cls, answer: Answer) -> AnsweredOption:
        """The option of a definition in REST's form."""
        return cls(
            name=answer["name"],
            type=Type(answer["type"]),
            default=REQUIRED if answer["required"] else answer["default_value"],
            importance=Importance(answer["importance"]),
            doc=answer["documentation"] or "",
            group=answer["group"],
            order=answer["order_in_group"],
            width=Width(answer["width"]),
            display_name=answer["display_name"],
            dependents=tuple(answer["dependents"]),
            answer=answer,
        )


class AnsweredDefinition(ConfigDef):
    """The options of a plugin that checks configurations itself."""

    def __init__(self, answer: Answer, check: Callable[[Mapping[str, Any]], Iterable[Answer]]) -> None:
        """answer: `options` and `groups`; check: takes a configuration, gives values in the form of REST's answer."""
        super().__init__(AnsweredOption.of(option) for option in answer["options"])
        self._groups, self._check = list(answer["groups"]), check

    @property
    def groups(self) -> list[str]:
        """The groups, in the plugin's order."""
        return self._groups

    def validate(self, props: Mapping[str, Any]) -> list[ConfigValue]:
        """The plugin's validation results by option. Raises ConnectError if it does not respond."""
        return [ConfigValue(**answer) for answer in self._check(props)]
