"""`KafkaStreams`: an application, that is a topology with its configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headrace.errors import ArgumentError
from headrace.kafka.admin import Admin
from headrace.streams import initialization
from headrace.streams.config import StreamsConfig
from headrace.streams.durations import Duration, milliseconds
from headrace.streams.initialization import Findings, InitParameters
from headrace.streams.internal_topics import InternalTopic
from headrace.streams.topology import Topology


class KafkaStreams:
    """An application; connects to its cluster at the first call that asks it. Running one is not built yet."""

    InitParameters = InitParameters

    def __init__(self, topology: Topology, config: Mapping[str, Any]) -> None:
        """Take a topology and settings of Kafka Streams. Raises ConfigError."""
        self.topology = topology
        self.config = StreamsConfig(config)
        self._admin: Admin | None = None

    def init(self, *given: InitParameters | Duration) -> tuple[InternalTopic, ...]:
        """Set up the internal topics before the first start ever, or after a reset (KIP-698): all, or none.

        given: InitParameters, a timeout, both or neither. Returns the topics that were created; none for a topology that needs
        none. Raises MissingSourceTopicError, MisconfiguredInternalTopicError, MissingInternalTopicsError,
        InternalTopicsAlreadySetupError, StreamsTimeoutError, and what is wrong with the topology; then nothing has been created.
        """
        parameters = [one for one in given if isinstance(one, InitParameters)]
        timeouts = [milliseconds(one, "timeout") / 1000 for one in given if not isinstance(one, InitParameters)]
        if len(parameters) > 1 or len(timeouts) > 1:
            raise ArgumentError("init takes InitParameters and a timeout, each once at most.")
        chosen = parameters[0] if parameters else InitParameters()
        return initialization.initialize(self.topology, self.config, self._client(), chosen, timeouts[0] if timeouts else None)

    def look(self) -> Findings:
        """The internal topics of the application, and how those on the cluster are; changes nothing. Raises as `init` does."""
        timeout_s = self.config.max_poll_interval_ms / 2000
        return initialization.look(self.topology, self.config, self._client(), timeout_s)

    def verify(self) -> None:
        """Raise MissingInternalTopicsError or MisconfiguredInternalTopicError unless every internal topic is as it has to be."""
        initialization.check(self.look())

    def _client(self) -> Admin:
        if self._admin is None:
            self._admin = Admin(self.config.admin_settings)
        return self._admin
