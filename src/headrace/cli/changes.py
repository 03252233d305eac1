"""What a command is about to change: refused if any of it is invalid, shown as a diff, confirmed, and then done."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Protocol

import typer
from rich.text import Text

from headrace.cli.connectors import tables
from headrace.cli.connectors.texts import diff_lines, plain
from headrace.config.diff import Action, Diff, summary
from headrace.errors import ConfigError, ConnectError, HeadraceError

if TYPE_CHECKING:
    from headrace.cli.connectors.client import RestResponse


class PlannedChanges(Protocol):
    """PlannedChanges of one kind: of connectors, topics, or streams applications."""

    @property
    def problems(self) -> Sequence[str]:
        """Why they cannot be carried out, a sentence each."""
        ...

    @property
    def diffs(self) -> Sequence[Diff]:
        """All that was compared, also what stays as it is; fit to be shown."""
        ...

    def carry_out(self, diff: Diff) -> RestResponse | None:
        """Do what one of `diffs` says; returns the answer of the REST API, if it was asked. Raises HeadraceError."""
        ...

    def sentence(self, diff: Diff) -> str:
        """That it has been done."""
        ...


def apply_changes(
    kinds: Mapping[str, PlannedChanges], *, yes: bool = False, dry_run: bool = False, as_json: bool = False
) -> bool:
    """Show the changes of all kinds, ask unless `yes`, and carry them out, in this order, unless `dry_run`.

    kinds: by the name of the kind, a heading and a member of the JSON. Returns whether there was anything to do. Raises
    ConfigError with all problems before anything is done, ConnectError.
    """
    if problems := [problem for changes in kinds.values() for problem in changes.problems]:
        raise ConfigError("Nothing has been done, because not every configuration is valid:\n" + "\n".join(problems))
    todo = [(changes, diff) for changes in kinds.values() for diff in changes.diffs if diff.action is not Action.KEEP]
    confirm = bool(todo) and not (yes or dry_run)
    if confirm or not as_json:  # with --json standard output is for the machine
        for kind, changes in kinds.items():
            heading = f"{kind.capitalize()}: " if len(kinds) > 1 else ""
            lines = [line for diff in changes.diffs for line in diff_lines(diff)]
            tables.show(*lines, Text(f"{heading}{summary(changes.diffs)}.", style="bold"), err=as_json)
    if confirm:
        typer.confirm("Do this?", abort=True, err=True)
    responses = [] if dry_run else _apply_all(todo, quiet=as_json)
    if as_json:
        shown = {
            kind: [_as_json(diff, next((a for d, a in responses if d is diff), None)) for diff in changes.diffs]
            for kind, changes in kinds.items()
        }
        typer.echo(json.dumps(shown, ensure_ascii=False))
    return bool(todo)


def _apply_all(todo: Sequence[tuple[PlannedChanges, Diff]], quiet: bool) -> list[tuple[Diff, RestResponse | None]]:
    """Apply the changes in order, up to the first that fails; returns the answers.

    Raises ConnectError with the name of the one that failed, and of those that were done before it.
    """
    done: list[tuple[Diff, RestResponse | None]] = []
    for changes, diff in todo:
        try:
            done.append((diff, changes.carry_out(diff)))
        except HeadraceError as error:
            before = ", ".join(plain(earlier.name) for earlier, _ in done) or "nothing"
            raise ConnectError(f"{plain(diff.name)}: {error.message} Done before it: {before}.") from None
        if not quiet:
            tables.show(changes.sentence(diff))
    return done


def _as_json(diff: Diff, response: RestResponse | None) -> dict[str, Any]:
    """A diff for a machine; `response`: of the REST API, null if nothing was done, or it said nothing."""
    return {**asdict(diff), "answer": response.json if response else None}
