"""The options of SparkSource."""

from __future__ import annotations

from typing import Any

from headrace.config import Importance, Type, Width, option
from headrace.config.validators import Lambda, NonEmptyString, Range, ValidList, ValidString
from headrace.connectors.format_config import FormatConfig
from headrace.errors import ConfigError

FILES = ("avro", "binaryfile", "csv", "json", "orc", "parquet", "text", "xml")
JDBC = "jdbc"
INCREMENTAL = ("incrementing", "timestamp", "timestamp+incrementing")
_FORMAT, _RECORD, _READING, _FILES, _DATABASE = "Format", "Records", "Reading", "Files", "Databases"


def _ddl(name: str, value: Any) -> None:
    """A first check only: Spark parses it when the task starts."""
    if value is not None and not value.strip():
        raise ConfigError.invalid(name, value, "It has to be a schema like `id BIGINT, name STRING`")


def _mode(name: str, value: Any) -> None:
    if value is not None:
        ValidString(*INCREMENTAL, "bulk")(name, value)


class SparkSourceConfig(FormatConfig):
    """Configuration of a SparkSourceConnector. `option.<name>` keys are options of the Spark data source."""

    format: str = option(
        "format", Type.STRING, validator=NonEmptyString(), importance=Importance.HIGH, group=_FORMAT, width=Width.MEDIUM,
        doc="The Spark data source: `json`, `csv`, `parquet`, `text`, `orc`, `xml`, `jdbc`, `delta`, the name of any other that "
        "the session has, or the dotted name of a PySpark `DataSource` class. Its options are given as `option.<name>`, for "
        "example `option.path`.",
    )  # fmt: skip
    schema: str | None = option(
        "schema", Type.STRING, None, validator=Lambda(_ddl, "schema in DDL"), importance=Importance.MEDIUM, group=_FORMAT,
        doc="The columns, `id BIGINT, name STRING`, for formats that need them. Not set: as the data source says; for JSON "
        "and CSV files Spark then looks at the files of each batch, which may differ from batch to batch.", width=Width.LONG,
    )  # fmt: skip
    mode: str | None = option(
        "mode", Type.STRING, None, importance=Importance.HIGH, group=_READING, width=Width.SHORT,
        validator=Lambda(_mode, f"[{', '.join((*INCREMENTAL, 'bulk'))}], or null"),
        doc="How news is found. Not set: new files of a file format, the stream of any other format. `bulk`: everything, every "
        "`poll.interval.ms`. For `jdbc` it has to be set: `incrementing`: rows with a larger value in a column that only grows "
        "(new rows); `timestamp`: rows with a later time in a column that every change sets (new and changed rows); "
        "`timestamp+incrementing`: the same, and rows of one time are distinguished by the growing column; or `bulk`.",
    )  # fmt: skip
    poll_interval_ms: int = option(
        "poll.interval.ms", Type.INT, 5000, validator=Range(0), importance=Importance.HIGH, group=_READING,
        doc="How often to look for news, in ms, when there was none.",
    )  # fmt: skip
    topic: str | None = option(
        "topic", Type.STRING, None, importance=Importance.HIGH, group=_RECORD, width=Width.MEDIUM,
        doc="The topic to write to.",
    )  # fmt: skip
    topic_expression: str | None = option(
        "topic.expression", Type.STRING, None, importance=Importance.LOW, group=_RECORD, width=Width.LONG,
        doc="Instead of `topic`: a Spark SQL expression of the columns that gives the topic of each record.",
    )  # fmt: skip
    key_columns: list[str] = option(
        "key.columns", Type.LIST, [], validator=ValidList(), importance=Importance.MEDIUM, group=_RECORD,
        doc="The columns that make the key: one is the key itself, several become a struct. None: records have no key.",
    )  # fmt: skip
    value_columns: list[str] = option(
        "value.columns", Type.LIST, [], validator=ValidList(), importance=Importance.MEDIUM, group=_RECORD,
        doc="The columns that make the value: one is the value itself, several become a struct. None: a struct of all columns; "
        "of the format `text` the line.",
    )  # fmt: skip
    file_settle_ms: int = option(
        "file.settle.ms", Type.INT, 2000, validator=Range(0), importance=Importance.MEDIUM, group=_FILES,
        doc="A file is read once it has not been modified for so many ms. It has to be there, under its name, by then: one "
        "that appears later with an older time than one that has been read is not read (logged as a WARN).",
    )  # fmt: skip
    file_max_files: int = option(
        "file.max.files", Type.INT, 1000, validator=Range(1), importance=Importance.LOW, group=_FILES,
        doc="The most files of one batch.",
    )  # fmt: skip
    incrementing_column: str | None = option(
        "incrementing.column.name", Type.STRING, None, importance=Importance.MEDIUM, group=_DATABASE,
        doc="The column that only grows, as SQL would name it. Rows where it is NULL are not read (logged as a WARN).",
    )  # fmt: skip
    timestamp_columns: list[str] = option(
        "timestamp.column.name", Type.LIST, [], validator=ValidList(), importance=Importance.MEDIUM, group=_DATABASE,
        doc="The columns with the time of the last change, as SQL would name them; the first that is not NULL counts.",
    )  # fmt: skip
    timestamp_initial: int | None = option(
        "timestamp.initial", Type.LONG, None, importance=Importance.LOW, group=_DATABASE,
        doc="Where to begin without a stored offset: rows after this time, in ms since the epoch; -1: the present time of the "
        "worker. Not set: all rows.",
    )  # fmt: skip
    timestamp_delay_ms: int = option(
        "timestamp.delay.interval.ms", Type.LONG, 0, validator=Range(0), importance=Importance.HIGH, group=_DATABASE,
        doc="Rows are read once their time is this many ms in the past, by the database's clock, so that transactions with an "
        "earlier time that end later are not missed.",
    )  # fmt: skip
    batch_max_rows: int = option(
        "batch.max.rows", Type.INT, 100_000, validator=Range(1), importance=Importance.LOW, group=_DATABASE,
        doc="The most rows of one batch; in the mode `timestamp` more, if that many have the same time.",
    )  # fmt: skip

    @property
    def kind(self) -> str:
        """How the format is read: "jdbc", "bulk", "files" or "stream"."""
        if self.format.lower() == JDBC:
            return JDBC
        if self.mode == "bulk":
            return "bulk"
        return "files" if self.format.lower() in FILES else "stream"

    def problems(self) -> dict[str, str]:
        """Errors between several options: option → sentence."""
        values, names = self.values, self.option_names
        problems: dict[str, str] = {}
        if bool(values["topic"]) == bool(values["topic.expression"]):
            problems["topic"] = "Either topic or topic.expression has to be set, and not both"
        name, mode = values["format"].lower(), values["mode"]
        if name == JDBC:
            problems |= _jdbc_problems(values, names)
        elif mode in INCREMENTAL:
            problems["mode"] = f"It is for the format jdbc; {values['format']} takes bulk or none"
        elif name in FILES and "path" not in names:
            problems["option.path"] = f"The format {values['format']} needs the path of its files"
        return problems


def _jdbc_problems(values: dict[str, Any], names: set[str]) -> dict[str, str]:
    problems = {}
    mode = values["mode"]
    if mode is None:
        problems["mode"] = f"The format jdbc needs one of {', '.join((*INCREMENTAL, 'bulk'))}"
        mode = ""
    if "url" not in names:
        problems["option.url"] = "The format jdbc needs the URL of the database"
    if ("dbtable" in names) == ("query" in names):
        problems["option.dbtable"] = "The format jdbc needs either option.dbtable or option.query"
    if "incrementing" in mode and not values["incrementing.column.name"]:
        problems["incrementing.column.name"] = f"The mode {mode} needs the column"
    if "timestamp" in mode and not values["timestamp.column.name"]:
        problems["timestamp.column.name"] = f"The mode {mode} needs the column"
    return problems
