"""`headrace jars bundle` and `import`: the jars for machines without a network."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headrace.cli.progress import progress

BundleFile = Annotated[Path, typer.Argument(metavar="FILE", help="The bundle, a tar file.")]


def bundle(
    file: BundleFile,
    everything: Annotated[
        bool, typer.Option("--all", help="Also the embedded broker, Delta Lake and PostgreSQL's driver.")
    ] = False,
) -> None:
    """Write the jars of a worker into one file, which `headrace jars import` reads on a machine without a network.

    The bundle is for this version of headrace. Each jar has a checksum in it.
    """
    from headrace.jvm.bundle import write
    from headrace.jvm.inventory import EVERYTHING, RUNTIME

    with progress("looking for jars") as report:
        count = write(file, EVERYTHING if everything else RUNTIME, report)
    typer.echo(f"{count} jars are in {file}")


def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", exists=True, dir_okay=False, readable=True, help="The bundle.")],
) -> None:
    """Put the jars of a bundle into the cache (`HEADRACE_HOME`), after a look at their checksums."""
    from headrace.jvm.bundle import read
    from headrace.jvm.jars import home

    with progress("unpacking jars") as report:
        count = read(file, report)
    typer.echo(f"{count} jars are in {home()}")
