"""The data directory of an embedded broker: checks its owner, its permissions and its format.

server.properties   what the broker was last started with
broker.log          its log since this process first started it
kafka/              Kafka's own (log.dirs)
"""

from __future__ import annotations

import base64
import fcntl
import shutil
import uuid
from collections.abc import Mapping
from pathlib import Path

from headrace.errors import SetupError

_BROKER_FILES = {"server.properties", "broker.log", "kafka"}
_META = "meta.properties"


def kafka_logs(data: Path) -> Path:
    """Where Kafka keeps topics and metadata (`log.dirs`)."""
    return data / "kafka"


def claim(data: Path) -> None:
    """Create the directory if absent, and check that it is empty or of an embedded broker, and not in use.

    Raises SetupError if it cannot be created or listed, has other files, or is in use.
    """
    try:
        data.mkdir(parents=True, exist_ok=True)
        names = {path.name for path in data.iterdir()}
    except OSError as error:
        raise unusable(data, error) from error
    if _META in names:
        properties = _properties(data / _META)
        raise SetupError(
            f"The data directory {data} belongs to another cluster: node {properties.get('node.id')} of cluster "
            f"{properties.get('cluster.id')} keeps its log there; give another directory."
        )
    if foreign := sorted(names - _BROKER_FILES):
        raise SetupError(
            f"The data directory {data} has other files, such as {foreign[0]}; give an empty one, or one that an "
            "embedded broker has created."
        )
    if _is_locked(data):
        raise SetupError(f"The data directory {data} is in use by another broker; stop it, or give another directory.")


def is_formatted(data: Path, node_id: str) -> bool:
    """Whether Kafka's directory has been formatted. Raises SetupError if it was formatted for another node."""
    meta = kafka_logs(data) / _META
    if not meta.is_file():
        return False
    properties = _properties(meta)
    if properties.get("node.id") != node_id:
        raise SetupError(
            f"The data directory {data} belongs to another cluster: it holds the data of node {properties.get('node.id')} of "
            f"cluster {properties.get('cluster.id')}, and this is node {node_id}; give another directory."
        )
    return True


def cluster_id(data: Path) -> str:
    """The id of the cluster whose data a formatted directory holds."""
    return _properties(kafka_logs(data) / _META)["cluster.id"]


def new_cluster_id() -> str:
    """A random cluster id as Kafka writes them: 22 characters of URL-safe base64, no dash first (it would look like a flag)."""
    return "H" + base64.urlsafe_b64encode(uuid.uuid4().bytes).decode()[1:22]


def unusable(data: Path, error: OSError) -> SetupError:
    """The error of a directory that cannot be created, read or written."""
    return SetupError(f"The data directory {data} cannot be used: {error.strerror}.")


def disk_is_full(data: Path) -> bool:
    """Whether less than 4 KiB are free."""
    return shutil.disk_usage(data).free < 4096


def _is_locked(data: Path) -> bool:
    """Whether a running Kafka holds the lock that it takes on the directory.

    Checked before Kafka starts, because its controller writes to the metadata log before its broker tries the lock.
    """
    lock = kafka_logs(data) / ".lock"
    if not lock.exists():
        return False
    with lock.open("r+b") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def _properties(file: Path) -> Mapping[str, str]:
    """The contents of meta.properties, which Kafka writes as plain `name=value` lines."""
    lines = (line.partition("=") for line in file.read_text().splitlines() if not line.startswith("#"))
    return {name: value for name, _, value in lines}
