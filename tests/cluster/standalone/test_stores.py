from __future__ import annotations

from pathlib import Path

import pytest

from headrace.cluster import java_map
from headrace.cluster.offset_store import KafkaOffsetStore
from headrace.cluster.standalone.stores import FileLog, memory_stores
from headrace.errors import ConfigError, ConnectError
from headrace.runtime.standalone_config import StandaloneConfig

CONVERTER = "org.apache.kafka.connect.storage.StringConverter"


def stores(path: Path):
    made = memory_stores(str(path))
    made.start()
    return made


def test_offsets_are_in_the_file_as_connect_writes_them(tmp_path):
    path = tmp_path / "connect.offsets"
    stores(path).offsets.put("c", [({"f": "a"}, {"p": 1}), ({"f": "b"}, {"p": 2})])
    assert java_map.read(path.read_bytes()) == {b'["c",{"f":"a"}]': b'{"p":1}', b'["c",{"f":"b"}]': b'{"p":2}'}
    assert [file.name for file in tmp_path.iterdir()] == ["connect.offsets"]


def test_a_worker_goes_on_where_the_last_one_stopped(tmp_path):
    path = tmp_path / "connect.offsets"
    first = stores(path)
    first.config.put_connector("c", {})
    first.offsets.put("c", [({"f": "a"}, {"p": 1}), ({"f": "b"}, {"p": 2})])
    first.offsets.put("c", [({"f": "a"}, None)])
    first.stop()
    second = stores(path)
    assert second.offsets.all("c") == [({"f": "b"}, {"p": 2})]
    assert second.config.snapshot().connectors == {}  # configurations come from the command line


def test_an_empty_or_absent_file_holds_nothing(tmp_path):
    (tmp_path / "empty").touch()
    for name in ("empty", "absent"):
        assert stores(tmp_path / name).offsets.all("c") == []


def test_a_file_of_another_kind_is_refused_and_kept(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("my notes", encoding="utf-8")
    with pytest.raises(
        ConnectError, match=r"The offset file '.*notes.txt' \(offset.storage.file.filename\) cannot be read: Expected"
    ):
        stores(path)
    assert path.read_text(encoding="utf-8") == "my notes"


def test_a_file_that_cannot_be_written_fails_the_put(tmp_path):
    store = KafkaOffsetStore(lambda on_record: FileLog(tmp_path / "no" / "such" / "directory", on_record))
    store.start()
    with pytest.raises(ConnectError, match="cannot be written"):
        store.put("c", [({"f": "a"}, {"p": 1})])
    assert store.all("c") == []


def test_the_file_has_to_be_named():
    with pytest.raises(ConfigError) as raised:
        StandaloneConfig({"key.converter": CONVERTER, "value.converter": CONVERTER, "offset.storage.file.filename": ""})
    assert str(raised.value).startswith("Invalid value  for configuration offset.storage.file.filename: String must be non-empty")
