"""What the demo prints at its end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rich.table import Table

from headrace.demo.verify import Checksum

if TYPE_CHECKING:
    from headrace.kafka.admin import Admin
    from headrace.testing.worker import EmbeddedWorker


@dataclass
class DemoResult:
    """What the demo has copied."""

    prefix: str
    """Of the names of the copies."""
    pairs: dict[str, tuple[Checksum, Checksum]]
    """By topic, the checksums of it and of its copy."""
    lag: dict[str, int] = field(default_factory=dict)
    """Of the source's group, by topic."""

    @property
    def matches(self) -> bool:
        """Whether every copy equals its source."""
        return all(source == copy for source, copy in self.pairs.values())


def tables(result: DemoResult, worker: EmbeddedWorker, admin: Admin, connector: dict[str, Any], seconds: float) -> list[Table]:
    """The destination topics as they are on the broker, and the mirror's key figures."""
    return [_topics(result, admin), _figures(result, worker, connector, seconds)]


def _topics(result: DemoResult, admin: Admin) -> Table:
    table = Table(title="Destination topics, as created", title_justify="left", caption="p × r: partitions × replication factor")
    table.add_column("topic", no_wrap=True)
    table.add_column("p × r", no_wrap=True)
    table.add_column("settings", no_wrap=True)
    table.add_column("records", justify="right", no_wrap=True)
    table.add_column("checksum", no_wrap=True)
    for name, (source, copy) in result.pairs.items():
        info = admin.describe(result.prefix + name)
        settings = admin.topic_configs(result.prefix + name, own_only=True)
        equal = "[green]= source[/]" if source == copy else f"[red]source: {source.records:,}\n{source.hash}[/]"
        table.add_row(
            result.prefix + name,
            f"{len(info.partitions)} × {info.replication_factor}" if info else "-",
            "\n".join(f"{k}={v}" for k, v in sorted(settings.items())),
            f"{copy.records:,}",
            f"{copy.hash}\n{equal}",
        )
    return table


def _figures(result: DemoResult, worker: EmbeddedWorker, connector: dict[str, Any], seconds: float) -> Table:
    name = connector["name"]
    active: Any = worker.call("GET", f"/connectors/{name}/topics")
    records = sum(copy.records for _, copy in result.pairs.values())
    table = Table(title=f"Connector '{name}'", show_header=False, title_justify="left")
    table.add_row("active topics", ", ".join(sorted(active[name]["topics"])))
    table.add_row("records/s", f"{records / seconds:,.0f} from the request to the last record (a cold start)")
    lag = ", ".join(f"{topic} {records}" for topic, records in result.lag.items())
    table.add_row("lag on the source", f"{lag} (group {connector['config']['source.group.id']})")
    return table
