"""The configuration of a standalone worker, and which of the two a worker has."""

from __future__ import annotations

from collections.abc import Mapping

from headrace.config import Importance, Type, option
from headrace.config.validators import NonEmptyString
from headrace.runtime.distributed_config import DistributedConfig
from headrace.runtime.worker_config import WorkerConfig


class StandaloneConfig(WorkerConfig):
    """A standalone worker, which keeps its offsets in a file."""

    offset_file: str = option(
        "offset.storage.file.filename",
        Type.STRING,
        validator=NonEmptyString(),
        importance=Importance.HIGH,
        doc="File that keeps the offsets of source connectors.",
    )


def read_worker_config(props: Mapping[str, str]) -> WorkerConfig:
    """The configuration of a worker, of the class that its properties are for. Raises ConfigError."""
    return worker_config_class(props)(props)


def worker_config_class(props: Mapping[str, str]) -> type[WorkerConfig]:
    """StandaloneConfig if the offsets go to a file and there is no group, else DistributedConfig."""
    standalone = "offset.storage.file.filename" in props and "group.id" not in props
    return StandaloneConfig if standalone else DistributedConfig
