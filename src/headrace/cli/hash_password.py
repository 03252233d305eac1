"""`headrace hash-password`: for the file of REST users."""

from __future__ import annotations

import sys

import typer


def hash_password() -> None:
    """Print the hash of a password for `rest.authentication.users.file`.

    The password is asked for, or read from standard input, one line, if that is no terminal.
    """
    from headrace.rest.passwords import hashed  # here, so that `--help` does not wait for it

    if sys.stdin.isatty():
        password = typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    else:
        password = sys.stdin.readline().rstrip("\r\n")
    if not password:
        raise typer.BadParameter("the password is empty.")
    typer.echo(hashed(password))
