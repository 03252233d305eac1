"""Where a connector in Java runs, and whether it goes before headrace's own of the same name."""

from __future__ import annotations

from headrace.config import Config, Importance, Type, Width, option, validators
from headrace.connect_config.common import COMMON

ENGINE = "connector.engine"


class EngineConfig(Config):
    """What a connector on `plugin.path` has besides the options of every connector."""

    engine: str = option(
        ENGINE, Type.STRING, default="auto", validator=validators.ValidString("auto", "java"), importance=Importance.LOW,
        group=COMMON, order=15, width=Width.SHORT, display_name="Connector engine",
        doc="'auto': headrace's own connector where it has one of this class name, else the class on `plugin.path`; 'java': the "
        "class on `plugin.path` in any case.",
    )  # fmt: skip
