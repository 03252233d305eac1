"""Bootstrap servers whose host names could be resolved before: if they cannot be now, that is an outage, not a wrong setting.

Java's clients refuse both with the same ConfigException when they are created.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from headrace.spark.failure import Cause
from headrace.spark.feeds import Feed, Update

_UNRESOLVED = re.compile(r"No resolvable bootstrap urls|Unknown host in bootstrap\.servers")
_SERVERS = "bootstrap.servers"
_known: set[str] = set()


def remember(*clients: Mapping[str, str]) -> None:
    """Remember the servers of clients that could be created. clients: their settings."""
    _known.update(servers for client in clients if (servers := client.get(_SERVERS)))


def is_outage(cause: Cause, *clients: Mapping[str, str]) -> bool:
    """Whether one of these clients could not be created because names cannot be resolved that could be before."""
    unresolved = cause.java_class.endswith(".ConfigException") and _UNRESOLVED.search(cause.message)
    return bool(unresolved) and all(client[_SERVERS] in _known for client in clients if _SERVERS in client)


def judged(update: Update, feed: Feed) -> Update:
    """An update of a feed whose failure tells whether it is an outage of name resolution; remembers the feed's servers."""
    clients = [feed.consumer] if feed.file is not None else [feed.consumer, feed.producer]
    if update.partitions:  # a lane reports them once it has the feed's clients
        remember(*clients)
    failure = update.failure
    if failure is None or failure.place is not None or not is_outage(Cause(failure.java_class, failure.message), *clients):
        return update
    return replace(update, failure=replace(failure, is_outage=True))
