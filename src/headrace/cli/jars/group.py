"""The commands of `headrace jars`; without one, the jars are fetched."""

from __future__ import annotations

import typer

from headrace.cli.jars import fetch, offline, sbom

group = typer.Typer(invoke_without_command=True)
group.callback()(fetch.jars)
group.command("bundle")(offline.bundle)
group.command("import")(offline.import_)
group.command("sbom")(sbom.sbom)
