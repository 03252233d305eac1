"""Plugins and a worker for tests about configurations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from headrace import plugins
from headrace.config import ConfigDef, Importance, Option, Type, validators
from headrace.runtime.distributed_config import DistributedConfig

WORKER = {
    "bootstrap.servers": "localhost:9092",
    "group.id": "connect-cluster",
    "key.converter": "org.apache.kafka.connect.storage.StringConverter",
    "value.converter": "org.apache.kafka.connect.storage.StringConverter",
    "config.storage.topic": "connect-configs",
    "offset.storage.topic": "connect-offsets",
    "status.storage.topic": "connect-status",
}


@pytest.fixture
def worker() -> Callable[..., DistributedConfig]:
    """Make a worker's configuration; dots of the setting's name as `_`: worker(group_id="x")."""
    return lambda **settings: DistributedConfig(WORKER | {k.replace("_", "."): v for k, v in settings.items()})


class Plugin:
    """A plugin of the tests, without behaviour."""

    own: tuple[Option, ...] = ()

    @classmethod
    def definition(cls) -> ConfigDef:
        return ConfigDef(cls.own)

    @classmethod
    def problems(cls, props: Any) -> dict[str, list[str]]:
        return {}


class Well(Plugin):
    """A source connector that can do everything."""

    version = "1.2.3"
    own = (
        Option("depth", Type.INT, 1, validator=validators.Range(1), importance=Importance.HIGH, group="Well"),
        Option("bucket", Type.STRING),
    )

    @classmethod
    def problems(cls, props: Any) -> dict[str, list[str]]:
        return {"bucket": ["too small"]} if props["bucket"] == "thimble" else {}

    @classmethod
    def exactly_once_support(cls, props: Any) -> bool | None:
        if props["bucket"] == "leaky":
            raise ValueError("it leaks")
        return {"sealed": True, "open": False}.get(props["bucket"])

    @classmethod
    def defines_transactions(cls, props: Any) -> bool:
        return props["bucket"] == "sealed"


class Drain(Plugin):
    """A sink connector."""

    version = "1.2.3"


class Shout(Plugin):
    """A transformation."""

    version = "1.2.3"
    own = (
        Option("times", Type.INT, 2, validator=validators.Range(1), importance=Importance.LOW),
        Option("what", Type.STRING, importance=Importance.HIGH),
    )


class IsLoud(Plugin):
    """A predicate."""

    version = "1.2.3"
    own = (Option("level", Type.INT, 3),)


@pytest.fixture
def installed() -> Iterator[None]:
    """The plugins test.Well, test.Drain, test.Shout and test.IsLoud, for one test."""
    plugins.load()
    kinds = {Well: "source", Drain: "sink", Shout: "transformation", IsLoud: "predicate"}
    before = dict(plugins._REGISTRY)
    for cls, kind in kinds.items():
        plugins.plugin(f"test.{cls.__name__}", kind)(cls)
    yield
    plugins._REGISTRY.clear()
    plugins._REGISTRY.update(before)
