"""Paths to nested fields (KIP-821, syntax V2): steps between dots, backticks around a step that has dots itself."""

from __future__ import annotations

from headrace.errors import ConfigError


def field_path(text: str) -> tuple[str, ...]:
    """The steps of a path: `a.b` has two, `` `a.b`.c `` too. Raises ConfigError for a backtick that is not closed."""
    steps: list[str] = []
    at = 0
    while at < len(text):
        if text[at] == "`":
            step, at = _quoted(text, at)
        else:
            end = text.find(".", at)
            end = len(text) if end < 0 else end
            step, at = text[at:end], end + 1
        steps.append(step)
    if text.endswith("."):
        steps.append("")
    return tuple(steps)


def _quoted(text: str, opening: int) -> tuple[str, int]:
    """The step that the backtick at `opening` begins, and the position of the next step.

    A backtick closes the step if a dot or the end follows; `\\` before it escapes it, and is removed.
    """
    step, start, at = "", opening + 1, opening + 1
    while True:
        at = text.find("`", at)
        last = at == len(text) - 1
        escaped = at > 0 and text[at - 1] == "\\"
        if at < 0 or (last and escaped):
            raise ConfigError(
                f"Incomplete backtick pair in path: [{text}], consider adding a backslash before backtick at position {opening} "
                "to escape it"
            )
        if not last and text[at + 1] != ".":
            at += 1
        elif escaped:
            step += text[start : at - 1] + "`"
            at += 1
            start = at
        else:
            return step + text[start:at], at + (1 if last else 2)
