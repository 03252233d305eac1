"""Commands of a worker to an application that reports to it: verify the internal topics, or create them (KIP-698).

Commands come in the responses to reports, so that the application opens no port. Each is run once, by the application itself,
with its own rights; `init` is possible only while it waits for its topics (`KafkaStreams.await_initialization`).
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import structlog

from headrace.errors import HeadraceError
from headrace.streams.initialization import InitParameters, InternalTopicsDescription, require_initialized, topics_to_create
from headrace.streams.internal_topics import InternalTopic

log = structlog.get_logger(__name__)

INIT, VERIFY = "init", "verify"
_MAX_RESULTS = 20


class CommandTarget(Protocol):
    """The part of an application that commands use."""

    def describe_internal_topics(self) -> InternalTopicsDescription: ...  # noqa: D102
    def init(self, *options: InitParameters) -> Sequence[InternalTopic]: ...  # noqa: D102


@dataclass(frozen=True)
class CommandResult:
    """What came of a command that a worker had for this application, by the command's id."""

    id: str
    """Of the command."""
    ok: bool
    message: str
    """Of a command that failed, the error."""
    topics: Sequence[str] = ()
    """The topics that have been created, or would be."""


class CommandRunner:
    """Runs the commands of a worker one after the other, each once. Thread-safe."""

    def __init__(self, application: CommandTarget, done: Callable[[], None]) -> None:
        """done: called, on any thread, when a command has ended."""
        self._application, self._done = application, done
        self._known: deque[str] = deque(maxlen=10 * _MAX_RESULTS)
        self._results: deque[CommandResult] = deque(maxlen=_MAX_RESULTS)
        self._lock = threading.Lock()
        self._running = threading.Lock()

    def submit(self, commands: Any) -> None:
        """Run the new commands of a response, on a thread of their own; invalid ones are ignored."""
        valid = [command for command in commands if isinstance(command, dict)] if isinstance(commands, list) else []
        with self._lock:
            new = [command for command in valid if isinstance(command.get("id"), str) and command["id"] not in self._known]
            self._known.extend(command["id"] for command in new)
        if new:
            threading.Thread(target=self._run_all, args=(new,), name="worker-commands", daemon=True).start()

    def results(self) -> list[dict[str, Any]]:
        """The results of the last commands, for a report."""
        with self._lock:
            return [asdict(result) for result in self._results]

    def _run_all(self, commands: Sequence[Mapping[str, Any]]) -> None:
        with self._running:
            for command in commands:
                result = self._result(command)
                log.info("streams.command", command=command.get("command"), ok=result.ok, message=result.message)
                with self._lock:
                    self._results.append(result)
                self._done()

    def _result(self, command: Mapping[str, Any]) -> CommandResult:
        try:
            message, topics = self._run(command)
        except HeadraceError as error:
            return CommandResult(command["id"], False, str(error))
        except Exception as error:
            log.error("streams.command.failed", exc_info=error)
            return CommandResult(command["id"], False, f"{type(error).__name__}: {error}")
        return CommandResult(command["id"], True, message, [topic.name for topic in topics])

    def _run(self, command: Mapping[str, Any]) -> tuple[str, Sequence[InternalTopic]]:
        kind = command.get("command")
        if kind == VERIFY:
            description = self._application.describe_internal_topics()
            require_initialized(description)
            return f"All is well with {len(description.topics)} internal topics.", ()
        if kind != INIT:
            raise HeadraceError(f"This version of headrace does not know the command {kind!r}.")
        parameters = InitParameters(command.get("setup_if_incomplete") is True)
        if command.get("dry_run") is True:
            created, done = topics_to_create(self._application.describe_internal_topics(), parameters), "would be created"
        else:
            created, done = self._application.init(parameters), "created"
        if not created:
            return "The topology has no internal topics.", ()
        return f"{len(created)} internal topic{'' if len(created) == 1 else 's'} {done}.", created
