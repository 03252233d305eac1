"""Every exception of headrace.

    HeadraceError                     anything that headrace itself reports                          HTTP 500
    ├── ConnectError                  a connector, task or the worker cannot continue                   500
    │   ├── RetriableError            the same, but trying again may help                            500
    │   ├── DataError                 a record's bytes or schema do not fit                          500
    │   ├── NotFoundError             no such connector, task, plugin, logger                        404
    │   ├── TooManyTasksError         a connector has generated more tasks than it may have          500
    │   ├── AlreadyExistsError        the name is taken                                              409
    │   └── BadRequestError           the request, or the configuration in it, is wrong              400
    ├── RestError                     an answer with a status of its own (403, 409, 500 …)           given
    ├── ConfigError                   one or more options are missing or wrong                       400
    │   └── PluginVersionError        a plugin is not there in the version that is wanted              400
    ├── StreamsError                  a streams application cannot be built or continue              500
    │   ├── TopologyError             its operators do not fit together                              500
    │   ├── MissingSourceTopicError   a topic that it reads is not there                             500
    │   ├── MissingInternalTopicsError, MisconfiguredInternalTopicError, InternalTopicsAlreadySetupError (KIP-698)
    │   ├── StreamsTimeoutError       Kafka did not answer in time                                   500
    │   ├── ArgumentError             a value given to the DSL is impossible (also a ValueError)     500
    │   └── TaskAssignmentError       partitions of an internal topic cannot be counted              500
    └── SetupError                    this machine lacks something (Java, a port, a directory)       500

Each class names the exception that Kafka Connect throws in the same place (`java_class`): traces in `/status` begin with it, so
that tools which read them keep working.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar


class HeadraceError(Exception):
    """Base of everything that headrace reports; `str()` is one clear sentence for the user."""

    status: ClassVar[int] = 500
    java_class: ClassVar[str] = "org.apache.kafka.connect.errors.ConnectException"
    java_trace: str | None = None
    """The stack trace of an error that came from a plugin in Java, with its causes."""

    @property
    def message(self) -> str:
        """The sentence alone, without a class name."""
        return str(self)


class ConnectError(HeadraceError):
    """A connector, a task or the worker cannot continue."""


class RetriableError(ConnectError):
    """Like ConnectError, but the same step may succeed when it is tried again."""

    java_class = "org.apache.kafka.connect.errors.RetriableException"


class DataError(ConnectError):
    """A record cannot be converted or transformed."""

    java_class = "org.apache.kafka.connect.errors.DataException"


class NotFoundError(ConnectError):
    """Something that a request names does not exist."""

    status = 404
    java_class = "org.apache.kafka.connect.errors.NotFoundException"


class AlreadyExistsError(ConnectError):
    """The name of a new connector is taken."""

    status = 409
    java_class = "org.apache.kafka.connect.errors.AlreadyExistsException"


class TooManyTasksError(ConnectError):
    """A connector has generated more tasks than it may have."""

    java_class = "org.apache.kafka.connect.runtime.TooManyTasksException"


class BadRequestError(ConnectError):
    """A request, or the configuration in it, is wrong."""

    status = 400
    java_class = "org.apache.kafka.connect.runtime.rest.errors.BadRequestException"


class RestError(HeadraceError):
    """An answer with a status of its own."""

    java_class = "org.apache.kafka.connect.runtime.rest.errors.ConnectRestException"

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status  # type: ignore[misc]


class ElsewhereError(RestError):
    """The request is for another worker; url: of its REST interface, None if it is not known at the moment."""

    java_class = "org.apache.kafka.connect.runtime.distributed.RequestTargetException"

    def __init__(self, message: str, url: str | None) -> None:
        super().__init__(409, message)
        self.url = url


class ConfigError(HeadraceError):
    """One or more options are missing or have an impossible value."""

    status = 400
    java_class = "org.apache.kafka.common.config.ConfigException"

    @classmethod
    def invalid(cls, name: str, value: object, why: str | None = None) -> ConfigError:
        """Kafka's sentence for a bad value: `Invalid value V for configuration N: WHY`."""
        return cls(f"Invalid value {value} for configuration {name}" + (f": {why}" if why else ""))

    @classmethod
    def missing(cls, name: str) -> ConfigError:
        """Kafka's sentence for an absent required option."""
        return cls(f'Missing required configuration "{name}" which has no default value.')


class PluginVersionError(ConfigError):
    """A plugin is not there in the version that is wanted."""

    java_class = "org.apache.kafka.connect.runtime.isolation.VersionedPluginLoadingException"


class StreamsError(HeadraceError):
    """A streams application cannot be built, initialized or continued."""

    java_class = "org.apache.kafka.streams.errors.StreamsException"


class TopologyError(StreamsError):
    """The operators of a topology do not fit together; the message begins with Kafka's `Invalid topology: `."""

    java_class = "org.apache.kafka.streams.errors.TopologyException"

    def __init__(self, message: str) -> None:
        super().__init__(f"Invalid topology: {message}")


class ArgumentError(StreamsError, ValueError):
    """A value given to a window, a store or an operator is impossible."""

    java_class = "java.lang.IllegalArgumentException"


class ShutdownRequestedError(StreamsError):
    """Another instance has shut down the whole application (`SHUTDOWN_APPLICATION`)."""

    def __init__(self, reason: str) -> None:
        """reason: the error of that instance."""
        super().__init__(f"Another instance has requested that all instances of the application shut down, because of: {reason}")


class MissingSourceTopicError(StreamsError):
    """Topics that the application reads are not there; they may belong to somebody else. `topics`: their names."""

    java_class = "org.apache.kafka.streams.errors.MissingSourceTopicException"

    def __init__(self, topics: Iterable[str]) -> None:
        self.topics = list(topics)
        super().__init__(
            f"Missing source topics: {', '.join(self.topics)}. Create them, each with the number of partitions that its data "
            "needs, before this application."
        )


class MissingInternalTopicsError(StreamsError):
    """Internal topics are not there (KIP-698). `topics`: their names."""

    java_class = "org.apache.kafka.streams.errors.MissingInternalTopicsException"

    def __init__(self, topics: Iterable[str], message: str) -> None:
        self.topics = list(topics)
        super().__init__(message)


class MisconfiguredInternalTopicError(StreamsError):
    """Internal topics are not as they have to be (KIP-698). `topics`: their names; the text says what to do, to an operator."""

    java_class = "org.apache.kafka.streams.errors.MisconfiguredInternalTopicException"

    def __init__(self, topics: Iterable[str], message: str) -> None:
        self.topics = list(topics)
        super().__init__(message)


class InternalTopicsAlreadySetupError(StreamsError):
    """Every internal topic is there already: the application has been initialized before (KIP-698)."""

    java_class = "org.apache.kafka.streams.errors.InternalTopicsAlreadySetupException"


class StreamsTimeoutError(StreamsError):
    """Kafka did not answer, or a topic was not gone, in time."""

    java_class = "org.apache.kafka.common.errors.TimeoutException"


class TaskAssignmentError(StreamsError):
    """The number of partitions of an internal topic cannot be computed."""

    java_class = "org.apache.kafka.streams.errors.TaskAssignmentException"


class SetupError(HeadraceError):
    """This machine lacks something that headrace needs; the message says what, and how to get it."""


CAUSED_BY = "Caused by: "
"""What the line of a cause begins with in a `trace`."""


def trace(error: BaseException) -> str:
    """Render an error as the text of `trace` in a status record.

    Takes any exception; returns lines in the shape of a Java stack trace: the first names class and message, one `Caused by: …`
    follows for every cause. Python frames are left out: the reader is an operator of connectors.
    """
    lines, seen = [], set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        if isinstance(current, HeadraceError) and current.java_trace is not None:
            lines.append((CAUSED_BY if len(seen) > 1 else "") + current.java_trace.rstrip())
            break
        java = current.java_class if isinstance(current, HeadraceError) else type(current).__name__
        lines.append((CAUSED_BY if len(seen) > 1 else "") + f"{java}: {current}")
        current = current.__cause__
    return "\n".join(lines) + "\n"
