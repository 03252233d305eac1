"""A worker's properties from environment variables, named as in the images that people know.

- `CONNECT_BOOTSTRAP_SERVERS` is `bootstrap.servers` (Confluent's images): `_` is a dot, `__` an underscore, `___` a hyphen.
- `KAFKA_CONNECT_BOOTSTRAP_SERVERS` and `KAFKA_CONNECT_CONFIGURATION`, the text of a properties file (Strimzi's image).
- `HEADRACE_PROPERTIES`, the text of a properties file: for keys with capital letters, such as `spark.executor.memoryOverhead`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from headrace.config.properties import parse_properties
from headrace.errors import ConfigError

PREFIX = "CONNECT_"
TEXTS = ("HEADRACE_PROPERTIES", "KAFKA_CONNECT_CONFIGURATION")
"""Variables that are texts of properties files; a later one wins."""
_SERVERS = "KAFKA_CONNECT_BOOTSTRAP_SERVERS"
_ROOT_LEVEL = "CONNECT_LOG4J_ROOT_LOGLEVEL"
_OF_THE_IMAGE = re.compile(r"CONNECT_(LOG4J_.*|CUB_.*|JMX_.*)")
"""Variables that Confluent's image does not convert to worker settings."""
_SEPARATORS = {"_": ".", "__": "_", "___": "-"}


def worker_properties(environ: Mapping[str, str]) -> dict[str, str]:
    """The properties in these variables; `CONNECT_…` wins over texts. Raises ConfigError for a name that stands for no key."""
    properties: dict[str, str] = {}
    for name in TEXTS:
        properties |= parse_properties(environ.get(name, ""), source=name)
    if servers := environ.get(_SERVERS):
        properties["bootstrap.servers"] = servers
    for name in sorted(environ):
        if name.startswith(PREFIX) and name != PREFIX and not _OF_THE_IMAGE.fullmatch(name):
            properties[property_name(name)] = environ[name]
    return properties


def property_name(variable: str) -> str:
    """The key that `CONNECT_…` stands for. Raises ConfigError for four underscores in a row, which stand for nothing."""

    def separator(match: re.Match[str]) -> str:
        if match[0] not in _SEPARATORS:
            raise ConfigError(
                f"The environment variable {variable} has {len(match[0])} underscores in a row; one is a dot of the setting's "
                "name, two are an underscore, three a hyphen."
            )
        return _SEPARATORS[match[0]]

    return re.sub("_+", separator, variable.removeprefix(PREFIX)).lower()


def log_level(environ: Mapping[str, str]) -> str | None:
    """The log level in the images' variable; None if it is not set."""
    return environ.get(_ROOT_LEVEL) or None
