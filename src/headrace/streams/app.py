"""`KafkaStreams`: an application, that is a topology with its configuration."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

import structlog

from headrace.errors import ArgumentError, HeadraceError
from headrace.kafka.admin import Admin
from headrace.retry import poll_until
from headrace.streams import initialization
from headrace.streams.config import StreamsConfig
from headrace.streams.durations import Duration, milliseconds
from headrace.streams.initialization import InitParameters, InternalTopicsDescription
from headrace.streams.instance import Handler, StreamsInstance
from headrace.streams.internal_topics import InternalTopic
from headrace.streams.queries import ReadOnlyStore
from headrace.streams.states import Listener, State
from headrace.streams.topology import Topology
from headrace.streams.unsupported import require_supported
from headrace.streams.worker_report import reporter_of

log = structlog.get_logger(__name__)

_VERIFY_INTERVAL_S = 2.0


class KafkaStreams:
    """An application; connects to its cluster at the first call that asks it. As a context manager it is closed at the end."""

    InitParameters = InitParameters
    State = State

    def __init__(self, topology: Topology, config: Mapping[str, Any]) -> None:
        """Take a topology and settings of Kafka Streams. Raises ConfigError, and TopologyError for what cannot run here."""
        self.topology = topology
        self.config = StreamsConfig(config)
        require_supported(topology)
        self._admin: Admin | None = None
        self._instance = StreamsInstance(topology, self.config, self._connected)
        self._reporter = reporter_of(self)
        if self._reporter:
            self._instance.states.observe(self._reporter.wake)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    # ------------------------------------------------------------------------------------------------ internal topics
    def init(self, *options: InitParameters | Duration) -> tuple[InternalTopic, ...]:
        """Set up the internal topics before the first start ever, or after a reset (KIP-698): all, or none.

        options: InitParameters, a timeout, both or neither. Returns the topics that were created; none for a topology that needs
        none. Raises MissingSourceTopicError, MisconfiguredInternalTopicError, MissingInternalTopicsError,
        InternalTopicsAlreadySetupError, StreamsTimeoutError, StreamsError for an application that has been started, and the
        errors of an invalid topology; then nothing has been created.
        """
        self._instance.require_created("init")
        parameters = [option for option in options if isinstance(option, InitParameters)]
        timeouts = [milliseconds(option, "timeout") / 1000 for option in options if not isinstance(option, InitParameters)]
        if len(parameters) > 1 or len(timeouts) > 1:
            raise ArgumentError("init takes InitParameters and a timeout, each once at most.")
        init_parameters = parameters[0] if parameters else InitParameters()
        timeout = timeouts[0] if timeouts else None
        return initialization.initialize(self.topology, self.config, self._connected(), init_parameters, timeout)

    def describe_internal_topics(
        self, planned: Mapping[str, int] | None = None, timeout: Duration | None = None
    ) -> InternalTopicsDescription:
        """The internal topics of the application, compared with those on the cluster; changes nothing. Raises as `init` does.

        planned: numbers of partitions of source topics that are about to be created, or to get as many; timeout: without it, half
        of `max.poll.interval.ms`.
        """
        timeout_s = (self.config.max_poll_interval_ms / 2 if timeout is None else milliseconds(timeout, "timeout")) / 1000
        return initialization.describe_internal_topics(self.topology, self.config, self._connected(), timeout_s, planned)

    def verify(self) -> None:
        """Raise MissingInternalTopicsError or MisconfiguredInternalTopicError unless all topics exist, well configured."""
        initialization.require_initialized(self.describe_internal_topics())

    def await_initialization(self, timeout: Duration | None = None, stopping: threading.Event | None = None) -> bool:
        """Wait, before the start, until all internal topics exist and are well configured; whether they did in time.

        Meanwhile the application reports to its worker (`headrace.report.url`), which can make it create them: by `init` on the
        operator's page, or by `headrace streams ask`. stopping: ends the wait. Raises StreamsError once it has been started.
        """
        self._instance.require_created("await_initialization")
        if self._reporter:
            self._reporter.start()
        stop, reason = stopping or threading.Event(), ""

        def is_initialized(_left_s: float) -> bool:
            nonlocal reason
            try:
                self.verify()
            except HeadraceError as error:
                if str(error) != reason:
                    log.warning("Waiting for the internal topics: %s", error, application=self.config.application_id)
                reason = str(error)
                return False
            return True

        timeout_s = math.inf if timeout is None else milliseconds(timeout, "timeout") / 1000
        return poll_until(
            is_initialized, timeout_s, _VERIFY_INTERVAL_S, lambda pause_s: stop.wait(pause_s) or self.state() is not State.CREATED
        )

    # ------------------------------------------------------------------------------------------------ life
    def start(self) -> None:
        """Start the application: returns at once; `state` shows the progress.

        Raises StreamsError if it was started before, MissingSourceTopicError, the errors of an invalid topology, and in manual
        mode MissingInternalTopicsError or MisconfiguredInternalTopicError (KIP-698).
        """
        try:
            self._instance.start()
        finally:
            if self._reporter:
                self._reporter.start()

    def close(self, timeout: Duration | None = None) -> bool:
        """Stop after the running batches. timeout: how long to wait; whether it stopped in that time."""
        ended = self._instance.close(None if timeout is None else milliseconds(timeout, "timeout") / 1000)
        if self._reporter:
            self._reporter.finish()
        return ended

    def pause(self) -> None:
        """Start no further batch; the membership in the group is kept (KIP-834)."""
        self._instance.pause()

    def resume(self) -> None:
        """Continue after `pause`."""
        self._instance.resume()

    def is_paused(self) -> bool:
        """Whether it is paused."""
        return self._instance.paused

    def clean_up(self) -> None:
        """Delete local state, of which there is none: a closed instance has deleted it, and changelogs alone keep state.

        Raises StreamsError while the application runs.
        """
        self._instance.clean_up()

    def state(self) -> State:
        """The present state."""
        return self._instance.states.state

    @property
    def error(self) -> BaseException | None:
        """The error that put the application into ERROR."""
        return self._instance.error

    def is_active(self) -> bool:
        """Whether this instance is the active one; the other instances of the application are standbys."""
        return self._instance.is_active

    def wait_for(self, *states: State, timeout: Duration | None = None) -> bool:
        """Wait until the state is one of these; whether it was reached in time."""
        seconds = None if timeout is None else milliseconds(timeout, "timeout") / 1000
        return self._instance.states.wait_for(lambda state: state in states, seconds)

    def set_state_listener(self, listener: Listener | None) -> None:
        """Set a function that is called with the new and the old state. Raises StreamsError once the application was started."""
        self._instance.states.set_listener(listener)

    def set_uncaught_exception_handler(self, handler: Handler | None) -> None:
        """Set a function that gets an error which stopped processing, and returns a `StreamThreadExceptionResponse`.

        Raises StreamsError once the application has been started.
        """
        self._instance.set_uncaught_exception_handler(handler)

    # ------------------------------------------------------------------------------------------------ look inside
    def store(self, name: str) -> ReadOnlyStore:
        """A read-only state store (interactive queries). Raises StreamsError while this instance does not hold it."""
        return self._instance.store(name)

    def metrics(self) -> dict[str, dict[str, float]]:
        """By sub-topology: batches, records, skipped records, the time of batches in ms, and the lag in records."""
        return self._instance.metrics()

    def store_sizes(self) -> dict[str, dict[str, int]]:
        """The estimated number of rows of each store, by sub-topology."""
        return self._instance.store_sizes()

    def _connected(self) -> Admin:
        if self._admin is None:
            self._admin = Admin(self.config.admin_settings)
        return self._admin
