from __future__ import annotations

from dataclasses import replace

import pytest

from headrace.errors import ConfigError
from headrace.streams.internal_topics import InternalTopic, TopicKind
from headrace.streams.verification import ExistingTopic, verify

WINDOWED = {"cleanup.policy": "compact,delete", "retention.ms": "90000000"}
VERSIONED = {"cleanup.policy": "compact", "min.compaction.lag.ms": "87000000"}


def topic(kind: TopicKind, configs: dict[str, str]) -> InternalTopic:
    return InternalTopic("t", kind, 4, configs)


def sentences(expected: InternalTopic, partitions: int = 4, **configs: str | None) -> list[str]:
    named = {key.replace("_", "."): value for key, value in configs.items()}
    return [problem.sentence for problem in verify([expected], {"t": ExistingTopic(partitions, named)}).misconfigured]


REPARTITION = topic(TopicKind.REPARTITION, {"cleanup.policy": "delete", "retention.ms": "-1"})
CHANGELOG = topic(TopicKind.CHANGELOG, {"cleanup.policy": "compact"})
WINDOWED_CHANGELOG = topic(TopicKind.WINDOWED_CHANGELOG, WINDOWED)
VERSIONED_CHANGELOG = topic(TopicKind.VERSIONED_CHANGELOG, VERSIONED)


@pytest.mark.parametrize("kind", TopicKind)
def test_another_number_of_partitions_is_wrong_for_every_kind(kind: TopicKind):
    expected = topic(kind, {**WINDOWED, **VERSIONED})
    assert "Internal topic t requires 4 partitions, but the existing topic on the broker has 5 partitions." in sentences(
        expected, 5, cleanup_policy="compact"
    )


def test_a_topic_that_is_not_there_is_missing_and_not_misconfigured():
    verification = verify([CHANGELOG], {})
    assert (verification.missing, verification.misconfigured) == ((CHANGELOG,), ())


@pytest.mark.parametrize("expected", [CHANGELOG, VERSIONED_CHANGELOG])
def test_a_changelog_must_not_delete(expected: InternalTopic):
    said = 'Cleanup policy (cleanup.policy) of existing internal topic t should not contain "delete".'
    assert said in sentences(expected, cleanup_policy="compact,delete", min_compaction_lag_ms="87000000")


def test_the_retention_of_a_plain_changelog_is_not_looked_at():
    assert sentences(CHANGELOG, cleanup_policy="compact", retention_ms="1") == []


def test_a_repartition_topic_must_not_compact():
    said = 'Cleanup policy (cleanup.policy) of existing internal topic t should not contain "compact".'
    assert sentences(REPARTITION, cleanup_policy="compact,delete", retention_ms="7") == [said]


def test_a_repartition_topic_that_deletes_must_do_so_on_request_only():
    said = [
        "Retention time (retention.ms) of existing internal topic t is 604800000 but should be -1.",
        "Retention byte (retention.bytes) of existing internal topic t is set but it should be unset.",
    ]
    assert sentences(REPARTITION, cleanup_policy="delete", retention_ms="604800000", retention_bytes="10") == said


@pytest.mark.parametrize("unset", [None, "-1"])
def test_what_a_broker_reports_for_an_unset_size_is_no_size(unset: str | None):
    assert sentences(REPARTITION, cleanup_policy="delete", retention_ms="-1", retention_bytes=unset) == []


def test_a_windowed_changelog_keeps_its_windows_long_enough():
    said = "Retention time (retention.ms) of existing internal topic t is 1000 but should be 90000000 or larger."
    assert sentences(WINDOWED_CHANGELOG, cleanup_policy="delete", retention_ms="1000") == [said]
    assert sentences(WINDOWED_CHANGELOG, cleanup_policy="delete", retention_ms="90000001") == []
    assert sentences(WINDOWED_CHANGELOG, cleanup_policy="delete", retention_ms="-1") == []
    assert sentences(WINDOWED_CHANGELOG, cleanup_policy="compact", retention_ms="1000", retention_bytes="1") == []


def test_a_windowed_changelog_whose_windows_the_users_code_keeps_without_end_has_no_retention():
    endless = topic(TopicKind.WINDOWED_CHANGELOG, {**WINDOWED, "retention.ms": "-1"})
    said = "Retention time (retention.ms) of existing internal topic t is 3600000 but should be -1."
    assert sentences(endless, cleanup_policy="compact,delete", retention_ms="3600000") == [said]
    assert sentences(endless, cleanup_policy="compact,delete", retention_ms="-1") == []


@pytest.mark.parametrize(("kind", "key"), [("WINDOWED", "retention.ms"), ("VERSIONED", "min.compaction.lag.ms")])
def test_a_time_of_the_users_code_that_is_no_number_is_named(kind: str, key: str):
    expected = topic(TopicKind[f"{kind}_CHANGELOG"], {**WINDOWED, **VERSIONED, key: "7d"})
    with pytest.raises(ConfigError, match=f"Invalid value 7d for configuration {key}: Not a number of type LONG"):
        sentences(expected, cleanup_policy="compact,delete")


def test_a_windowed_changelog_must_not_delete_by_size():
    said = "Retention byte (retention.bytes) of existing internal topic t is set but it should be unset."
    assert sentences(WINDOWED_CHANGELOG, cleanup_policy="compact,delete", retention_ms="90000000", retention_bytes="9") == [said]


def test_a_versioned_changelog_keeps_its_history_long_enough():
    said = "Min compaction lag (min.compaction.lag.ms) of existing internal topic t is 0 but should be 87000000 or larger."
    assert sentences(VERSIONED_CHANGELOG, cleanup_policy="compact", min_compaction_lag_ms="0") == [said]


def test_each_sentence_comes_with_a_remedy_that_an_operator_can_carry_out():
    existing = {"t": ExistingTopic(1, {}), "u": ExistingTopic(4, {"cleanup.policy": "delete"})}
    verification = verify([REPARTITION, replace(CHANGELOG, name="u")], existing)
    assert verification.misconfigured_topics == ["t", "u"]
    assert "kafka-streams-application-reset.sh" in verification.misconfigured[0].remedy
    assert "--entity-type topics --entity-name u --add-config cleanup.policy=compact" in verification.explanation()


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (TopicKind.REPARTITION, {"cleanup.policy": "delete", "retention.ms": "604800000", "retention.bytes": "10"}),
        (TopicKind.REPARTITION, {"cleanup.policy": "compact,delete", "retention.ms": "5000"}),
        (TopicKind.CHANGELOG, {"cleanup.policy": "compact,delete", "retention.ms": "86400000"}),
        (TopicKind.WINDOWED_CHANGELOG, {**WINDOWED, "retention.bytes": "10"}),
        (TopicKind.VERSIONED_CHANGELOG, {**VERSIONED, "cleanup.policy": "compact,delete"}),
    ],
)
def test_what_the_users_code_sets_itself_is_no_misconfiguration(kind: TopicKind, settings: dict[str, str]):
    assert verify([topic(kind, settings)], {"t": ExistingTopic(4, settings)}).misconfigured == ()


def test_a_topic_is_set_back_to_what_the_users_code_says():
    expected = topic(TopicKind.REPARTITION, {"cleanup.policy": "delete", "retention.ms": "5000", "retention.bytes": "10"})
    existing = ExistingTopic(4, {"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "9"})
    problems = verify([expected], {"t": existing}).misconfigured
    assert [problem.settings for problem in problems] == [{"retention.ms": "5000"}, {"retention.bytes": "10"}]
    assert problems[0].sentence == "Retention time (retention.ms) of existing internal topic t is -1 but should be 5000."
