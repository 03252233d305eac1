"""FileStreamSink: each record's value as a line of one text file."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

from headrace.config import Config, ConfigDef, Importance, Type, option
from headrace.connectors.base import Props
from headrace.connectors.sink import FileTarget, SinkBatch, SinkConnector, SinkTask, TopicPartition
from headrace.converters.base import Writers
from headrace.converters.text_lines import NoWriter, TextLines
from headrace.errors import ConnectError
from headrace.plugins import Kind, plugin


class FileStreamSinkConfig(Config):
    """The options of Kafka's FileStreamSinkConnector."""

    file: str | None = option(
        "file", Type.STRING, default=None, importance=Importance.HIGH,
        doc="Destination filename. If not specified, the standard output will be used",
    )  # fmt: skip


class FileStreamSinkTask(SinkTask):
    """Appends the text of values to the file: a lane does, or `put`, where the chain takes many records at once.

    Spark writes a batch as text files into a directory beside the destination, and these are appended to it as they are: a batch
    is appended only once all of it could be written, and the order within each topic partition is kept (a text file per Spark
    partition). Bringing the records into the driver as rows would be slower by far.
    """

    def start(self, props: Props) -> None:
        """Open the file, which is created if it does not exist. Raises ConnectError, in Kafka's words, if that cannot be done."""
        super().start(props)
        file = FileStreamSinkConfig(props).file
        self._file: BinaryIO | None = None
        destination = Path(file).absolute() if file else Path.cwd() / "stdout"
        # A digest: a connector's name may have a slash, and may be as long as the name of a file.
        digest = hashlib.sha256(f"{self.context.id} {destination}".encode()).hexdigest()[:16]
        self._parts = destination.with_name(f".headrace-{digest}.parts")
        if not file:
            return
        try:
            self._file = Path(file).open("ab")  # noqa: SIM115 - closed by `stop`
        except OSError as e:
            error = ConnectError(f"Couldn't find or create file '{file}' for FileStreamSinkTask")
            raise error from ConnectError(os.strerror(e.errno or 0))

    def writers(self, own: Writers) -> Writers:
        """Values as text; keys are not used."""
        return Writers(NoWriter(), TextLines(), own.header)

    def lane_target(self) -> FileTarget:
        """The file."""
        file = FileStreamSinkConfig(self.props).file
        return FileTarget(str(Path(file).absolute()) if file else "")

    def put(self, batch: SinkBatch) -> None:
        """Append the batch."""
        batch.frame.select("value").write.mode("overwrite").text(str(self._parts))
        try:
            target = self._file or sys.stdout.buffer
            for part in sorted(self._parts.glob("part-*")):
                with part.open("rb") as lines:
                    shutil.copyfileobj(lines, target, 1 << 20)
            target.flush()
        finally:
            shutil.rmtree(self._parts, ignore_errors=True)

    def stop(self) -> None:
        """Close the file."""
        if getattr(self, "_file", None) is not None:
            self._file.close()  # pyright: ignore[reportOptionalMemberAccess]


@plugin("org.apache.kafka.connect.file.FileStreamSinkConnector", Kind.SINK)
class FileStreamSinkConnector(SinkConnector):
    """Values of topics to the lines of one file."""

    task_class = FileStreamSinkTask

    @classmethod
    def definition(cls) -> ConfigDef:
        """`file`."""
        return FileStreamSinkConfig.definition()

    @classmethod
    def alter_offsets(cls, config: Props, offsets: Mapping[TopicPartition, int | None]) -> bool:
        """Accept any: the only offsets are the group's."""
        return True

    def start(self, props: Props) -> None:
        """Keep the configuration. Raises ConfigError."""
        FileStreamSinkConfig(props)
        super().start(props)
