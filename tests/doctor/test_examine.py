"""The doctor on a real broker, and on worker files with one thing wrong."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner

from headrace.cli.app import app
from headrace.config.redaction import remember
from headrace.doctor import clusters, machine
from headrace.doctor.finding import Finding, Severity, wrong
from headrace.doctor.run import client_settings, examine
from headrace.embedded import Broker
from headrace.embedded.ports import free_port
from headrace.runtime.distributed_config import DistributedConfig
from tests.cli.command import headrace
from tests.clusters import Cluster, record
from tests.process import worker_properties

Props = dict[str, str]
LONG_S = 180.0
PATIENT = ("--timeout", f"{LONG_S:g}")


@pytest.fixture
def props(destination_broker: Broker, topic_name: Callable[[str], str]) -> Props:
    """A worker file in which nothing is wrong; its internal topics do not exist."""
    options = worker_properties(topic_name("doctor"), f"http://127.0.0.1:{free_port()}")
    return {"bootstrap.servers": destination_broker.bootstrap, **options}


def found(props: Mapping[str, str], check: str, *connectors: tuple[str, Props], timeout_s: float = LONG_S) -> list[Finding]:
    """What is not well of one kind."""
    return [f for f in examine(props, connectors, timeout_s) if f.check == check and f.status is not Severity.OK]


def test_nothing_is_wrong_with_a_good_file_and_nothing_is_created(props: Props, destination: Cluster) -> None:
    findings = list(examine(props, timeout_s=LONG_S))
    assert [f.line() for f in findings if f.status is Severity.WRONG] == []
    assert {f.check for f in findings} >= {"version", "java", "jars", "config", "port", "cluster", "topic", "acl", "clock"}
    assert props["config.storage.topic"] not in destination.admin.topics()


def test_a_topic_that_is_not_compacted_is_wrong(props: Props, destination: Cluster) -> None:
    topic = props["offset.storage.topic"]
    destination.create(topic, 2, {"cleanup.policy": "delete"})
    (finding,) = found(props, "topic")
    assert finding.status is Severity.WRONG
    assert finding.message == (
        f"{topic} (offset.storage.topic) has cleanup.policy=delete, so source connector offsets would be lost"
    )
    servers = props["bootstrap.servers"]
    assert finding.remedy.startswith(f"set it: kafka-configs --bootstrap-server {servers} --alter --topic {topic} ")


def test_a_config_topic_of_two_partitions_is_wrong(props: Props, destination: Cluster) -> None:
    destination.create(props["config.storage.topic"], 2, {"cleanup.policy": "compact"})
    (finding,) = found(props, "topic")
    assert "has 2 partitions" in finding.message


def test_a_replication_factor_that_cannot_be_had_is_wrong(props: Props) -> None:
    (finding,) = found({**props, "status.storage.replication.factor": "3"}, "topic")
    assert finding.remedy == "set status.storage.replication.factor to at most the number of brokers"


def test_a_record_from_the_future_is_a_wrong_clock(props: Props, destination: Cluster) -> None:
    topic = props["status.storage.topic"]
    destination.create(topic, 1, {"cleanup.policy": "compact", "message.timestamp.after.max.ms": str(10**12)})
    destination.produce(topic, [record(b"k", timestamp=int(time.time() * 1000) - 600_000)])
    (past,) = [f.message for f in examine(props, timeout_s=LONG_S) if f.check == "clock"]
    assert past.endswith(", which tells nothing of a clock here that is ahead")
    destination.produce(topic, [record(b"k", timestamp=int(time.time() * 1000) + 600_000)])
    (finding,) = found(props, "clock")
    assert finding.status is Severity.WRONG
    assert "ahead of the clock of this machine" in finding.message


def test_a_broker_that_is_not_there_is_one_line_for_its_address(props: Props) -> None:
    port = free_port()
    first, *_ = found({**props, "bootstrap.servers": f"127.0.0.1:{port}"}, "cluster", timeout_s=0.5)
    assert first.message == f"127.0.0.1:{port} of bootstrap.servers: Connection refused"


@pytest.mark.parametrize(
    ("servers", "message"),
    [
        ("localhost", "'localhost' in bootstrap.servers is not host:port"),
        ("localhost:99999", "'localhost:99999' in bootstrap.servers is not host:port"),
        ("localhost:0", "'localhost:0' in bootstrap.servers is not host:port"),
        ("localhost:-1", "'localhost:-1' in bootstrap.servers is not host:port"),
        ("no-such-host.invalid:9092", "the host of no-such-host.invalid:9092 is not known here"),
    ],
)
def test_an_address_that_cannot_be_right_is_said_so(servers: str, message: str) -> None:
    assert [f.message for f in clusters.reachable(servers, "bootstrap.servers")] == [message]


def test_a_protocol_before_an_address_is_not_a_part_of_its_host() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"PLAINTEXT://127.0.0.1:{server.getsockname()[1]}"
        assert list(clusters.reachable(address, "bootstrap.servers")) == []


@pytest.mark.parametrize(
    ("master", "message"),
    [
        ("foo", "'foo' in spark.master is no master that Spark knows"),
        ("local[]", "'local[]' in spark.master is no master that Spark knows"),
        ("spark://no-such-host.invalid:7077", "the host of spark://no-such-host.invalid:7077 is not known here"),
        ("spark://127.0.0.1:1,127.0.0.1", "spark://127.0.0.1:1 of spark.master: Connection refused"),
    ],
)
def test_a_master_that_spark_cannot_have_is_said_so(master: str, message: str) -> None:
    assert next(clusters.spark_master(master)).message == message


@pytest.mark.parametrize(
    "master", [None, "local", "local[*]", "local[2, 3]", "local-cluster[1,1,1024]", "yarn", "k8s://https://h:1"]
)
def test_a_master_that_spark_knows_is_right(master: str | None) -> None:
    assert list(clusters.spark_master(master)) == []


def test_a_client_has_the_settings_that_its_connector_gives_it() -> None:
    worker = DistributedConfig(worker_properties("doctor", "http://localhost:0") | {
        "bootstrap.servers": "home:9092", "security.protocol": "SSL", "producer.linger.ms": "5",
    })  # fmt: skip
    history = "schema.history.internal."
    connector = {
        f"{history}kafka.bootstrap.servers": "far:9093", f"{history}kafka.topic": "t",
        f"{history}consumer.security.protocol": "SSL", f"{history}producer.security.protocol": "SSL",
        "producer.override.bootstrap.servers": "away:9092", "source.bootstrap.servers": "s:1", "source.consumer.x": "y",
    }  # fmt: skip
    assert client_settings(connector, f"{history}kafka.", worker) == {
        "security.protocol": "SSL", "bootstrap.servers": "far:9093", "topic": "t",
    }  # fmt: skip
    overridden = client_settings(connector, "producer.override.", worker)
    wanted = {"bootstrap.servers": "away:9092", "security.protocol": "SSL", "linger.ms": "5"}
    assert {key: overridden.get(key) for key in wanted} == wanted
    assert client_settings(connector, "source.", worker) == {"bootstrap.servers": "s:1", "consumer.x": "y"}


def test_clusters_that_connectors_name_are_looked_at(props: Props) -> None:
    connector = {"source.bootstrap.servers": "127.0.0.1:1", "connector.class": "KafkaSource"}
    findings = examine(props, [("mirror", connector)], LONG_S)
    first = next(f for f in findings if f.status is Severity.WRONG)  # what follows waits for an answer as long as it may
    assert (first.check, first.message) == (
        "cluster", "127.0.0.1:1 of source.bootstrap.servers of connector mirror: Connection refused",
    )  # fmt: skip


def test_a_connector_whose_secret_cannot_be_read_is_a_finding_and_the_next_one_is_looked_at(props: Props, tmp_path: Path) -> None:
    provider = "org.apache.kafka.common.config.provider.FileConfigProvider"
    refusing = {"connector.client.config.override.policy": "None"}
    worker = write(
        tmp_path / "w.properties", {**props, "config.providers": "file", "config.providers.file.class": provider, **refusing}
    )
    of_no_file = {"name": "secretive", "source.bootstrap.servers": "${file:/nope:x}"}
    first = write(tmp_path / "secretive.properties", of_no_file)
    # A client that cannot be made: one that can would wait for an answer as long as it may.
    plain = {"name": "plain", "source.bootstrap.servers": "127.0.0.1:1", "source.security.protocol": "NONE"}
    second = write(tmp_path / "plain.properties", plain)
    third = write(tmp_path / "refused.properties", {"name": "refused", "admin.override.bootstrap.servers": "127.0.0.1:1"})
    result = CliRunner().invoke(app, ["doctor", *map(str, (worker, first, second, third)), "--json", *PATIENT])
    assert result.exit_code == 1
    wrong = [f for f in json.loads(result.stdout)["findings"] if f["status"] == "wrong"]
    assert (wrong[0]["check"], wrong[0]["message"][:22]) == ("config", "connector secretive: C")
    assert "/nope" in wrong[0]["message"]
    assert wrong[1]["message"].startswith("127.0.0.1:1 of source.bootstrap.servers of connector plain")
    assert wrong[-1]["message"].startswith("connector refused: Client Config Overrides not allowed: The 'None' policy")


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_a_port_in_use_is_wrong(props: Props, taken: int) -> None:
    (finding,) = found({**props, "listeners": f"http://127.0.0.1:{taken}"}, "port")
    assert finding.message == f"127.0.0.1:{taken} is in use"


def test_a_host_that_is_not_this_machine_is_wrong(props: Props) -> None:
    (finding,) = found({**props, "listeners": "http://192.0.2.1:8083"}, "port")
    assert finding.message == "192.0.2.1:8083 is no address of this machine"


@pytest.mark.parametrize(
    ("change", "status", "message"),
    [
        ({"key.converter": "org.x.Nothing"}, Severity.WRONG, "Invalid value org.x.Nothing for configuration key.converter"),
        (
            {"offset.storage.replication.facto": "1"},
            Severity.WARNING,
            "nothing reads the setting 'offset.storage.replication.facto'",
        ),
        ({"spark.master": "foo"}, Severity.WRONG, "'foo' in spark.master is no master that Spark knows"),
        ({"listeners": "http://:0"}, Severity.WARNING, "ANYBODY WHO REACHES http://:0 MAY CHANGE EVERY CONNECTOR"),
        ({"group.id": ""}, Severity.WRONG, "Invalid value  for configuration group.id"),
    ],
)
def test_what_is_wrong_with_the_file_is_one_line(props: Props, change: Props, status: Severity, message: str) -> None:
    changed = {**props, **change}
    if "offset.storage.replication.facto" in change:
        del changed["offset.storage.replication.factor"]
    (finding,) = found(changed, "config")
    assert finding.status is status
    assert finding.message.startswith(message)


@pytest.mark.slow
def test_everything_that_is_wrong_with_the_file_is_said_at_once() -> None:
    every = dict.fromkeys(DistributedConfig.definition().options, "?!")
    assert len(found(every, "config")) > 20
    bad = {"key.converter": "org.x.Nothing", "offset.storage.replication.factor": "none", "listeners": "${file:/nope:x}"}
    messages = [finding.message for finding in found(bad, "config")]
    for said in ("org.x.Nothing", "replication.factor", '"group.id" which has no default'):
        assert any(said in message for message in messages)
    assert len(messages) == len(set(messages))


def test_an_old_java_and_missing_jars_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setenv("HEADRACE_HOME", str(tmp_path))
    java = machine.java()
    assert java.status is Severity.WRONG
    assert java.remedy.startswith("install it")
    (jars,) = machine.jars({})
    assert jars.message.startswith(f"the jars of spark, compiler are not in {tmp_path} yet")
    assert "`headrace jars`" in jars.remedy
    (jars,) = machine.jars({"plugin.path": "/plugins", "spark.headrace.formats": "delta"})
    assert jars.message.startswith(f"the jars of spark, compiler, connect, delta are not in {tmp_path} yet")
    assert "`headrace jars --all`" in jars.remedy and "`headrace jars bundle --all`" in jars.remedy


def test_a_cache_that_is_not_there_and_cannot_be_made_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a-file").touch()
    monkeypatch.setenv("HEADRACE_HOME", str(tmp_path / "a-file" / "home"))
    (jars,) = machine.jars({})
    assert jars.status is Severity.WRONG
    assert jars.message == f"the jars of spark, compiler are not in {tmp_path}/a-file/home, and it cannot be written"
    monkeypatch.setenv("HEADRACE_HOME", str(tmp_path / "not" / "yet"))
    (jars,) = machine.jars({})
    assert jars.status is Severity.WARNING
    assert [file.name for file in tmp_path.iterdir()] == ["a-file"]


def test_the_jars_of_plugins_and_formats_are_looked_at_where_the_worker_file_wants_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADRACE_HOME", str(tmp_path))
    for conf in ("spark", "compiler", "connect", "postgresql"):
        machine.directory(conf).mkdir(parents=True)
    (machine.directory("connect") / "connect-api.jar").write_bytes(b"cut off")
    assert all(finding.status is Severity.OK for finding in machine.jars({}))
    findings = list(machine.jars({"plugin.path": "/plugins", "spark.headrace.formats": "postgresql"}))
    assert [f.message.partition(" in ")[0] for f in findings if f.status is Severity.WRONG] == ["connect-api.jar"]
    assert sum(finding.status is Severity.OK for finding in findings) == 3


def test_a_format_that_is_none_is_wrong() -> None:
    first, *_ = machine.jars({"spark.headrace.formats": "parquett"})
    assert (first.check, first.status) == ("config", Severity.WRONG)
    assert "delta, postgresql" in first.message


def test_topics_that_the_worker_may_not_create_are_wrong_each(props: Props, destination: Cluster) -> None:
    topics = [props[f"{kind}.storage.topic"] for kind in ("config", "offset", "status")]
    destination.create(topics[2], 1, {"cleanup.policy": "compact"})
    findings = found({**props, "internal.topics.automatic.creation.enable": "false", "offset.storage.partitions": "-1"}, "topic")
    assert [finding.message.partition(" ")[0] for finding in findings] == topics[:2]
    assert findings[0].message.endswith("does not exist, and internal.topics.automatic.creation.enable is false")
    assert findings[1].remedy == "create it with 1 partition(s) and cleanup.policy=compact"


def test_a_package_of_another_version_and_one_that_is_not_installed_are_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    needed = ["pyspark==0.0.1", "no-such-package==1.2", "typer>=0.1", "no-such-tool==1; extra == 'dev'"]
    monkeypatch.setattr(machine.metadata, "requires", lambda _package: needed)
    installed = machine.metadata.version("pyspark")
    wrong = [finding for finding in machine.versions() if finding.status is Severity.WRONG]
    assert [(finding.message, finding.remedy) for finding in wrong] == [
        (f"pyspark is of version {installed}, headrace needs 0.0.1", "install pyspark==0.0.1"),
        ("no-such-package is not installed", "install no-such-package==1.2"),
    ]


def test_a_jar_that_was_cut_off_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADRACE_HOME", str(tmp_path))
    for conf in ("spark", "compiler"):
        machine.directory(conf).mkdir(parents=True)
    (machine.directory("spark") / "kafka.jar").write_bytes(b"PK\x03\x04 half of it")
    assert next(f.message for f in machine.jars({}) if f.status is Severity.WRONG).startswith("kafka.jar in ")


def write(file: Path, props: Mapping[str, str]) -> Path:
    file.write_text("".join(f"{key}={value}\n" for key, value in props.items()))
    return file


def test_the_command_ends_with_0_and_its_json_can_be_read(props: Props, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["doctor", str(write(tmp_path / "w.properties", props)), "--json", *PATIENT])
    assert result.exit_code == 0, result.output
    body = json.loads(result.stdout)
    assert set(body) == {"status", "findings"}
    assert set(body["findings"][0]) == {"check", "status", "message", "remedy"}


def test_the_command_ends_with_1_and_one_line_for_each_finding(props: Props, tmp_path: Path) -> None:
    bad = {**props, "status.storage.replication.factor": "3"}
    result = CliRunner().invoke(app, ["doctor", str(write(tmp_path / "w.properties", bad)), *PATIENT])
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert all(line.split()[0] in ("ok", "warning", "wrong") for line in lines)
    assert sum(line.startswith("wrong") for line in lines) == 1


def test_secrets_of_providers_are_in_no_line(props: Props, tmp_path: Path) -> None:
    secrets = write(tmp_path / "secrets", {"servers": "secret-host.invalid:9092"})
    more = {
        "config.providers": "file",
        "config.providers.file.class": "org.apache.kafka.common.config.provider.FileConfigProvider",
        "bootstrap.servers": f"${{file:{secrets}:servers}}",
    }
    result = CliRunner().invoke(app, ["doctor", str(write(tmp_path / "w.properties", {**props, **more})), "--timeout", "0.5"])
    assert result.exit_code == 1
    assert "secret-host" not in result.output
    assert f"${{file:{secrets}:servers}}" in result.output


@pytest.mark.slow
def test_a_problem_is_one_line_without_what_the_client_logs_of_it(tmp_path: Path) -> None:
    props = worker_properties("doctor", f"http://127.0.0.1:{free_port()}") | {
        "config.providers": "env",
        "config.providers.env.class": "org.apache.kafka.common.config.provider.EnvVarConfigProvider",
        "bootstrap.servers": "${env:SERVERS_OF_A_TEST}",
    }
    file = write(tmp_path / "w.properties", props)
    ended = headrace("doctor", str(file), "--timeout", "1", environ={"SERVERS_OF_A_TEST": "secret-name.invalid:9092"})
    assert (ended.returncode, ended.stderr) == (1, "")
    assert "secret-name" not in ended.stdout
    assert all(line.split()[0] in ("ok", "warning", "wrong") for line in ended.stdout.splitlines())


@pytest.mark.slow
def test_a_worker_that_is_configured_by_the_environment_is_looked_at() -> None:
    ended = headrace("doctor", "--from-env", environ={"CONNECT_BOOTSTRAP_SERVERS": "nothing", "CONNECT_GROUP_ID": "g"})
    assert ended.returncode == 1
    assert 'wrong    config   Missing required configuration "config.storage.topic"' in ended.stdout


def test_a_connector_is_not_taken_for_the_worker_file(tmp_path: Path) -> None:
    connector = {"name": "c", "connector.class": "FileStreamSink", "topics": "t", "file": "f"}
    settings = write(tmp_path / "c.properties", connector)
    (tmp_path / "c.json").write_text(json.dumps(connector))
    for file in (settings, tmp_path / "c.json"):
        refused = CliRunner().invoke(app, ["doctor", str(file)])
        assert (refused.exit_code, "name a worker file" in refused.output) == (2, True)
    nameless = write(tmp_path / "nameless.properties", {"connector.class": "FileStreamSink"})
    ended = CliRunner().invoke(app, ["doctor", "--from-env", str(nameless)], env={"CONNECT_GROUP_ID": "g"})
    assert str(ended.exception) == f"Connector file {nameless} has no `name`."


def test_a_secret_is_found_as_it_is_before_its_blanks_are_changed() -> None:
    remember("of two  blanks", "${file:x:y}")
    assert wrong("cluster", "'of two  blanks' is not\nhost:port", "").line() == "wrong    cluster  '${file:x:y}' is not host:port"


def test_a_secret_is_found_before_a_sentence_is_taken_apart() -> None:
    remember("secret. of two sentences", "${file:x:z}")
    admin, finding = clusters.login({"bootstrap.servers": "secret. of two sentences"}, "bootstrap.servers", 0.5)
    assert admin is None
    assert finding.message.startswith("Could not reach the Kafka cluster at '${file:x:z}' within 0.5 s")
    assert "of two sentences" not in finding.line()
