"""One instance of a running application: verifies its topics, joins the group, and runs the engine while it is active."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from functools import partial

import structlog

from headrace.errors import HeadraceError, RetriableError, ShutdownRequestedError, StreamsError, StreamsTimeoutError
from headrace.kafka.active_standby import ActiveStandbyMember
from headrace.kafka.admin import DEFAULT_TIMEOUT_S, Admin
from headrace.kafka.failures import KafkaFailure
from headrace.kafka.groups import Partition
from headrace.registry.errors import RegistryUnavailableError
from headrace.registry.request_wait import WaitLimit, limit_wait
from headrace.streams.config import StreamsConfig
from headrace.streams.engine.engine import Engine, KafkaCluster
from headrace.streams.engine.session import session
from headrace.streams.engine.store_reader import StoreReader
from headrace.streams.group_topic import choose_topic, topic_of_other_instance
from headrace.streams.initialization import FATAL
from headrace.streams.queries import ReadOnlyStore
from headrace.streams.shutdown_request import partition_of_requests, refuse_if_requested, request_shutdown
from headrace.streams.states import State, StateMachine
from headrace.streams.topic_monitor import TopicMonitor
from headrace.streams.topology import Topology
from headrace.streams.unsupported import require_runnable

log = structlog.get_logger(__name__)

_CLOSE_TIMEOUT_S, _RESTART_TIMEOUT_S = 60.0, 15.0
# The errors of a coordinator for a member that was removed: Kafka Streams' TaskMigratedException.
_MIGRATED = ("ILLEGAL_GENERATION", "UNKNOWN_MEMBER_ID", "FENCED_INSTANCE_ID")


class StreamThreadExceptionResponse(StrEnum):
    """The response to an error that stopped processing (KIP-671)."""

    REPLACE_THREAD = "replace_thread"
    SHUTDOWN_CLIENT = "shutdown_client"
    SHUTDOWN_APPLICATION = "shutdown_application"


Handler = Callable[[BaseException], StreamThreadExceptionResponse]


class StreamsInstance:
    """The life cycle of one instance. admin: returns the admin client."""

    def __init__(self, topology: Topology, config: StreamsConfig, admin: Callable[[], Admin]) -> None:
        self.states = StateMachine()
        self.paused = False
        self.error: BaseException | None = None
        self._topology, self._config, self._admin = topology, config, admin
        self._topic_monitor = TopicMonitor(topology, config, admin)
        self._handler: Handler = lambda _error: StreamThreadExceptionResponse.SHUTDOWN_CLIENT
        self._member: ActiveStandbyMember | None = None
        self._engine: Engine | None = None
        self._lock = threading.RLock()
        self._stopping = threading.Event()
        self._standby = threading.Event()  # another instance becomes active
        self._verify_topics_now = threading.Event()  # a batch failed, maybe because of its topics
        self._monitor_thread: threading.Thread | None = None

    @property
    def is_active(self) -> bool:
        """Whether this instance is the active one."""
        return self._engine is not None

    def require_created(self, method: str) -> None:
        """Raise StreamsError once the application has been started."""
        if self.states.state is not State.CREATED:
            raise StreamsError(f"{method} is possible only before start(). Current state is: {self.states.state}")

    def set_uncaught_exception_handler(self, handler: Handler | None) -> None:
        """Set what is called with an error that stopped processing. Raises StreamsError once the application was started."""
        if self.states.state is not State.CREATED:
            raise StreamsError(
                "Can only set UncaughtExceptionHandler before calling start(). Current state is: " + self.states.state
            )
        if handler is not None:
            self._handler = handler

    def start(self) -> None:
        """Verify the topics, compile the topology, join the group."""
        require_runnable(self._topology, self._config)
        if self.states.state is not State.CREATED or not self.states.transition_to(State.REBALANCING):
            raise StreamsError("The client is either already started or already stopped, cannot re-start")
        try:
            self._topic_monitor.prepare()
            self._join()
        except BaseException:
            self._shut_down_with_error()
            raise
        self._monitor_thread = threading.Thread(
            target=self._monitor_topics, name=f"topics-of-{self._config.application_id}", daemon=True
        )
        self._monitor_thread.start()

    def close(self, timeout_s: float | None) -> bool:
        """Stop the engine and leave the group."""
        state = self.states.state
        if state in (State.NOT_RUNNING, State.ERROR):
            return True
        if not self.states.transition_to(State.PENDING_SHUTDOWN):
            return self.states.wait_for(lambda now: now in (State.NOT_RUNNING, State.ERROR), timeout_s)
        ended = self._shut_down(timeout_s)
        self.states.transition_to(State.NOT_RUNNING)
        return ended

    def pause(self) -> None:
        """Start no further batch."""
        self.paused = True
        if engine := self._engine:
            engine.pause()

    def resume(self) -> None:
        """Continue after `pause`."""
        self.paused = False
        if engine := self._engine:
            engine.resume()

    def clean_up(self) -> None:
        """Does nothing: a closed instance has deleted its state. Raises StreamsError while the application runs, as in Kafka."""
        if self.states.state.is_running_or_rebalancing():
            raise StreamsError("Cannot clean up while running.")

    def store(self, name: str) -> ReadOnlyStore:
        """A store of the running engine, or of the one that follows it. Raises StreamsError if there is none."""
        if name not in self._topology.stores and name not in self._topology.global_stores:
            raise StreamsError(f"Cannot get state store {name} because no such store is registered in the topology.")
        return ReadOnlyStore(self._engine_with(name).find_store(name), partial(self._open_store, name))

    @contextmanager
    def _open_store(self, name: str) -> Iterator[StoreReader]:
        with self._engine_with(name).open_store(name) as reader:
            yield reader

    def _engine_with(self, store: str) -> Engine:
        """The running engine. Raises StreamsError if there is none, for this store."""
        engine = self._engine
        if engine is None or not self.states.state.is_running_or_rebalancing():
            raise StreamsError(
                f"Cannot get state store {store}: this instance is {self.states.state} and does not hold it"
                f"{'; another instance of the application is active' if self.states.state is State.RUNNING else ''}."
            )
        return engine

    def metrics(self) -> dict[str, dict[str, float]]:
        """Of the running engine."""
        return self._engine.metrics() if self._engine else {}

    def store_sizes(self) -> dict[str, dict[str, int]]:
        """Of the running engine."""
        return self._engine.store_sizes() if self._engine else {}

    # ------------------------------------------------------------------------------------------------ topics
    def _monitor_topics(self) -> None:
        """Verify the topics periodically (KIP-698): a lasting problem stops every instance."""
        while not self._stopping.is_set():
            self._verify_topics_now.wait(self._config.metadata_max_age_ms / 1000)
            self._verify_topics_now.clear()
            if self._stopping.is_set():
                return
            try:
                self._replace_deleted_group_topic()
                if self._topic_monitor.verify(self._engine):
                    log.info("The source topics have changed: the engine is restarted", application=self._config.application_id)
                    self._restart_engine()
            except (KafkaFailure, StreamsTimeoutError, RetriableError) as failure:
                log.warning("The topics could not be verified: %s", failure)
            except HeadraceError as error:
                if isinstance(error.__cause__, KafkaFailure):  # it says nothing about the topics
                    log.warning(str(error))
                else:
                    self._on_error(error)

    # ------------------------------------------------------------------------------------------------ group
    def _join(self) -> None:
        topic = choose_topic(self._topology, self._admin().partition_counts())
        if topic is None:
            raise StreamsError(
                "Topology has no stream threads and no global threads, must subscribe to at least one source topic or pattern."
            )
        self._join_with(topic)

    def _join_with(self, topic: str) -> None:
        settings, application = self._config.consumer_settings, self._config.application_id
        self._member = ActiveStandbyMember(settings, application, topic, self._on_role_change)
        self._member.join()

    def _join_again(self, member: ActiveStandbyMember, topic: str) -> None:
        """Replace this member of the group by one with another topic."""
        log.warning("The group's topic is %s now, not %s", topic, member.topic, application=self._config.application_id)
        member.leave()  # without the lock, for which the member's thread may wait
        with self._lock:
            if self._member is member and not self._stopping.is_set():
                self._join_with(topic)

    def _replace_deleted_group_topic(self) -> None:
        """Nobody is assigned a topic that does not exist any more: the group continues with another one."""
        member, existing = self._member, self._admin().partition_counts()
        topic = choose_topic(self._topology, existing)
        if member is None or member.topic in existing or topic not in existing:
            return
        if self._admin().describe(member.topic) is None:  # a listing may leave out a topic for a moment
            self._join_again(member, topic)

    def _assignments(self, left_s: float) -> dict[str, set[Partition]]:
        members = self._admin().group_members(self._config.application_id, left_s)
        return {member: partitions for _, _, member, partitions in members}

    def _on_role_change(self, active: bool) -> None:
        """Called on the member's thread; the engine starts and stops on other threads."""
        if active:
            self._standby.clear()
            threading.Thread(target=self._start_engine, name="streams-begin", daemon=True).start()
        else:
            self._standby.set()  # before the lock, which a starting engine holds while it waits for a schema registry
            with self._lock:
                engine, self._engine = self._engine, None
            if engine is not None:
                log.info("Another instance takes over", application=self._config.application_id)
                engine.abandon()
                self.states.transition_to(State.REBALANCING)

    def _start_engine(self) -> None:
        member, timeout_s = self._member, self._config.task_timeout_ms / 1000
        generation = None if member is None else member.generation
        if member is None or generation is None:
            return
        try:  # without the lock, for which the member's thread may wait
            other = topic_of_other_instance(member, generation, self._assignments, timeout_s, self._wait_to_start)
            if other is not None:
                self._join_again(member, other)
                return
            refuse_if_requested(member, timeout_s, self._wait_to_start)
        except BaseException as error:  # of a member that is no longer active, or has left: no engine starts here
            if member.generation == generation or isinstance(error, ShutdownRequestedError):
                self._report(error)
            return
        with self._lock:
            if self._stopping.is_set() or self._engine is not None:
                return
            if self._member is not member or member.generation != generation:  # another instance was active meanwhile
                return
            self.states.transition_to(State.REBALANCING)
            try:
                self._topic_monitor.prepare()
                spark = session(self._config.spark_settings)
                cluster = KafkaCluster(spark, self._config, self._admin(), member)
                with limit_wait(WaitLimit(self._stopping, self._log_schema_wait)), limit_wait(WaitLimit(self._standby)):
                    engine = Engine(self._topology, self._config, cluster, self._admin(), spark)
            except BaseException as error:
                if not (isinstance(error, RegistryUnavailableError) and self._standby.is_set()):
                    self._report(error)
                return
            self._engine = engine
            if self.paused:
                engine.pause()
        engine.start(self._on_ready, self._on_error, self._verify_topics_now.set)

    def _wait_to_start(self, pause_s: float) -> bool:
        """Wait that long; whether this instance has not to start any more."""
        return self._stopping.wait(pause_s) or self._standby.is_set()

    def _report(self, error: BaseException) -> None:
        """Handle an error on a thread of its own: its handler may start again, with the next error, and needs the lock."""
        threading.Thread(target=self._on_error, args=(error,), name="streams-error", daemon=True).start()

    def _log_schema_wait(self, sentence: str | None) -> None:
        if sentence is not None:
            log.warning("Waiting for schemas before the start: %s", sentence, application=self._config.application_id)

    def _on_ready(self) -> None:
        self.states.transition_to(State.RUNNING)

    # ------------------------------------------------------------------------------------------------ end
    def _on_error(self, error: BaseException) -> None:
        """Handle an error, on the thread that raised it."""
        if self._stopping.is_set():
            return
        if isinstance(error, KafkaFailure) and error.code in _MIGRATED:
            log.warning("The group has removed this instance: %s", error, application=self._config.application_id)
            self._restart_engine()
            return
        lasting = isinstance(error, (*FATAL, ShutdownRequestedError))
        if not lasting:
            error = self._topic_monitor.explain(error)
        log.error("The application %s cannot continue: %s", self._config.application_id, error)
        self.error = error
        response = None if isinstance(error, ShutdownRequestedError) else self._response(error)
        again = response is StreamThreadExceptionResponse.REPLACE_THREAD and not isinstance(error, FATAL)
        if again and not self._stopping.is_set():
            self._restart_engine()
            return
        self._shut_down_with_error(error if response is StreamThreadExceptionResponse.SHUTDOWN_APPLICATION else None)

    def _response(self, error: BaseException) -> StreamThreadExceptionResponse:
        """What the user's handler answers; one that fails, or answers with something else, shuts down the client: there is
        nobody else to end it.
        """
        try:
            return StreamThreadExceptionResponse(self._handler(error))
        except BaseException:  # sys.exit() as well, which would end this thread only
            log.exception("The uncaught exception handler of %s failed", self._config.application_id)
            return StreamThreadExceptionResponse.SHUTDOWN_CLIENT

    def _request_shutdown(self, engine: Engine | None, reason: BaseException) -> None:
        """Have all instances of the application end, before this one leaves the group."""
        member, application = self._member, self._config.application_id
        if member is None:
            return
        try:
            positions = {} if engine is None else {p: at for task in engine.tasks for p, at in task.positions.offsets.items()}
            members = list(self._assignments(DEFAULT_TIMEOUT_S))
            done = request_shutdown(member, members, str(reason), positions.get(partition_of_requests(member)))
        except HeadraceError as error:
            log.warning("The other instances of %s could not be asked to shut down: %s", application, error)
            return
        if done:
            log.error("All instances of %s are asked to shut down.", application)
        else:
            log.warning("The other instances of %s could not be asked to shut down: no offset is committed yet.", application)

    def _restart_engine(self) -> None:
        """Restore the stores and continue, if this instance is still the active one."""
        with self._lock:
            engine, self._engine = self._engine, None
        if engine is not None:
            engine.stop(_RESTART_TIMEOUT_S)
            engine.abandon()
        self.states.transition_to(State.REBALANCING)
        if self._member is not None and self._member.generation is not None:
            self._start_engine()

    def _shut_down_with_error(self, of_all: BaseException | None = None) -> None:
        """End in ERROR. of_all: the error that ends all instances of the application."""
        if self.states.transition_to(State.PENDING_ERROR):
            self._shut_down(_CLOSE_TIMEOUT_S, at_once=True, of_all=of_all)
            self.states.transition_to(State.ERROR)

    def _shut_down(self, timeout_s: float | None, *, at_once: bool = False, of_all: BaseException | None = None) -> bool:
        self._stopping.set()
        self._verify_topics_now.set()
        with self._lock:
            engine, self._engine = self._engine, None
        ended = engine.stop(_CLOSE_TIMEOUT_S if timeout_s is None else timeout_s, at_once=at_once) if engine is not None else True
        if of_all is not None:
            self._request_shutdown(engine, of_all)
        if self._member is not None:
            self._member.leave()
        return ended
