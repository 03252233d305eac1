"""The states of an application and their valid transitions: Kafka's `KafkaStreams.State`."""

from __future__ import annotations

import threading
from collections.abc import Callable
from enum import StrEnum

import structlog

from headrace.errors import StreamsError

log = structlog.get_logger(__name__)


class State(StrEnum):
    """The state of an application."""

    CREATED = "CREATED"
    REBALANCING = "REBALANCING"
    RUNNING = "RUNNING"
    PENDING_SHUTDOWN = "PENDING_SHUTDOWN"
    NOT_RUNNING = "NOT_RUNNING"
    PENDING_ERROR = "PENDING_ERROR"
    ERROR = "ERROR"

    def is_running_or_rebalancing(self) -> bool:
        """Whether the application is RUNNING or REBALANCING."""
        return self in (State.RUNNING, State.REBALANCING)


_VALID_TRANSITIONS = {
    State.CREATED: {State.REBALANCING, State.PENDING_SHUTDOWN},
    State.REBALANCING: {State.RUNNING, State.PENDING_SHUTDOWN, State.PENDING_ERROR},
    State.RUNNING: {State.REBALANCING, State.RUNNING, State.PENDING_SHUTDOWN, State.PENDING_ERROR},
    State.PENDING_SHUTDOWN: {State.NOT_RUNNING},
    State.NOT_RUNNING: set(),
    State.PENDING_ERROR: {State.ERROR},
    State.ERROR: set(),
}
Listener = Callable[[State, State], None]


class StateMachine:
    """The current state; the listener gets the new and the old one."""

    def __init__(self) -> None:
        self._state = State.CREATED
        self._changed = threading.Condition(threading.RLock())
        self._listener: Listener | None = None
        self._observers: list[Callable[[], None]] = []

    @property
    def state(self) -> State:
        """The current state."""
        return self._state

    def set_listener(self, listener: Listener | None) -> None:
        """Set the listener. Raises StreamsError once the application has been started."""
        if self._state is not State.CREATED:
            raise StreamsError("Can only set StateListener before calling start(). Current state is: " + self._state)
        self._listener = listener

    def observe(self, observer: Callable[[], None]) -> None:
        """Call a function after each transition, whatever the listener is; it returns at once, and raises nothing."""
        self._observers.append(observer)

    def transition_to(self, new: State) -> bool:
        """Change to a state; whether that is a valid transition from the current one. An error of the listener, or its
        `sys.exit()`, is logged.
        """
        with self._changed:
            old = self._state
            if new not in _VALID_TRANSITIONS[old] or new is old:
                return new is old
            self._state = new
            self._changed.notify_all()
        log.info("State transition from %s to %s", old, new)
        for observer in self._observers:
            observer()
        if self._listener is not None:
            try:
                self._listener(new, old)
            except (Exception, SystemExit):  # whoever changes the state has to go on: one that ends closes its tasks afterwards
                log.exception("The state listener failed at the transition from %s to %s", old, new)
        return True

    def wait_for(self, condition: Callable[[State], bool], timeout_s: float | None) -> bool:
        """Wait for a state; whether it was reached in time."""
        with self._changed:
            return self._changed.wait_for(lambda: condition(self._state), timeout_s)
