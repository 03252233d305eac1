"""KIP-698's decision table, row by row, on a real broker."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from confluent_kafka import KafkaError
from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource

from headrace.embedded import Broker
from headrace.errors import (
    ArgumentError,
    ConfigError,
    InternalTopicsAlreadySetupError,
    MisconfiguredInternalTopicError,
    MissingInternalTopicsError,
    MissingSourceTopicError,
    RetriableError,
    StreamsError,
    StreamsTimeoutError,
    TopologyError,
)
from headrace.kafka import clients
from headrace.kafka.admin import DEFAULT_TIMEOUT_S, Admin
from headrace.kafka.failures import failure
from headrace.kafka.topic_info import TopicInfo
from headrace.streams import InitParameters, KafkaStreams, Materialized, StreamsBuilder, TimeWindows
from headrace.streams.initialization import describe_internal_topics, initialize, prepare_for_start
from headrace.streams.internal_topics import InternalTopic, TopicKind
from headrace.streams.topic_monitor import TopicMonitor
from headrace.streams.topic_setup import create_topics
from tests.support import wait_until

ENABLED = InitParameters.init_parameters().enable_setup_internal_topics_if_incomplete()


@dataclass(frozen=True)
class Application:
    """Counts words, in windows as well, behind a new key."""

    id: str
    bootstrap: str
    admin: Admin

    @property
    def source(self) -> str:
        return f"{self.id}-words"

    def streams(self, **config: str) -> KafkaStreams:
        builder = StreamsBuilder()
        grouped = builder.stream(self.source).group_by(lambda key, value: value)
        grouped.count(Materialized.as_("counts"))
        windows = TimeWindows.of_size_with_no_grace(timedelta(minutes=1))
        grouped.windowed_by(windows).count(Materialized.as_("windows"))
        settings = {key.replace("_", "."): value for key, value in config.items()}
        return KafkaStreams(builder.build(), {"application.id": self.id, "bootstrap.servers": self.bootstrap, **settings})

    @property
    def names(self) -> list[str]:
        ends = ("counts-changelog", "counts-repartition", "windows-changelog", "windows-repartition")
        return [f"{self.id}-{end}" for end in ends]

    def present(self) -> list[str]:
        return sorted(name for name in self.admin.topics() if name.startswith(f"{self.id}-") and name != self.source)

    def alter(self, topic: str, key: str, value: str) -> None:
        entry = ConfigEntry(key, value, incremental_operation=AlterConfigOpType.SET)
        client = clients.admin({"bootstrap.servers": self.bootstrap})
        for future in client.incremental_alter_configs(
            [ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=[entry])]
        ).values():
            future.result(120)
        wait_until(lambda: self.admin.topic_configs(topic)[key] == value, 120, f"{key}={value} of {topic}")


class AdminDuringDeletions(Admin):
    """Answers as brokers do while topics are deleted, of which they still list some, and others have no leader for a moment.

    answers: errors for the settings of topics; absent: topics that do not exist when they are described next.
    """

    def __init__(self, app: Application, answers: dict[str, list[int]], absent: Iterable[str]) -> None:
        super().__init__({"bootstrap.servers": app.bootstrap})
        self._answers, self._absent = answers, list(absent)

    def describe(self, name: str, timeout_s: float = DEFAULT_TIMEOUT_S) -> TopicInfo | None:
        if name in self._absent:
            self._absent.remove(name)
            return None
        return super().describe(name, timeout_s)

    def topic_configs(self, name: str, **how: Any) -> dict[str, str | None]:
        if answers := self._answers.get(name):
            raise failure(KafkaError(answers.pop(0)))
        return super().topic_configs(name, **how)


class Work:
    """The engine of an active instance, which notes the topics that were created again."""

    def __init__(self) -> None:
        self.recreated: list[frozenset[str]] = []

    def use_recreated_topics(self, topics: frozenset[str], create: Callable[[], None]) -> set[str]:
        create()
        self.recreated.append(topics)
        return set()

    def refill_changelogs(self) -> None:
        pass


@pytest.fixture(scope="module")
def admin(destination_broker: Broker) -> Admin:
    return Admin({"bootstrap.servers": destination_broker.bootstrap})


@pytest.fixture
def app(destination_broker: Broker, admin: Admin, topic_name: Callable[[str], str]) -> Application:
    app = Application(topic_name("app"), destination_broker.bootstrap, admin)
    admin.create(app.source, 3, 1)
    return app


def test_all_internal_topics_are_created_with_the_partitions_and_settings_that_were_derived(app: Application):
    created = app.streams().init()
    assert [topic.name for topic in created] == app.present() == app.names
    assert (app.admin.group_members(app.id), app.admin.committed(app.id)) == ([], {})
    assert {len(app.admin.topics()[name].partitions) for name in app.names} == {3}
    configs = app.admin.topic_configs(f"{app.id}-windows-changelog", own_only=True)
    assert configs["cleanup.policy"] == "compact,delete"
    assert configs["retention.ms"] == str(60_000 + 86_400_000)
    assert app.admin.topic_configs(f"{app.id}-counts-repartition", own_only=True)["retention.ms"] == "-1"
    app.streams().verify()


def test_a_second_init_is_refused_even_if_setup_is_enabled(app: Application):
    app.streams().init()
    for options in ((), (ENABLED,)):
        with pytest.raises(InternalTopicsAlreadySetupError, match="already exist: the application has been initialized before"):
            app.streams().init(*options)


def test_an_incomplete_set_is_refused_and_nothing_is_created(app: Application):
    app.streams().init()
    app.admin.delete([app.names[0], app.names[1]])
    with pytest.raises(MissingInternalTopicsError, match="Some but not all internal topics are missing") as refused:
        app.streams().init()
    assert refused.value.topics == app.names[:2]
    assert app.present() == app.names[2:]


def test_an_incomplete_set_is_completed_if_setup_is_enabled(app: Application):
    app.streams().init()
    app.admin.delete([app.names[0]])
    assert [topic.name for topic in app.streams().init(ENABLED, timedelta(seconds=60))] == app.names[:1]
    assert app.present() == app.names


def test_a_missing_source_topic_comes_before_everything_else(app: Application):
    app.streams().init()
    app.alter(app.names[0], "cleanup.policy", "delete")
    app.admin.delete([app.source])
    with pytest.raises(MissingSourceTopicError, match=f"Missing source topics: {app.source}") as refused:
        app.streams().init(ENABLED)
    assert refused.value.topics == [app.source]


def test_missing_topics_of_streams_and_of_global_tables_are_named_at_once(app: Application):
    missing = [f"{app.id}-{name}" for name in ("global", "stream")]
    builder = StreamsBuilder()
    builder.stream(missing[1]).group_by_key().count()
    builder.global_table(missing[0])
    streams = KafkaStreams(builder.build(), {"application.id": app.id, "bootstrap.servers": app.bootstrap})
    with pytest.raises(MissingSourceTopicError) as refused:
        streams.init()
    assert refused.value.topics == missing


def test_a_misconfigured_topic_comes_before_missing_ones(app: Application):
    app.streams().init()
    app.admin.delete([app.names[1]])
    app.alter(app.names[0], "cleanup.policy", "delete")
    with pytest.raises(MisconfiguredInternalTopicError) as refused:
        app.streams().init(ENABLED)
    assert refused.value.topics == [app.names[0]]
    assert str(refused.value).startswith(
        f'Cleanup policy (cleanup.policy) of existing internal topic {app.names[0]} should not contain "delete". Set it with: '
    )
    assert app.present() == [app.names[0], *app.names[2:]]


def test_a_topology_without_internal_topics_has_nothing_to_set_up(app: Application):
    builder = StreamsBuilder()
    builder.stream(app.source).to("elsewhere")
    streams = KafkaStreams(builder.build(), {"application.id": app.id, "bootstrap.servers": app.bootstrap})
    assert streams.init() == streams.init() == ()
    streams.verify()


def test_joined_source_topics_have_to_be_copartitioned_even_without_a_repartition_topic(app: Application):
    other = f"{app.id}-words-other"
    app.admin.create(other, 2, 1)
    builder = StreamsBuilder()
    builder.stream(app.source).join(builder.table(other), lambda a, b: a)
    streams = KafkaStreams(builder.build(), {"application.id": app.id, "bootstrap.servers": app.bootstrap})
    with pytest.raises(TopologyError, match="Topics not co-partitioned"):
        streams.init()


def test_an_unreachable_cluster_is_a_timeout(topic_name: Callable[[str], str]):
    app = Application(topic_name("app"), "127.0.0.1:1", Admin({"bootstrap.servers": "127.0.0.1:1"}))
    with pytest.raises(StreamsTimeoutError, match="Could not validate internal topics within 1000 milliseconds"):
        app.streams().init(1000)


def test_a_topic_in_deletion_is_missing_and_one_that_a_broker_cannot_say_anything_of_is_asked_for_again(app: Application):
    app.streams().init()
    deleted, no_leader, behind = app.names[0], app.names[2], app.names[3]
    answers = {
        deleted: [KafkaError.UNKNOWN_TOPIC_OR_PART] * 3,
        no_leader: [KafkaError.LEADER_NOT_AVAILABLE],
        behind: [KafkaError.UNKNOWN_TOPIC_OR_PART],
    }
    streams, during = app.streams(), AdminDuringDeletions(app, answers, [deleted] * 3)
    description = describe_internal_topics(streams.topology, streams.config, during, 60)
    assert [topic.name for topic in description.verification.missing] == [deleted] and deleted not in description.ids
    assert answers == {deleted: [], no_leader: [], behind: []}


def test_a_deletion_that_takes_too_long_is_a_timeout_of_what_was_given(app: Application):
    app.streams().init()
    during = AdminDuringDeletions(app, {name: [KafkaError.UNKNOWN_TOPIC_OR_PART] for name in app.names}, app.names)
    streams = app.streams()
    with pytest.raises(StreamsTimeoutError, match="Could not create internal topics within 4000 milliseconds"):
        initialize(streams.topology, streams.config, during, InitParameters(), 4.0)


def test_what_has_been_created_is_deleted_again_if_one_cannot_be_created(app: Application):
    good = InternalTopic(f"{app.id}-good", TopicKind.CHANGELOG, 1, {})
    bad = InternalTopic(f"{app.id}-bad", TopicKind.CHANGELOG, 1, {"cleanup.policy": "sometimes"})
    with pytest.raises(StreamsError, match=f"Could not create internal topic {app.id}-bad for the following reason: "):
        create_topics(app.admin, [good, bad], 30)
    assert app.present() == []


def test_a_topic_that_does_not_go_away_is_a_timeout_and_nothing_is_left(app: Application):
    app.admin.create(f"{app.id}-there", 1, 1)
    topics = [InternalTopic(f"{app.id}-{name}", TopicKind.CHANGELOG, 1, {}) for name in ("new", "there")]
    topics.append(InternalTopic(f"{app.id}-unreached", TopicKind.CHANGELOG, 1, {"cleanup.policy": "refused"}))
    with pytest.raises(StreamsTimeoutError, match=r"within 5000 milliseconds.*The last errors seen .*already exists"):
        create_topics(app.admin, topics, 5)
    assert app.present() == [f"{app.id}-there"]


def test_in_manual_mode_a_start_without_init_is_refused(app: Application):
    streams = app.streams(internal_topics_setup="manual")
    with pytest.raises(MissingInternalTopicsError, match="Missing internal topics: ") as refused:
        prepare_for_start(streams.describe_internal_topics(), streams.config, app.admin)
    assert refused.value.topics == app.names
    assert app.present() == []


def test_in_manual_mode_a_start_with_a_misconfigured_topic_is_refused(app: Application):
    streams = app.streams(internal_topics_setup="manual")
    streams.init()
    app.alter(app.names[2], "retention.ms", "1000")
    with pytest.raises(MisconfiguredInternalTopicError, match="is 1000 but should be 86460000 or larger"):
        prepare_for_start(streams.describe_internal_topics(), streams.config, app.admin)


def test_in_manual_mode_a_topic_that_another_one_has_replaced_is_missing(app: Application):
    streams = app.streams(internal_topics_setup="manual")
    streams.init()
    upkeep = TopicMonitor(streams.topology, streams.config, lambda: app.admin)
    upkeep.prepare()
    assert not upkeep.verify(None)
    app.admin.delete([app.names[0]])
    app.admin.create(app.names[0], 3, 1, {"cleanup.policy": "compact"})
    streams.verify()  # by its name all is well
    with pytest.raises(MissingInternalTopicsError, match="were deleted, and created again by somebody else") as refused:
        upkeep.verify(None)
    assert refused.value.topics == [app.names[0]]


def test_in_automatic_mode_a_topic_that_was_not_deleted_after_all_is_not_read_again(app: Application):
    streams, work = app.streams(), Work()
    streams.init()
    answers: dict[str, list[int]] = {}
    admin = AdminDuringDeletions(app, answers, app.names[1:2])
    monitor = TopicMonitor(streams.topology, streams.config, lambda: admin)
    monitor.prepare()
    answers[app.names[1]] = [KafkaError.UNKNOWN_TOPIC_OR_PART]
    with pytest.raises(RetriableError, match=f"did not know these internal topics for a moment: {app.names[1]}"):
        monitor.verify(work)
    assert not monitor.verify(work) and work.recreated == []
    app.admin.delete([app.names[1]])
    assert not monitor.verify(work) and work.recreated == [{app.names[1]}]


def test_in_automatic_mode_a_start_creates_what_is_missing(app: Application):
    streams = app.streams()
    prepare_for_start(streams.describe_internal_topics(), streams.config, app.admin)
    assert app.present() == app.names
    app.admin.delete([app.names[0]])
    prepare_for_start(streams.describe_internal_topics(), streams.config, app.admin)
    assert app.present() == app.names


def test_in_automatic_mode_a_start_sets_what_is_set_wrongly(app: Application):
    streams = app.streams()
    streams.init()
    app.alter(app.names[2], "retention.ms", "1000")
    app.alter(app.names[1], "cleanup.policy", "compact")
    prepare_for_start(streams.describe_internal_topics(), streams.config, app.admin)
    wait_until(lambda: not streams.describe_internal_topics().verification.misconfigured, 120, "all is as it has to be")
    configs = app.admin.topic_configs(app.names[1])
    assert (configs["cleanup.policy"], configs["retention.ms"]) == ("delete", "-1")


def test_in_automatic_mode_a_wrong_number_of_partitions_stops_the_start(app: Application):
    app.admin.create(app.names[0], 1, 1)
    streams = app.streams()
    with pytest.raises(
        MisconfiguredInternalTopicError, match="requires 3 partitions, but the existing topic on the broker has 1"
    ):
        prepare_for_start(streams.describe_internal_topics(), streams.config, app.admin)


def test_looking_changes_nothing(app: Application):
    assert [topic.name for topic in app.streams().describe_internal_topics().verification.missing] == app.names
    assert app.present() == []


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ({"internal_topics_setup": "never"}, "Invalid value never for configuration internal.topics.setup"),
        ({"application_id": ""}, "application.id"),
        ({"default_timestamp_extractor": "org.apache.kafka.streams.processor.Mine"}, "default.timestamp.extractor: String must"),
        ({"topic_segment_bytes": "10", "producer_batch_size": "20"}, "Specified topic segment size 10"),
        ({"topic_segment_bytes": "10", "batch_size": "20"}, "size 10 is smaller than the configured producer batch size 20"),
        ({"topic_segment_bytes": "1g", "batch_size": "20"}, r"Invalid value 1g for configuration topic\.segment\.bytes"),
    ],
)
def test_a_configuration_that_cannot_be_is_refused(config: dict[str, str], sentence: str, topic_name: Callable[[str], str]):
    with pytest.raises(ConfigError, match=sentence):
        Application(topic_name("app"), "nowhere:1", Admin({})).streams(**config)


def test_two_timeouts_are_refused(topic_name: Callable[[str], str]):
    with pytest.raises(ArgumentError, match="InitParameters and a timeout, each once at most"):
        Application(topic_name("app"), "nowhere:1", Admin({})).streams().init(1, 2)
