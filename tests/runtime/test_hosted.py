"""Which part of a chain the host of a hosted task does, and what is left to be compiled."""

from __future__ import annotations

from headrace.connect_config.common import SourceConnectorConfig
from headrace.connectors.base import Poll, Props, SourcePartition, StoredOffsets, TaskContext
from headrace.connectors.hosted import Conversion, HostedTask
from headrace.runtime.hosted import plan_hosted
from headrace.runtime.plan import TaskPlan, plan_source_task
from headrace.runtime.worker_config import StandaloneConfig

STRING = "org.apache.kafka.connect.storage.StringConverter"
WORKER = StandaloneConfig({"key.converter": STRING, "value.converter": STRING, "offset.storage.file.filename": "/o"})
HOIST = "org.apache.kafka.connect.transforms.HoistField$Value"
KAFKAS = {"transforms.k.type": HOIST, "transforms.k.field": "f"}
OWN = {"transforms.o.type": "headrace.transforms.Sql", "transforms.o.topic": "'t'"}


class Hosted(HostedTask):
    """Keeps what it is told."""

    def convert_by(self, conversion: Conversion) -> None:
        self.conversion = conversion

    def start(self, props: Props) -> None: ...

    def partitions(self) -> list[SourcePartition]:
        return []

    def poll(self, spark: object, stored: StoredOffsets) -> Poll | None: ...


def planned(config: dict[str, str]) -> tuple[TaskPlan, Conversion]:
    """The plan of a task, and what its host does."""
    task = Hosted(TaskContext("c", 0))
    whole = {"name": "c", "connector.class": "C", **config}
    return plan_hosted(plan_source_task("c", 0, SourceConnectorConfig(whole), {}, WORKER), task, whole, WORKER), task.conversion


def aliases(conversion: Conversion) -> list[str]:
    return [stage["alias"] for stage in conversion.stages]


def test_without_transforms_the_connectors_converters_make_the_bytes():
    plan, conversion = planned({"value.converter": "JsonConverter", "value.converter.schemas.enable": "false"})
    assert conversion.key == {"class": STRING, "location": None, "props": {}}
    assert conversion.value["props"] == {"schemas.enable": "false"}
    assert type(plan.value_converter).__name__ == "ByteArrayConverter"
    assert plan.source_value_converter is None


def test_kafkas_own_transforms_are_left_to_the_host():
    plan, conversion = planned({"transforms": "k", **KAFKAS})
    assert conversion.stages == [
        {
            "alias": "k", "class": HOIST, "location": None, "props": {"type": HOIST, "field": "f"}, "predicate": None,
            "predicate_alias": None, "negate": False,
        }
    ]  # fmt: skip
    assert plan.stages == ()


def test_what_follows_one_of_headraces_own_is_compiled_from_json_with_schemas():
    plan, conversion = planned(
        {"transforms": "k,o,l", **KAFKAS, **OWN, **{k.replace(".k.", ".l."): v for k, v in KAFKAS.items()}}
    )
    assert aliases(conversion) == ["k"]
    assert [stage.alias for stage in plan.stages] == ["o", "l"]
    assert conversion.value["props"] == {"schemas.enable": "true"}
    assert type(plan.value_converter).__name__ == "StringConverter"


def test_where_errors_are_tolerated_kafkas_own_are_compiled_so_that_dead_letters_have_their_records():
    plan, conversion = planned({"transforms": "k", **KAFKAS, "errors.tolerance": "all"})
    assert aliases(conversion) == []
    assert [stage.alias for stage in plan.stages] == ["k"]
