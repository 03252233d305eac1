"""Verifies the topics of an application at every start and take-over, and while it runs (KIP-698).

In manual mode every problem of an internal topic is an error in every instance, and nothing is changed. In automatic mode
settings are corrected, and the active instance recreates deleted topics and continues, if nothing is lost: it has their state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

import structlog

from headrace.errors import MissingInternalTopicsError, RetriableError, StreamsError
from headrace.kafka.admin import Admin
from headrace.streams import initialization
from headrace.streams.config import MANUAL_SETUP, StreamsConfig
from headrace.streams.initialization import InternalTopicsDescription
from headrace.streams.topology import Topology

log = structlog.get_logger(__name__)

_EXPLAIN_TIMEOUT_S = 10.0


class ActiveWork(Protocol):
    """The engine of the active instance."""

    def use_recreated_topics(self, topics: frozenset[str], create: Callable[[], None]) -> set[str]:
        """Continue with deleted internal topics, once `create` has recreated them; returns those with unread records."""
        ...

    def refill_changelogs(self) -> None:
        """Fill the recreated changelogs from their stores."""
        ...


class TopicMonitor:
    """The application's topics as last seen by this instance. admin: returns the admin client."""

    def __init__(self, topology: Topology, config: StreamsConfig, admin: Callable[[], Admin]) -> None:
        self._topology, self._config, self._admin = topology, config, admin
        self._manual = config.internal_topics_setup == MANUAL_SETUP
        self._ids: Mapping[str, str] = {}
        self._sources: Mapping[str, int] = {}
        self._unread: set[str] = set()

    def prepare(self) -> None:
        """Prepare the topics for a start. Raises what `describe_internal_topics` and `prepare_for_start` raise."""
        description = self._describe()
        if self._manual:
            self._check(description)
        else:
            initialization.prepare_for_start(description, self._config, self._admin())
            if description.verification.missing:
                description = self._describe()
        self._ids, self._sources, self._unread = description.ids, description.sources, set()

    def verify(self, work: ActiveWork | None) -> bool:
        """Verify the topics again; whether the engine has to restart, because source topics or their partitions have changed.

        work: of this instance, None while it is a standby. Raises StreamsError for what only an operator can repair, in automatic
        mode as well, and RetriableError for what the next verification may find to be well.
        """
        description = self._describe()
        if self._manual:
            self._check(description)
        else:
            initialization.correct_settings(description, self._admin())
            if work is not None:
                description = self._with_recreated_topics(work, description)
        before, self._sources = self._sources, description.sources
        self._ids = description.ids
        return work is not None and description.sources != before

    def _with_recreated_topics(self, work: ActiveWork, description: InternalTopicsDescription) -> InternalTopicsDescription:
        """Continue with deleted internal topics; returns the new description. Raises StreamsError for unread records,
        RetriableError if a topic was not deleted after all; then nothing has changed here.

        It may fail after the engine has switched to the recreated topics: their ids are stored by then, so that the next try does
        not switch again.
        """
        if lost := _deleted_or_recreated(description, self._ids):
            log.warning("Internal topics were deleted while the application runs: %s.", ", ".join(sorted(lost)))
            observed = [description]

            def create() -> None:
                initialization.create_missing(description, self._config, self._admin())
                observed.append(self._describe())
                ids = observed[-1].ids
                if same := sorted(name for name in lost if self._ids.get(name) and ids.get(name) == self._ids[name]):
                    # Their records have been read: with offsets from the beginning they would be processed twice.
                    raise RetriableError(f"A broker did not know these internal topics for a moment: {', '.join(same)}.")

            self._unread |= work.use_recreated_topics(lost, create)
            description = observed[-1]
            self._ids = description.ids
        work.refill_changelogs()
        if self._unread:
            raise StreamsError(
                f"Repartition topics were deleted with records that had not been read: {', '.join(sorted(self._unread))}. They "
                "have been created again, empty. Start the application again to continue without those records, or reset it with "
                "kafka-streams-application-reset.sh to compute everything again."
            )
        return description

    def explain(self, error: BaseException) -> BaseException:
        """The error, or the problem of the topics that may have caused it. Raises nothing."""
        try:
            description = self._describe(_EXPLAIN_TIMEOUT_S)
            if self._manual:
                self._check(description)
        except initialization.FATAL as topic_error:
            topic_error.__cause__ = error
            return topic_error
        except Exception as failure:
            log.warning("The topics could not be verified: %s", failure)
        return error

    def _describe(self, timeout_s: float | None = None) -> InternalTopicsDescription:
        each_s = self._config.max_poll_interval_ms / 2000
        return initialization.describe_internal_topics(self._topology, self._config, self._admin(), timeout_s or each_s)

    def _check(self, description: InternalTopicsDescription) -> None:
        """Raise for internal topics that are missing, misconfigured, or were recreated."""
        initialization.require_initialized(description)
        if replaced := sorted(_deleted_or_recreated(description, self._ids)):
            raise MissingInternalTopicsError(
                replaced,
                f"Internal topics were deleted, and created again by somebody else: {', '.join(replaced)}. What they held is "
                "lost. Find out who did it; to start again, reset the application with kafka-streams-application-reset.sh.",
            )


def _deleted_or_recreated(description: InternalTopicsDescription, ids: Mapping[str, str]) -> frozenset[str]:
    """The internal topics that are missing, or have another id than before."""
    missing = {topic.name for topic in description.verification.missing}
    return frozenset(missing | {name for name, topic_id in description.ids.items() if ids.get(name, topic_id) != topic_id})
