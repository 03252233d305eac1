"""The options of SparkSink."""

from __future__ import annotations

from headrace.config import Importance, Type, Width, option
from headrace.config.validators import NonEmptyString, ValidList, ValidString
from headrace.connectors.format_config import FormatConfig
from headrace.spark import formats

JDBC, DELTA = "jdbc", "delta"
METADATA = ("topic", "partition", "offset", "timestamp", "key")
_FORMAT, _RECORD, _DATABASE = "Format", "Records", "Databases"

_WITHOUT_STAGE = ("jdbc:sqlserver:", "jdbc:jtds:sqlserver:", "jdbc:db2:", "jdbc:derby:")


class SparkSinkConfig(FormatConfig):
    """Configuration of a SparkSinkConnector. `option.<name>` keys are options of the Spark data source."""

    format: str = option(
        "format", Type.STRING, validator=NonEmptyString(), importance=Importance.HIGH, group=_FORMAT, width=Width.MEDIUM,
        doc="The Spark data source: `json`, `csv`, `parquet`, `text`, `orc`, `xml`, `jdbc`, `delta`, the name of any other that "
        "the session has, or the dotted name of a PySpark `DataSource` class. Its options are given as `option.<name>`, for "
        "example `option.path`; `${topic}` in their values is the topic of the records.",
    )  # fmt: skip
    partition_by: list[str] = option(
        "partition.by", Type.LIST, [], validator=ValidList(), importance=Importance.MEDIUM, group=_FORMAT,
        doc="The columns by whose values files are laid into directories.",
    )  # fmt: skip
    schema: str | None = option(
        "schema", Type.STRING, None, importance=Importance.HIGH, group=_RECORD, width=Width.LONG,
        doc="The columns, `id BIGINT, name STRING`, of values without a schema, which are read as JSON objects; a record whose "
        "value is none of these fails. Not set: values with a schema give their fields, others one column `value`.",
    )  # fmt: skip
    key_schema: str | None = option(
        "key.schema", Type.STRING, None, importance=Importance.LOW, group=_RECORD, width=Width.LONG,
        doc="The same for keys, where they are used.",
    )  # fmt: skip
    metadata_columns: list[str] = option(
        "metadata.columns", Type.LIST, [], validator=ValidList(), importance=Importance.MEDIUM, group=_RECORD,
        doc="Further columns: some of `topic`, `partition`, `offset`, `timestamp` and `key`, of the record as Kafka has it.",
    )  # fmt: skip
    metadata_prefix: str = option(
        "metadata.prefix", Type.STRING, "__connect_", importance=Importance.LOW, group=_RECORD,
        doc="How the names of those columns begin.",
    )  # fmt: skip
    envelope: str = option(
        "envelope", Type.STRING, "none", validator=ValidString("none", "debezium"), importance=Importance.HIGH, group=_RECORD,
        doc="What values are wrapped in. `none`: nothing; `debezium`: they are change events with `op`, `before` and `after`, "
        "whose `after` is the row; an event without it, of a delete, is a record without value. Any other value fails.",
    )  # fmt: skip
    insert_mode: str = option(
        "insert.mode", Type.STRING, "insert", validator=ValidString("insert", "upsert", "update"), importance=Importance.HIGH,
        group=_DATABASE,
        doc="For `jdbc` and `delta`. `insert`: rows are added; `upsert`: added, or changed where their key is there (PostgreSQL, "
        "Delta); `update`: changed where their key is there (PostgreSQL).",
    )  # fmt: skip
    pk_mode: str = option(
        "pk.mode", Type.STRING, "none", validator=ValidString("none", "kafka", "record_key", "record_value"),
        importance=Importance.HIGH, group=_DATABASE,
        doc="For `jdbc`, and `delta` with `upsert`: what the primary key is: "
        "nothing; topic, partition and offset; the record's key; fields of its value.",
    )  # fmt: skip
    pk_fields: list[str] = option(
        "pk.fields", Type.LIST, [], validator=ValidList(), importance=Importance.MEDIUM, group=_DATABASE,
        doc="The columns of the primary key. `kafka`: their three names, by default `__connect_topic`, `__connect_partition`, "
        "`__connect_offset`. `record_key`: the fields of a key that is a struct, by default all; the name for any other key. "
        "`record_value`: the fields, by default all; `update` needs some.",
    )  # fmt: skip
    delete_enabled: bool = option(
        "delete.enabled", Type.BOOLEAN, False, importance=Importance.MEDIUM, group=_DATABASE,
        doc="Whether a record without value deletes the row of its key; needs `pk.mode=record_key`. If not, they are left "
        "out, as all other formats do; so is always one that has no key either, like the event of a truncated table.",
    )  # fmt: skip
    auto_create: bool = option(
        "auto.create", Type.BOOLEAN, False, importance=Importance.MEDIUM, group=_DATABASE,
        doc="Whether a table that is not there is made, with the types that Spark has for the columns.",
    )  # fmt: skip

    @property
    def kind(self) -> str:
        """How the format is written: "jdbc", "delta" or "append"."""
        name = self.format.lower()
        return name if name in (JDBC, DELTA) else "append"

    @property
    def wants_key(self) -> bool:
        """Whether columns come from the key."""
        return "key" in self.metadata_columns or self.pk_mode == "record_key"

    @property
    def merges(self) -> bool:
        """Whether a Delta table is changed by key, not appended to."""
        return self.kind == DELTA and self.insert_mode == "upsert"

    @property
    def keeps_columns(self) -> bool:
        """Whether a column keeps what it has where the schema of a record does not have the field."""
        return self.kind == JDBC or self.merges

    @property
    def deletes(self) -> bool:
        """Whether records without value delete rows."""
        return self.delete_enabled and self.keeps_columns

    def problems(self) -> dict[str, str]:
        """Errors between several options: option → sentence."""
        values, names = self.values, self.option_names
        problems: dict[str, str] = {}
        name, mode, key = values["format"].lower(), values["insert.mode"], values["pk.mode"]
        url = (formats.option(self.options, "url") or "").lower()
        wrong = [column for column in values["metadata.columns"] if column not in METADATA]
        if wrong:
            problems["metadata.columns"] = f"{wrong[0]} is none of {', '.join(METADATA)}"
        if name == DELTA and "path" not in names:
            problems["option.path"] = "The format delta needs the path of the table"
        if name == DELTA and mode == "update":
            problems["insert.mode"] = "The format delta takes insert and upsert"
        if mode != "insert" and key == "none":
            problems["pk.mode"] = f"insert.mode={mode} needs a primary key"
        if values["delete.enabled"] and key != "record_key":
            problems["delete.enabled"] = "Deletes need pk.mode=record_key"
        if key == "kafka" and len(values["pk.fields"]) not in (0, 3):
            problems["pk.fields"] = "pk.mode=kafka needs three names"
        if mode == "update" and key == "record_value" and not values["pk.fields"] and not values["metadata.columns"]:
            problems["pk.fields"] = "insert.mode=update needs it: of a row that is all key there is nothing to change"
        if name != JDBC:
            return problems
        if "url" not in names:
            problems["option.url"] = "The format jdbc needs the URL of the database"
        elif any(url.startswith(start) for start in _WITHOUT_STAGE):
            problems["option.url"] = "The stage table needs CREATE TABLE … AS SELECT, which this database does not have"
        if "dbtable" not in names:
            problems["option.dbtable"] = "The format jdbc needs the table"
        return problems
