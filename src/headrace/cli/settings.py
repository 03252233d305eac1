"""Settings on the command line."""

from __future__ import annotations

import typer


def setting(text: str) -> tuple[str, str]:
    """`key=value` as a pair; the value may hold more equals signs."""
    key, separator, value = text.partition("=")
    if not separator or not key.strip():
        raise typer.BadParameter(f"'{text}' is not of the form KEY=VALUE.", param_hint="'--set'")
    return key.strip(), value
