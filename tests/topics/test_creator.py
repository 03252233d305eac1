"""On real brokers: what becomes of the topics, and what is said about it."""

import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._acl import AclBinding, AclOperation, AclPermissionType
from confluent_kafka.admin._resource import ResourcePatternType, ResourceType

from headrace.connectors.mirror.admin import MirrorAdmin
from headrace.connectors.topic_settings import TopicSettings
from headrace.embedded import Broker
from headrace.embedded.ports import free_port
from headrace.errors import ConnectError, RetriableError
from headrace.kafka.admin import Admin
from headrace.kafka.topic_info import TopicInfo
from headrace.spark.destination_topic import look_up_to_write
from headrace.topics.creation import topic_creation
from headrace.topics.creator import TopicCreator
from headrace.topics.planning import SettingsForNewTopic
from tests.support import about, captured_logs, wait_until

ONE = {"topic.creation.default.partitions": "2", "topic.creation.default.replication.factor": "1"}


def creator_at(
    bootstrap: str,
    props: dict[str, str],
    security: Mapping[str, str] = MappingProxyType({}),
    timeout_s: float = 120,
    hook: SettingsForNewTopic | None = None,
) -> TopicCreator:
    client = {"bootstrap.servers": bootstrap, "default.api.timeout.ms": str(int(timeout_s * 1000)), **security}
    return TopicCreator(Admin(client), topic_creation(props), threading.Event(), client, hook)


@pytest.fixture
def topic(topic_name) -> str:
    return topic_name("created")


@pytest.fixture
def creator(destination_broker):
    return lambda props=ONE: creator_at(destination_broker.bootstrap, props)


@pytest.fixture
def admin(destination_broker) -> Admin:
    return Admin({"bootstrap.servers": destination_broker.bootstrap})


@pytest.fixture
def logs(topic: str) -> Iterator[list]:
    with captured_logs(about(topic)) as captured:
        yield captured


def lines(logs, *levels: str) -> list[str]:
    return [entry["event"] for entry in logs if entry["log_level"] in (levels or ("info", "warning"))]


class TestWithRules:
    def test_a_missing_topic_is_created_with_the_settings_of_its_group(self, creator, admin, topic, logs, destination_broker):
        props = {**ONE, "topic.creation.groups": "g", "topic.creation.g.include": "created-.*"}
        creator({**props, "topic.creation.g.partitions": "3", "topic.creation.g.retention.ms": "12345"}).ensure([topic])
        info = admin.describe(topic)
        assert (len(info.partitions), info.replication_factor) == (3, 1)
        assert admin.topic_configs(topic, own_only=True) == {"retention.ms": "12345"}
        plan = f"(name={topic}, numPartitions=3, replicationFactor=1, replicasAssignments=null, configs={{retention.ms=12345}})"
        group = (
            "TopicCreationGroup{name='g', inclusionPattern=created-.*, exclusionPattern=, numPartitions=3, replicationFactor=1, "
            "otherConfigs={retention.ms=12345}}"
        )
        assert lines(logs) == [
            f"The task will send records to topic '{topic}' for the first time. Checking whether topic exists",
            f"Creating topic '{topic}'",
            f"Created topic {plan} on brokers at {destination_broker.bootstrap}",
            f"Created topic '{plan}' using creation group {group}",
        ]
        assert f"Topic '{topic}' matched topic creation group: {group}" in lines(logs, "debug")

    def test_the_connector_may_change_them(self, destination_broker, admin, topic):
        def compacted(settings: TopicSettings, cluster_size: int) -> TopicSettings:
            assert (settings.name, settings.partitions, cluster_size) == (topic, 2, 1)
            return replace(settings, partitions=4).with_configs({"cleanup.policy": "compact"})

        creator_at(destination_broker.bootstrap, {**ONE, "topic.creation.default.retention.ms": "7"}, hook=compacted).ensure(
            [topic]
        )
        assert len(admin.describe(topic).partitions) == 4
        assert admin.topic_configs(topic, own_only=True) == {"retention.ms": "7", "cleanup.policy": "compact"}

    def test_the_connector_may_leave_a_topic_to_the_broker(self, destination_broker, admin, topic, logs):
        creator = creator_at(destination_broker.bootstrap, ONE, hook=lambda settings, cluster_size: None)
        admin.create(topic, 1, 1, {})
        creator.ensure([topic])  # it is there: nobody is asked
        assert creator.renew([f"{topic}-other"], create=True) == set()
        assert [(e["topic"], e["why"]) for e in logs if e["event"] == "topic.not-created"] == [
            (f"{topic}-other", "the connector does not want it (settings_for_new_topic)")
        ]

    def test_what_the_connector_answers_has_to_be_possible(self, destination_broker, topic):
        wrong = creator_at(
            destination_broker.bootstrap, ONE, hook=lambda settings, size: replace(settings, partitions=0, name="x")
        )
        with pytest.raises(ConnectError, match=f"answered the partitions 0 and the name 'x' for the new topic '{topic}'"):
            wrong.ensure([topic])

    def test_minus_one_takes_the_numbers_of_the_broker(self, creator, admin, topic):
        creator(dict.fromkeys(ONE, "-1")).ensure([topic])
        assert (len(admin.describe(topic).partitions), admin.describe(topic).replication_factor) == (1, 1)

    def test_an_existing_topic_is_left_alone(self, creator, admin, topic, logs):
        admin.create(topic, 1, 1, {"retention.ms": "5000"})
        creator({**ONE, "topic.creation.default.cleanup.policy": "compact"}).ensure([topic])
        assert len(admin.describe(topic).partitions) == 1
        assert admin.topic_configs(topic, own_only=True) == {"retention.ms": "5000"}
        assert lines(logs)[-1] == f"Topic '{topic}' already exists."

    def test_a_known_topic_is_not_looked_for_again_even_if_it_is_deleted(self, creator, admin, topic, logs):
        task = creator()
        task.ensure([topic])
        admin.delete([topic])
        before = len(lines(logs))
        task.ensure([topic])
        assert admin.describe(topic) is None
        assert len(lines(logs)) == before
        assert lines(logs, "debug")[-1].startswith("Topic creation by the connector is disabled or the topic")
        creator().ensure([topic])
        assert admin.describe(topic) is not None

    def test_a_copy_that_is_gone_is_made_again_and_one_that_is_there_is_not(self, creator, admin, topic, topic_name, logs):
        task, there = creator(), topic_name("there")
        task.ensure([topic, there])
        admin.delete([topic])
        before = len(lines(logs))
        assert task.renew([topic, there], create=True) == {topic}
        assert len(admin.describe(topic).partitions) == 2
        assert lines(logs)[before:] == [
            f"Topic '{topic}' was deleted while it is written to. It is created again, without what was in it"
        ]
        assert task.renew([topic, there], create=True) == set()

    def test_a_topic_that_is_gone_is_told_of_once_where_it_may_not_be_made_again(self, creator, admin, topic, logs):
        task = creator()
        task.ensure([topic])
        admin.delete([topic])
        before = len(lines(logs))
        for _ in range(2):
            assert task.renew([topic], create=False) == set()
        assert admin.describe(topic) is None
        assert lines(logs)[before:] == [f"Topic '{topic}' was deleted while it is written to; waiting until it exists"]

    def test_of_two_tasks_at_once_one_creates_and_both_go_on(self, creator, admin, topic, logs):
        names = [f"{topic}-{number}" for number in range(10)]
        tasks = [creator({**ONE, "topic.creation.default.partitions": n}) for n in ("2", "3")]
        start, failures = threading.Barrier(len(tasks)), []

        def run(task: TopicCreator) -> None:
            try:
                for name in names:
                    start.wait(240)
                    task.ensure([name])
            except BaseException as error:
                failures.append(error)
                start.abort()

        threads = [threading.Thread(target=run, args=(task,)) for task in tasks]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(240)
        assert not failures
        created = [line for line in lines(logs) if line.startswith("Created topic '")]
        assert len(created) == len(names)
        assert all(len(admin.describe(name).partitions) in (2, 3) for name in names)

    def test_a_topic_that_somebody_makes_between_looking_and_creating_is_taken(self, destination_broker, topic, logs):
        class Overtaken(Admin):
            def describe(self, name: str, timeout_s: float = 30) -> TopicInfo | None:
                found = super().describe(name, timeout_s)
                self.create(name, 1, 1)
                return found

        client = {"bootstrap.servers": destination_broker.bootstrap}
        TopicCreator(Overtaken(client), topic_creation(ONE), threading.Event(), client).ensure([topic])
        assert lines(logs)[-1] == f"Found existing topic '{topic}'"
        assert f"Found existing topic '{topic}' on the brokers at {destination_broker.bootstrap}" in lines(logs, "debug")

    @pytest.mark.parametrize(
        ("change", "cause"),
        [
            (
                {"topic.creation.default.replication.factor": "3"},
                "Unable to replicate the partition 3 time(s): The target replication factor of 3 cannot be reached because only "
                "1 broker(s) are registered or some brokers have all their log directories cordoned.",
            ),
            (
                {"topic.creation.default.cleanup.policy": "shred"},
                "Invalid value shred for configuration cleanup.policy: String must be one of: compact, delete",
            ),
            ({"topic.creation.default.no.such.key": "1"}, "Unknown topic config name: no.such.key"),
        ],
    )
    def test_an_impossible_topic_ends_the_task_in_the_words_of_the_broker(self, creator, admin, topic, change, cause):
        with pytest.raises(ConnectError) as error:
            creator({**ONE, **change}).ensure([topic])
        assert str(error.value) == f"Unable to create topic(s) '{topic}': {cause}"
        assert type(error.value) is ConnectError
        assert admin.describe(topic) is None

    @pytest.mark.parametrize("name", ["bad name!", "z" * 250])
    def test_an_illegal_name_ends_the_task(self, creator, name):
        with pytest.raises(ConnectError) as error:
            creator().ensure([name])
        assert str(error.value) == f"Error while attempting to describe topics '{name}'"
        assert str(error.value.__cause__) == "The request attempted to perform an operation on an invalid topic."
        with pytest.raises(ConnectError, match=f"^Could not initialize dead letter queue with topic={name}$"):
            creator().ensure_dead_letters(name, 1)

    def test_without_rules_an_illegal_name_is_a_refusal_of_its_records(self, admin):
        with pytest.raises(ConnectError) as error:
            look_up_to_write(admin, "bad name!", threading.Event())
        assert str(error.value).startswith("Unrecoverable exception from producer send callback for the records of bad name!: ")
        assert type(error.value) is ConnectError

    def test_a_silent_cluster_is_worth_another_try(self):
        with pytest.raises(RetriableError) as error:
            creator_at(f"127.0.0.1:{free_port()}", ONE, timeout_s=1).ensure(["t"])
        assert str(error.value) == "Timed out while describing topics 't'"
        with pytest.raises(RetriableError, match="Timed out while describing topics 'd'"):
            creator_at(f"127.0.0.1:{free_port()}", ONE, timeout_s=1).ensure_dead_letters("d", 1)

    def test_a_refusal_is_forgotten_when_the_topic_has_been_made_by_hand(self, creator, admin, topic):
        task = creator({**ONE, "topic.creation.default.replication.factor": "3"})
        with pytest.raises(ConnectError):
            task.ensure([topic])
        admin.create(topic, 1, 1)
        task.ensure([topic])


@pytest.fixture(scope="module")
def secured() -> Iterator[tuple[Broker, str]]:
    """A broker with a second listener on which users have to log in and have only the rights that they were given."""
    host, port, control, guarded = "127.0.0.1", free_port(), free_port(), free_port()
    settings = {
        "listeners": f"PLAINTEXT://{host}:{port},CONTROLLER://{host}:{control},SASL_PLAINTEXT://{host}:{guarded}",
        "advertised.listeners": f"PLAINTEXT://{host}:{port},SASL_PLAINTEXT://{host}:{guarded}",
        "controller.quorum.voters": f"1@{host}:{control}",
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.sasl_plaintext.plain.sasl.jaas.config": (
            "org.apache.kafka.common.security.plain.PlainLoginModule required "
            'user_stranger="secret" user_reader="secret" user_maker="secret";'
        ),
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
    }
    with Broker(port, settings=settings, name="secured") as broker:
        rights = [("reader", AclOperation.DESCRIBE), ("maker", AclOperation.DESCRIBE), ("maker", AclOperation.CREATE)]
        acls = [
            AclBinding(ResourceType.TOPIC, "*", ResourcePatternType.LITERAL, f"User:{u}", "*", o, AclPermissionType.ALLOW)
            for u, o in rights
        ]
        client = AdminClient({"bootstrap.servers": broker.bootstrap})
        for future in client.create_acls(acls).values():
            future.result(180)
        known = MirrorAdmin({"bootstrap.servers": broker.bootstrap}).topic_acls  # the controller has them a little earlier
        wait_until(lambda: len(known()) == len(acls), 180, "the broker has the ACLs")
        yield broker, f"{host}:{guarded}"


def log_in(user: str) -> dict[str, str]:
    module = "org.apache.kafka.common.security.plain.PlainLoginModule"
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": f'{module} required username="{user}" password="secret";',
    }


class TestPermissions:
    def test_who_may_not_even_look_is_told_so(self, secured, topic):
        _, bootstrap = secured
        with pytest.raises(ConnectError) as error:
            creator_at(bootstrap, ONE, log_in("stranger")).ensure([topic])
        assert str(error.value) == f"Not authorized to describe topic(s) '{topic}' on the brokers {bootstrap}"

    def test_who_may_look_but_not_create_is_told_what_to_do(self, secured, topic, logs):
        broker, bootstrap = secured
        with pytest.raises(ConnectError) as error:
            creator_at(bootstrap, ONE, log_in("reader")).ensure([topic])
        assert str(error.value) == (
            f"Task failed to create new topic (name={topic}, numPartitions=2, replicationFactor=1, replicasAssignments=null, "
            "configs={}). Ensure that the task is authorized to create topics or that the topic exists and restart the task"
        )
        assert lines(logs, "warning") == [f"Request to create new topic '{topic}' failed"]
        assert any("Falling back to assume topic(s) exist" in line for line in lines(logs, "debug"))
        assert Admin({"bootstrap.servers": broker.bootstrap}).describe(topic) is None

    def test_who_may_create_does(self, secured, topic):
        broker, bootstrap = secured
        creator_at(bootstrap, ONE, log_in("maker")).ensure([topic])
        assert Admin({"bootstrap.servers": broker.bootstrap}).describe(topic) is not None

    def test_without_rules_a_refusal_is_left_to_the_write(self, secured, topic):
        _, bootstrap = secured
        creator_at(bootstrap, {}, log_in("stranger")).ensure([topic])
