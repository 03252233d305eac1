"""The worker file of previews and of tests of chains: its converters are found on `plugin.path`."""

from __future__ import annotations

from pathlib import Path

import pytest

from headrace import plugins
from headrace.cli.preview import default_worker, preview_conf
from headrace.plugins import Kind
from tests.java_plugins.archives import scanned
from tests.process import worker_properties

THRIFT = "com.x.ThriftConverter"


def test_a_converter_in_java_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with scanned(monkeypatch, tmp_path, THRIFT, "converter") as path:
        props = worker_properties("previews", "http://127.0.0.1:0") | {"bootstrap.servers": "localhost:9092"}
        props |= {"plugin.path": path, "key.converter": THRIFT}
        file = tmp_path / "worker.properties"
        file.write_text("".join(f"{key}={value}\n" for key, value in props.items()))
        assert default_worker(file, lambda _: pytest.fail("no Spark")).key_converter == THRIFT
        assert plugins.find(THRIFT, Kind.CONVERTER) in plugins.java_plugins()


def test_a_preview_has_the_settings_of_the_workers_spark_and_not_its_cluster():
    worker = {"spark.master": "k8s://prod:6443", "spark.driver.host": "pod", "spark.sql.session.timeZone": "Asia/Tokyo"}
    conf = preview_conf(worker | {"spark.sql.codegen.factoryMode": "CODEGEN_ONLY"})
    assert conf.pop("spark.master").startswith("local")
    assert conf == {"spark.sql.codegen.factoryMode": "CODEGEN_ONLY", "spark.sql.session.timeZone": "Asia/Tokyo"}
