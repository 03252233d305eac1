"""The response of a validation in Kafka Connect's REST API (`ConfigInfos`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from headrace.config import ConfigDef, ConfigValue, Option, Password, Type, to_text
from headrace.config.answered import AnsweredOption
from headrace.config.providers import Resolved
from headrace.config.redaction import redacted


def option_json(option: Option, prefix: str = "") -> dict[str, Any]:
    """The definition of an option, as in GET /connector-plugins/{plugin}/config; dependents stay without the prefix, as there."""
    if isinstance(option, AnsweredOption):
        places = {"group": option.group, "order_in_group": option.order, "display_name": option.display_name}
        return {**option.answer, **places, "name": prefix + option.name, "dependents": list(option.dependents)}
    return {
        "name": prefix + option.name,
        "type": str(option.type),
        "required": option.required,
        "default_value": None if option.required else to_text(option.default, option.type),
        "importance": str(option.importance),
        "documentation": option.doc,
        "group": option.group,
        "order_in_group": option.order,
        "width": str(option.width),
        "display_name": option.display_name,
        "dependents": list(option.dependents),
    }


def value_json(value: ConfigValue, kind: Type | None = None, prefix: str = "") -> dict[str, Any]:
    """The validation results of an option."""
    return {
        "name": prefix + value.name,
        "value": to_text(value.value, kind),
        "recommended_values": [to_text(v, kind) for v in value.recommended_values],
        "errors": list(value.errors),
        "visible": value.visible,
    }


@dataclass
class Report:
    """Collects the parts of a response: definitions with values, and groups in order."""

    configs: list[dict[str, Any]] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)
    error_count: int = 0

    def add(self, values: Iterable[ConfigValue], options: Mapping[str, Option], prefix: str = "") -> None:
        """Add values; those without an option come with an empty definition, as keys that nothing defines.

        As in Kafka Connect, an option under a prefix is one error, however many sentences it has, and always visible.
        """
        for value in values:
            self.error_count += bool(value.errors) if prefix else len(value.errors)
            option = options.get(value.name)
            definition = None if option is None else option_json(option, prefix)
            kind = None if option is None or isinstance(option, AnsweredOption) else option.type
            self.configs.append({"definition": definition, "value": value_json(value, kind, prefix)})
            if prefix:
                self.configs[-1]["value"]["visible"] = True

    def add_unanswered(self, option: Option) -> None:
        """Add an option without results."""
        self.configs.append({"definition": option_json(option), "value": None})

    def add_groups(self, groups: Iterable[str]) -> None:
        """Add groups that are not there yet."""
        self.groups = list(dict.fromkeys([*self.groups, *groups]))

    def conceal(self, config: Resolved) -> None:
        """Put placeholders instead of what config providers gave, in values and sentences."""
        for value in (config["value"] for config in self.configs if config["value"] is not None):
            name = value["name"]
            value["recommended_values"] = redacted(value["recommended_values"])
            if config.came_from_provider(name):
                value["errors"] = [_without(config, name, error) for error in value["errors"]]
                if value["value"] not in (None, Password.HIDDEN):
                    value["value"] = config.raw[name]
            value["errors"] = redacted(value["errors"])

    def errors(self) -> list[str]:
        """All sentences, in order."""
        return [error for config in self.configs if config["value"] for error in config["value"]["errors"]]

    def body(self, name: str) -> dict[str, Any]:
        """The response; `name` is the connector class as requested."""
        return {"name": name, "error_count": self.error_count, "groups": self.groups, "configs": self.configs}


def definitions(definition: ConfigDef) -> list[dict[str, Any]]:
    """The body of GET /connector-plugins/{plugin}/config."""
    return [option_json(option) for option in definition.options.values() if not option.internal]


def _without(config: Resolved, name: str, sentence: str) -> str:
    """A sentence about this option without its value, however short it is."""
    value = config.props[name].strip()
    return re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", lambda _: config.raw[name], sentence) if value else sentence
