"""`headrace mirror failover`: groups of the source cluster resume in the target."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from headrace.cli.mirror.run import MirrorFile
from headrace.connectors.mirror import mm2_properties
from headrace.errors import ConnectError

_WIDE = 1000
FlowOption = Annotated[str | None, typer.Option("--flow", metavar="A->B", help="Which flow, if the file has several.")]
Groups = Annotated[list[str] | None, typer.Option("--group", metavar="GROUP", help="Only this group; repeatable.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show where each group would start only.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


def failover(
    file: MirrorFile, flow: FlowOption = None, group: Groups = None, dry_run: DryRun = False, as_json: AsJson = False
) -> None:
    """Let consumer groups resume in the target cluster where they are in the source: commit their offsets there.

    The source's own offsets count if it can be reached, the last checkpoints where not. A group may have no members in the
    target. With `--dry-run` nothing is committed. `lag` is how much there is to read from the start on; a start that is not
    `exact` reads some records again, and leaves none out.
    """
    from headrace.config import load_properties
    from headrace.config.providers import configured_resolver
    from headrace.connectors.mirror.failover import Failover
    from headrace.connectors.mirror.failover import as_json as rows

    raw = load_properties(file)
    props = dict(configured_resolver(raw).resolve(raw).props)  # as the worker of a flow does
    work = Failover(
        mm2_properties.connector(props, _chosen(mm2_properties.flows(props), props, flow), "MirrorCheckpointConnector")
    )
    switches = [switch for switch in work.plan() if not group or switch.group in group]
    if not switches:
        raise ConnectError(
            "No group has a position that can be translated: none was committed, or its topics are not mirrored yet."
        )
    if not dry_run:
        work.commit(switches)
    if as_json:
        typer.echo(json.dumps(rows(switches), indent=2))
        return
    _show(switches)
    groups = len({switch.group for switch in switches})
    done = "would start" if dry_run else "start"
    typer.echo(f"{groups} group{'s'[: groups != 1]} {done} at these offsets.")


def _chosen(
    flows: list[mm2_properties.ReplicationFlow], props: dict[str, str], name: str | None
) -> mm2_properties.ReplicationFlow:
    mirrored = [flow for flow in flows if mm2_properties.enabled(props, flow)]
    chosen = [flow for flow in mirrored if name is None or str(flow) == name]
    if len(chosen) != 1:
        have = ", ".join(map(str, mirrored)) or "none"
        hint = "Name one flow by --flow" if name is None else f"There is no flow {name}"
        raise ConnectError(f"{hint}; flows that are enabled: {have}.")
    return chosen[0]


def _show(switches: list) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for name in ("group", "topic", "partition", "in source", "start", "lag", "exact", "now"):
        table.add_column(name, justify="left" if name in ("group", "topic", "exact") else "right", overflow="fold")
    for switch in switches:
        now = "-" if switch.committed is None else str(switch.committed)
        exact = ("yes" if switch.exact else "no") + ("" if switch.from_source else " (checkpoint)")
        cells = (switch.group, switch.topic, switch.partition, switch.upstream, switch.start, switch.lag, exact, now)
        table.add_row(*map(str, cells))
    # Who reads it from a pipe gets each row in one line, whatever its length.
    Console(width=None if sys.stdout.isatty() else _WIDE).print(table)
