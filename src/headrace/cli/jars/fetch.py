"""`headrace jars`: fetch what would be fetched on first use."""

from __future__ import annotations

from typing import Annotated

import typer

from headrace.cli.progress import progress


def jars(
    context: typer.Context,
    everything: Annotated[
        bool, typer.Option("--all", help="Also what plugins of Kafka Connect, Delta Lake and PostgreSQL need.")
    ] = False,
    peers: Annotated[
        bool, typer.Option("--peers", help="Also Kafka Connect and MirrorMaker 2, which benchmarks compare with.")
    ] = False,
) -> None:
    """Fetch the jars of Spark's Kafka connector and of the embedded broker.

    They are fetched once, on first use if not before, into `HEADRACE_HOME`, or `headrace` in the user's cache directory.
    `HEADRACE_IVY_SETTINGS` can name an Ivy settings file with a mirror. The classes that Spark and the broker load at every
    start are archived there as well, by this command only; they start in half the time with them.
    """
    if context.invoked_subcommand is not None:
        return
    from headrace.cli.archives import make
    from headrace.jvm.inventory import EVERYTHING
    from headrace.jvm.jars import Conf, connect_classpath, extension_jar, home
    from headrace.jvm.jars import jars as retrieve

    confs: list[Conf] = [*(EVERYTHING if everything else ("spark", "broker")), *(["peers"] if peers else [])]
    with progress("looking for jars") as report:
        count = sum(len(retrieve(conf, report)) for conf in confs)
        extension_jar(report)
        if everything:
            connect_classpath(report)
        make(report)
    typer.echo(f"{count + 1} jars are in {home()}")
