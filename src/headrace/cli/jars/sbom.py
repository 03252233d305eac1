"""`headrace jars sbom`: the software bill of materials."""

from __future__ import annotations

import json
from typing import Annotated

import typer


def sbom(
    everything: Annotated[
        bool, typer.Option("--all", help="Also the embedded broker, Delta Lake and PostgreSQL's driver.")
    ] = False,
) -> None:
    """Print the software bill of materials (CycloneDX 1.6, JSON): Python packages and jars with licences, jars with checksums."""
    from headrace import sbom as materials
    from headrace.jvm.inventory import EVERYTHING, RUNTIME, inventory
    from headrace.jvm.wheel_jars import wheel_jars

    typer.echo(json.dumps(materials.sbom(inventory(EVERYTHING if everything else RUNTIME), wheel_jars()), indent=1))
