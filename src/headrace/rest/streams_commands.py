"""Commands for instances of streams applications, sent with the response to their next report. In memory; thread-safe."""

from __future__ import annotations

import threading
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from headrace.errors import NotFoundError, RestError
from headrace.rest.streams_reports import ENDED, SILENT, state_of
from headrace.values.times import now_ms

WAITING, SENT, DONE, FAILED, EXPIRED = "waiting", "sent", "done", "failed", "expired"
_WAITING_MS, _ENDED_MS, _MAX_COMMANDS = 60_000, 15 * 60_000, 200
_LATE = {
    WAITING: "The instance has not reported for a minute; it has not been asked.",
    SENT: "The instance was asked, and has not said what became of it for a quarter of an hour.",
}

Json = dict[str, Any]


@dataclass(frozen=True)
class CommandRequest:
    """A request to an instance: `verify` or `init`, and its options."""

    command: str
    """init or verify."""
    setup_if_incomplete: bool = False
    """Of `init`: create what is missing, even if some topics are there."""
    dry_run: bool = False
    """Of `init`: say what would be created only."""


@dataclass(frozen=True)
class StreamsCommand:
    """A command, and what has become of it."""

    id: str
    application: str
    instance: str
    """The name of the instance that is to carry it out."""
    request: CommandRequest
    user: str | None
    """Who asked; None without authentication."""
    asked_ms: int
    """Epoch ms."""
    state: str = WAITING
    """`waiting`, `sent`, `done`, `failed` or `expired`."""
    message: str | None = None
    """What came of it, in a sentence; None until then."""
    topics: tuple[str, ...] = ()
    """Those that have been created, or would be."""

    def json(self) -> Json:
        """As the REST API shows it."""
        request = asdict(self.request)
        return {
            "id": self.id, "application": self.application, "instance": self.instance, **request, "user": self.user,
            "asked_ms": self.asked_ms, "state": self.state, "message": self.message, "topics": list(self.topics),
        }  # fmt: skip


@dataclass
class StreamsCommands:
    """The commands for instances that report to this worker: the last 200."""

    now_ms: Callable[[], int] = now_ms
    _commands: deque[StreamsCommand] = field(default_factory=lambda: deque(maxlen=_MAX_COMMANDS))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def ask(self, application: str, instance: str, request: CommandRequest, user: str | None) -> Json:
        """Queue a command for an instance, and return it."""
        command = StreamsCommand(uuid.uuid4().hex, application, instance, request, user, self.now_ms())
        with self._lock:
            self._commands.append(command)
        return command.json()

    def exchange(self, application: str, instance: str, results: Iterable[Mapping[str, Any]]) -> list[Json]:
        """Take over what an instance says about its commands, and return what is left to do, in the order of asking.

        One that it has said nothing about is handed over again, as the answer may have been lost: it runs each once, by its id.
        """
        results_by_id = {result["id"]: result for result in results}
        due = []
        with self._lock:
            self._update(lambda command: self._late(self._with_result(command, application, instance, results_by_id)))
            for n, command in enumerate(self._commands):
                if (command.application, command.instance) == (application, instance) and command.state in (WAITING, SENT):
                    self._commands[n] = replace(command, state=SENT)
                    due.append({"id": command.id, **asdict(command.request)})
        return due

    def all(self) -> list[Json]:
        """The commands, newest first."""
        with self._lock:
            self._update(self._late)
            return [command.json() for command in reversed(self._commands)]

    def _update(self, change: Callable[[StreamsCommand], StreamsCommand]) -> None:
        self._commands = deque(map(change, self._commands), _MAX_COMMANDS)

    def _with_result(
        self, command: StreamsCommand, application: str, instance: str, results_by_id: Mapping[str, Mapping[str, Any]]
    ) -> StreamsCommand:
        if (command.application, command.instance) != (application, instance) or command.id not in results_by_id:
            return command
        result = results_by_id[command.id]
        state = DONE if result["ok"] else FAILED
        return replace(command, state=state, message=result["message"], topics=tuple(result["topics"]))

    def _late(self, command: StreamsCommand) -> StreamsCommand:
        patience = {WAITING: _WAITING_MS, SENT: _ENDED_MS}.get(command.state)
        if patience is None or self.now_ms() - command.asked_ms <= patience:
            return command
        return replace(command, state=EXPIRED, message=_LATE[command.state])


def instance_for(application: str, request: CommandRequest, instances: Iterable[Json]) -> Json:
    """The instance that is to do it: for `init` one that waits to be started; else the one that has the work, if there is one.

    instances: of all applications, with their last reports. Raises NotFoundError, RestError 409.
    """
    application_instances = [instance for instance in instances if instance["application"] == application]
    if not application_instances:
        raise NotFoundError(f"No application '{application}' has reported to a worker in the last quarter of an hour.")
    able = [instance for instance in application_instances if state_of(instance) not in (*ENDED, SILENT)]
    if not able:
        raise RestError(409, f"No instance of '{application}' runs: whoever is asked has to report.")
    preferred = (
        (lambda instance: instance["state"] == "CREATED") if request.command == "init" else (lambda instance: instance["active"])
    )
    return min(able, key=lambda instance: (not preferred(instance), instance["age_ms"]))
