"""The entrypoint of the image as a process: settings in variables, a real broker, REST, and a signal that ends it."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import httpx

from headrace.embedded import Broker
from headrace.embedded.ports import free_port
from headrace.jvm.jars import home
from tests.clusters import Cluster
from tests.process import WorkerProcess
from tests.support import QUICK_JVM, wait_until

MANY = {f"CONNECT_PRODUCER_OVERRIDE_SETTING_{n}": str(n) for n in range(20)} | {
    "CONNECT_TOPIC_CREATION_ENABLE": "true", "CONNECT_TOPIC_TRACKING_ENABLE": "true",
    "CONNECT_TASK_SHUTDOWN_GRACEFUL_TIMEOUT_MS": "5000", "CONNECT_OFFSET_FLUSH_INTERVAL_MS": "10000",
    "CONNECT_OFFSET_FLUSH_TIMEOUT_MS": "5000", "CONNECT_CONNECTOR_CLIENT_CONFIG_OVERRIDE_POLICY": "All",
    "CONNECT_KEY_CONVERTER_SCHEMAS_ENABLE": "false", "CONNECT_VALUE_CONVERTER_SCHEMAS_ENABLE": "false",
    "CONNECT_CONFIG_PROVIDERS": "env", "CONNECT_LOG4J_ROOT_LOGLEVEL": "WARN", "CONNECT_LOG4J_LOGGERS": "org.reflections=ERROR",
    "CONNECT_CONFIG_PROVIDERS_ENV_CLASS": "org.apache.kafka.common.config.provider.EnvVarConfigProvider",
    "CONNECT_METRICS_NUM_SAMPLES": "3", "CONNECT_METRICS_SAMPLE_WINDOW_MS": "10000", "CONNECT_SESSION_TIMEOUT_MS": "60000",
    "CONNECT_HEARTBEAT_INTERVAL_MS": "3000", "CONNECT_REBALANCE_TIMEOUT_MS": "60000",
    "CONNECT_REST_ADVERTISED_HOST_NAME": "localhost", "CONNECT_SERVICE_HOST": "10.0.0.1", "CONNECT_PORT": "tcp://10.0.0.1:8083",
}  # fmt: skip


def environment(broker: Broker, group: str) -> dict[str, str]:
    converter = "org.apache.kafka.connect.json.JsonConverter"
    kinds = ("CONFIG", "OFFSET", "STATUS")
    topics = {f"CONNECT_{kind}_STORAGE_TOPIC": f"{group}-{kind.lower()}" for kind in kinds}
    factors = {f"CONNECT_{kind}_STORAGE_REPLICATION_FACTOR": "1" for kind in kinds}
    return {
        **MANY, **topics, **factors,
        "CONNECT_BOOTSTRAP_SERVERS": broker.bootstrap, "CONNECT_GROUP_ID": group,
        "CONNECT_LISTENERS": f"http://127.0.0.1:{free_port()}",
        "CONNECT_KEY_CONVERTER": converter, "CONNECT_VALUE_CONVERTER": converter,
        "HEADRACE_PROPERTIES": f"spark.driver.extraJavaOptions={QUICK_JVM}",
    }  # fmt: skip


def read_only_home(made: Path) -> Path:
    """The jars of this machine in a directory where the scan of `plugin.path` cannot be kept, as in the image."""
    made.mkdir()
    for child in home().iterdir():
        if child.name != "plugins":
            (made / child.name).symlink_to(child)
    (made / "plugins").touch()  # not even root can make a directory of it
    return made


def test_a_worker_configured_by_fifty_variables_runs_and_ends_in_good_order(
    destination_broker: Broker, destination: Cluster, topic_name: Callable[[str], str], tmp_path: Path
) -> None:
    group = topic_name("env")
    (tmp_path / "plugins" / "one").mkdir(parents=True)
    environ = environment(destination_broker, group) | {"CONNECT_PLUGIN_PATH": str(tmp_path / "plugins")}
    environ["HEADRACE_HOME"] = str(read_only_home(tmp_path / "home"))
    assert len(environ) >= 50
    with WorkerProcess(tmp_path, {}, environ) as worker:
        worker.await_ready()
        assert worker.call("GET", "/")["kafka_cluster_id"]
        healthy = lambda: httpx.get(worker.url + "/health", timeout=100).json()["status"] == "healthy"  # noqa: E731
        wait_until(healthy, 180, "a request that the worker has taken within ten seconds")
        assert f"{group}-config" in destination.admin.topics()
        assert " [info" not in worker.errors  # the level of the image's variable
        worker.process.send_signal(signal.SIGTERM)
        assert worker.process.wait(180) == 0
