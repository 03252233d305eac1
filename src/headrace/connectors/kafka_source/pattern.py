"""Which topics of the source cluster are mirrored: `source.topic.whitelist` (KIP-310). Pure."""

from __future__ import annotations

import re
from typing import Any

from headrace.config import java_text
from headrace.config.java_pattern import JavaRegexError, java_regex
from headrace.errors import ConfigError


def normalize(whitelist: str) -> str:
    """The Java regular expression that a whitelist stands for.

    A comma is an alternative, as in MirrorMaker; blanks, and the quotes that a properties file may bring along, are
    dropped.
    """
    return re.sub("^[\"']+|[\"']+$", "", whitelist.strip().replace(",", "|").replace(" ", ""))


def check_whitelist(name: str, value: Any) -> None:
    """Validator of the option. Raises ConfigError unless the text is a Java regular expression for at least one
    topic.
    """
    if value is None or not normalize(value):
        raise ConfigError.invalid(name, java_text(value), "the regular expression is empty; `.*` stands for every topic")
    whitelist_pattern(value, name)


def whitelist_pattern(whitelist: str, name: str = "source.topic.whitelist") -> re.Pattern[str]:
    """Compile a whitelist; the whole name of a topic has to match (`fullmatch`).

    Raises ConfigError; `name` is the option it speaks of.
    """
    regex = normalize(whitelist)
    try:
        return java_regex(regex)
    except JavaRegexError as error:
        raise ConfigError(f"{regex} is an invalid regex for config {name}") from error
