"""Where a connector in Java runs, and whether it takes precedence over headrace's own of the same name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from headrace.config import Config, Importance, Type, Width, option, validators
from headrace.config.types import invalid, trim
from headrace.connect_config.common import COMMON

ENGINE = "connector.engine"
HEAP = "connector.engine.heap"
_IN_JAVA = ("java", "process")


def _heap(name: str, value: str) -> None:
    if not re.fullmatch(r"[1-9][0-9]*[kKmMgG]", value):
        raise invalid(name, value, "it has to be a number and k, m or g, like 512m")


class EngineConfig(Config):
    """The further options of a connector on `plugin.path`."""

    engine: str = option(
        ENGINE, Type.STRING, default="auto", validator=validators.ValidString("auto", *_IN_JAVA), importance=Importance.LOW,
        group=COMMON, order=15, width=Width.SHORT, display_name="Connector engine",
        doc="'auto': headrace's own connector where it has one of this class name, else the class on `plugin.path`; 'java': the "
        "class on `plugin.path` in any case; 'process': the same, in a JVM of its own, which cannot harm the worker's.",
    )  # fmt: skip
    heap: str = option(
        HEAP, Type.STRING, default="512m", validator=validators.Lambda(_heap, "a number and k, m or g"),
        importance=Importance.LOW, group=COMMON, order=16, width=Width.SHORT, display_name="Heap of the connector's JVM",
        doc="The most heap of the connector's own JVM, where `connector.engine` is 'process'; without effect elsewhere.",
    )  # fmt: skip


def in_java(config: Mapping[str, Any]) -> bool:
    """Whether the class on `plugin.path` runs in any case; read as the option is, without white space around it."""
    return trim(str(config.get(ENGINE) or "")) in _IN_JAVA


def heap(config: Mapping[str, str]) -> str | None:
    """The heap of the JVM of its own that a connector runs in; None: it runs in the worker's. Raises ConfigError."""
    settings = EngineConfig(config)
    return settings.heap if settings.engine == "process" else None
