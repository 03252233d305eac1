"""Which bootstrap servers lead to the same Kafka cluster, as far as configurations say so: no cluster is asked. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

SOURCE_SERVERS = ("source.bootstrap.servers", "source.cluster.bootstrap.servers")
_OVERRIDE = "{}.override.bootstrap.servers"


def read_from(kind: str, config: Mapping[str, str | None]) -> str | None:
    """The bootstrap servers that a connector reads from, as its configuration has them; None: it names none.

    kind: source or sink.
    """
    names = (_OVERRIDE.format("consumer"),) if kind == "sink" else SOURCE_SERVERS
    return next((servers for name in names if (servers := config.get(name))), None)


def written_to(kind: str, config: Mapping[str, str | None]) -> str | None:
    """The bootstrap servers that a connector writes to, likewise."""
    return config.get("target.bootstrap.servers" if kind == "sink" else _OVERRIDE.format("producer"))


class ClusterNames:
    """One name for each cluster, however its bootstrap servers are written.

    Lists of servers that have an address in common are of one cluster. Two lists of one cluster without a common address
    (`localhost` here, a host name there) count as two.
    """

    def __init__(self, own: str = "", others: Iterable[str] = ()) -> None:
        """own: the bootstrap servers of the workers; others: those that connectors and applications name."""
        self._names: dict[str, str | None] = {}
        self._add(own, None)
        for servers in others:
            matching = [self._names[address] for address in _addresses(servers) if address in self._names]
            name = (
                None
                if None in matching
                else min((matching_name for matching_name in matching if matching_name), default=_plain(servers))
            )
            if len(set(matching)) > 1:  # two clusters that this list shows to be one
                self._names = {address: name if current in matching else current for address, current in self._names.items()}
            self._add(servers, name)

    def _add(self, servers: str, name: str | None) -> None:
        self._names |= dict.fromkeys(_addresses(servers), name)

    def place(self, servers: str | None) -> str | None:
        """The name of the cluster that these servers lead to; None: that of the workers, also where none are given."""
        for address in _addresses(servers or ""):
            if address in self._names:
                return self._names[address]
        return _plain(servers) if servers else None


def _addresses(servers: str) -> list[str]:
    """Each `host:port`, without a protocol before it."""
    return [address.strip().rpartition("://")[2].lower() for address in servers.split(",") if address.strip()]


def _plain(servers: str) -> str:
    return ",".join(address.strip().rpartition("://")[2] for address in servers.split(",") if address.strip())
