import threading

import pytest

from headrace import plugins
from headrace.connectors.base import ConnectorContext
from headrace.connectors.kafka_source.assignment import decode
from headrace.connectors.kafka_source.connector import KafkaSourceConnector
from headrace.connectors.kafka_source.monitor import TIMEOUT
from headrace.embedded.ports import free_port
from headrace.errors import ConfigError, ConnectError
from headrace.kafka.admin import Admin
from tests.support import captured_logs, wait_until


class Run:
    """A connector as a worker runs it."""

    def __init__(self, props: dict[str, str]) -> None:
        self.reconfigure = threading.Event()
        context = ConnectorContext("mirror", self.reconfigure.set, lambda _: None)
        self.connector = KafkaSourceConnector(context)
        try:
            self.connector.start({"name": "mirror", **props})
        except BaseException:
            self.connector.stop()
            raise

    def __enter__(self) -> "Run":
        return self

    def __exit__(self, *_: object) -> None:
        self.connector.stop()

    def tasks(self, count: int) -> list[list[str]]:
        configs = self.connector.task_configs(count)
        return [[f"{p.topic}-{p.partition}" for p in decode(c["task.leader.topic.partitions"])] for c in configs]


@pytest.fixture
def props(source_broker) -> dict[str, str]:
    return {"source.bootstrap.servers": source_broker.bootstrap, "topic.list.poll.interval.ms": "200"}


@pytest.fixture
def admin(source_broker) -> Admin:
    return Admin({"bootstrap.servers": source_broker.bootstrap})


@pytest.mark.parametrize(
    "name",
    [
        "KafkaSourceConnector",
        "KafkaSource",
        "org.apache.kafka.connect.kafka.KafkaSourceConnector",
        "com.comcast.kafka.connect.kafka.KafkaSourceConnector",
    ],
)
def test_it_is_found_by_its_names(name):
    assert plugins.find(name, plugins.Kind.SOURCE) is KafkaSourceConnector


def test_partitions_are_dealt_to_as_many_tasks_as_there_may_be(props, admin, topic_name):
    topic = topic_name("dealt")
    admin.create(topic, 3, 1)
    with Run({**props, "source.topic.whitelist": topic}) as run:
        assert run.tasks(1) == [[f"{topic}-0", f"{topic}-1", f"{topic}-2"]]
        assert run.tasks(2) == [[f"{topic}-0", f"{topic}-1"], [f"{topic}-2"]]
        assert run.tasks(10) == [[f"{topic}-0"], [f"{topic}-1"], [f"{topic}-2"]]


def test_a_task_gets_the_configuration_of_the_connector(props, admin, topic_name):
    topic = topic_name("given")
    admin.create(topic, 1, 1)
    given = {**props, "source.topic.whitelist": topic, "destination.topics.prefix": "aggregate."}
    with Run(given) as run:
        (config,) = run.connector.task_configs(1)
    assert config.pop("task.leader.topic.partitions") == f"1:{topic}:0"
    assert config == {"name": "mirror", **given}


def test_without_partitions_there_are_no_tasks(props, topic_name):
    with captured_logs() as logs, Run({**props, "source.topic.whitelist": topic_name("none")}) as run:
        assert run.connector.task_configs(3) == []
    assert "No tasks to start." in [entry["event"] for entry in logs]


def test_leaders_are_watched_and_the_end_is_waited_for_as_configured(props, topic_name):
    whitelist = {"source.topic.whitelist": topic_name("none")}
    for leaders in ("true", "false"):
        changes = {"reconfigure.tasks.on.leader.change": leaders, "max.shutdown.wait.ms": "7000"}
        with Run({**props, **whitelist, **changes}) as run:
            assert run.connector._monitor and run.connector._monitor._watch.leaders == (leaders == "true")
            assert run.connector._shutdown_wait_s == 7


def test_a_new_topic_asks_for_new_tasks(props, admin, topic_name):
    prefix = topic_name("grows")
    with Run({**props, "source.topic.whitelist": f"{prefix}.*"}) as run:
        assert run.tasks(3) == []
        admin.create(f"{prefix}-1", 1, 1)
        assert run.reconfigure.wait(120)
        assert run.tasks(3) == [[f"{prefix}-1-0"]]


def test_a_cluster_that_is_not_there_fails_the_connector(props):
    away = {"source.bootstrap.servers": f"127.0.0.1:{free_port()}", "topic.list.timeout.ms": "1000"}
    with pytest.raises(ConnectError) as error:
        Run({**props, **away, "source.topic.whitelist": ".*"})
    assert str(error.value) == TIMEOUT


def test_a_bad_configuration_fails_the_connector(props):
    with pytest.raises(ConfigError, match=r"\( is an invalid regex for config source.topic.whitelist"):
        Run({**props, "source.topic.whitelist": "("})


def test_the_thread_ends_with_the_connector(props, topic_name):
    before = set(threading.enumerate())
    with Run({**props, "source.topic.whitelist": topic_name("ends")}):
        monitors = [t for t in set(threading.enumerate()) - before if t.name == "partition-monitor"]
        assert len(monitors) == 1
    wait_until(lambda: not monitors[0].is_alive(), 120, "the end of the thread")
