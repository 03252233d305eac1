"""Without rules, on real brokers: who creates the topic, and how the task waits for it."""

import threading
from collections.abc import Callable, Iterator

import pytest
from confluent_kafka import KafkaError

from headrace.embedded import Broker
from headrace.embedded.ports import free_port
from headrace.errors import RetriableError
from headrace.kafka.admin import Admin
from headrace.kafka.failures import failure
from headrace.topics import waiting as topic_waiting
from headrace.topics.creation import topic_creation
from headrace.topics.creator import TopicCreator
from headrace.topics.waiting import TopicWaiter, problem
from tests.support import about, captured_logs, wait_until


@pytest.fixture
def topic(topic_name) -> str:
    return topic_name("awaited")


@pytest.fixture
def logs(topic: str) -> Iterator[list]:
    with captured_logs(about(topic)) as captured:
        yield captured


def waits_in(logs) -> list[str]:
    return [entry["event"] for entry in logs if entry["log_level"] == "warning"]


class Waiting:
    """A wait on a thread of its own."""

    def __init__(self, wait: Callable[[str], None], topic: str) -> None:
        self.error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, args=(wait, topic))
        self._thread.start()

    def _run(self, wait: Callable[[str], None], topic: str) -> None:
        try:
            wait(topic)
        except BaseException as error:
            self.error = error

    def ended(self, timeout_s: float = 120) -> bool:
        self._thread.join(timeout_s)
        return not self._thread.is_alive()


def test_a_topic_that_somebody_creates_ends_the_wait(destination_broker, topic, logs):
    client = {"bootstrap.servers": destination_broker.bootstrap}
    waiting = Waiting(TopicWaiter(client, threading.Event(), clock=lambda: 0.0).wait_for, topic)  # one warning, however long
    wait_until(lambda: waits_in(logs), 120, "the warning")
    assert not waiting.ended(1.2)
    Admin(client).create(topic, 1, 1)
    assert waiting.ended()
    assert waiting.error is None
    (warning,) = waits_in(logs)
    assert warning.startswith(f"There is no topic '{topic}' on the brokers at '{destination_broker.bootstrap}', which do not ")
    assert warning.endswith(f"; waiting until topic '{topic}' exists")
    assert logs[-1]["event"] == f"Topic '{topic}' exists now."


def test_a_task_that_is_stopped_stops_waiting(destination_broker, topic, logs):
    stopping = threading.Event()
    waiting = Waiting(TopicWaiter({"bootstrap.servers": destination_broker.bootstrap}, stopping).wait_for, topic)
    wait_until(lambda: waits_in(logs), 120, "the warning")
    stopping.set()
    assert waiting.ended()
    assert isinstance(waiting.error, RetriableError)
    assert str(waiting.error) == f"The task was stopped before topic '{topic}' existed."


def test_the_warning_comes_again_every_minute(destination_broker, topic, logs, monkeypatch):
    monkeypatch.setattr(topic_waiting, "LOOK_S", 0.05)
    minutes, stopping = iter(range(1000)), threading.Event()
    waiter = TopicWaiter({"bootstrap.servers": destination_broker.bootstrap}, stopping, clock=lambda: next(minutes) * 20.0)
    waiting = Waiting(waiter.wait_for, topic)
    wait_until(lambda: len(waits_in(logs)) >= 3, 120, "three warnings")
    stopping.set()
    assert waiting.ended()
    assert next(minutes) > 3 * (len(waits_in(logs)) - 1), "one of three looks"


def test_the_warning_says_why_the_connector_does_not_create_the_topic(destination_broker, topic, logs):
    client, stopping = {"bootstrap.servers": destination_broker.bootstrap}, threading.Event()
    rules = topic_creation({"topic.creation": "a", "topic.creation.a.regex": "x"})
    creator = TopicCreator(Admin(client), rules, stopping, client)
    waiting = Waiting(lambda name: creator.ensure([name]), topic)
    wait_until(lambda: waits_in(logs), 120, "the warning")
    stopping.set()
    assert waiting.ended()
    assert waits_in(logs)[0].endswith(
        f" (auto.create.topics.enable), and no rule of topic.creation matches its name; waiting until topic '{topic}' exists"
    )


def test_an_existing_topic_needs_no_wait(destination_broker, topic, logs):
    client = {"bootstrap.servers": destination_broker.bootstrap}
    Admin(client).create(topic, 1, 1)
    TopicCreator(Admin(client), None, threading.Event(), client).ensure([topic])
    assert not waits_in(logs)


@pytest.mark.parametrize(("code", "beginning"), [
    (KafkaError.INVALID_REPLICATION_FACTOR, "The brokers at 'b:1' could not create topic 't' on their own: Replication factor"),
    (KafkaError.UNKNOWN_TOPIC_OR_PART, "There is no topic 't' on the brokers at 'b:1', which do not create it on their own"),
    (KafkaError.TOPIC_AUTHORIZATION_FAILED, ""),
])  # fmt: skip
def test_a_topic_that_does_not_exist_yet_is_told_from_one_that_may_not_be_described(code, beginning):
    found = problem("t", failure(KafkaError(code)), "b:1", "nobody makes it")
    assert (found or "").startswith(beginning) and bool(found) == bool(beginning)


@pytest.mark.slow
def test_a_cluster_that_is_away_is_waited_for(topic, logs, monkeypatch):
    monkeypatch.setattr(topic_waiting, "_REQUEST_TIMEOUT_S", 1.0)
    stopping, bootstrap = threading.Event(), f"127.0.0.1:{free_port()}"
    waiting = Waiting(TopicWaiter({"bootstrap.servers": bootstrap}, stopping).wait_for, topic)
    wait_until(lambda: waits_in(logs), 120, "the warning")
    stopping.set()
    assert waiting.ended()
    assert waits_in(logs)[0].startswith(f"The Kafka cluster at '{bootstrap}' does not answer (")


@pytest.mark.slow
def test_a_broker_that_creates_topics_is_made_to(topic, logs):
    settings = {"auto.create.topics.enable": "true", "num.partitions": "3"}
    with Broker(settings=settings, name="auto-create") as broker:
        client = {"bootstrap.servers": broker.bootstrap}
        TopicCreator(Admin(client), None, threading.Event(), client).ensure([topic])
        wait_until(lambda: topic in (found := Admin(client).topics()) and len(found[topic].partitions) == 3, 120, "3 partitions")
