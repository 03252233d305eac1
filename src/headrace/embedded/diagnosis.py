"""Why Kafka ended, from what it wrote: one sentence instead of a stack trace; pure."""

from __future__ import annotations

import re

_FAILURE = re.compile(r"^(?:\S+ \[.*?\] (?:ERROR|FATAL) \S+ - |Exception in thread \"[^\"]*\" |Error\b)")
_CAUSE = re.compile(r"^(?:Caused by: )?(?:[\w$]+\.)+[\w$]*(?:Exception|Error)(?:: (?P<message>.*))?$")


def explain(output: str) -> str:
    """The cause that the output of one run of Kafka ends with, without Java's class names.

    Takes the text of the run alone. The last failure counts, and of its causes the innermost that says something.
    """
    if "No space left on device" in output:
        return "the disk is full."
    if bind := re.search(r"Socket server failed to bind to (\S+): (.*?)\.?$", output, re.MULTILINE):
        return f"it cannot listen on {bind[1]}: {bind[2]}."
    lines = output.splitlines()
    starts = [number for number, line in enumerate(lines) if _FAILURE.match(line)]
    if not starts:
        said = [line for line in lines if line.strip()]
        return _sentence(said[-1]) if said else "it wrote nothing."
    first = _FAILURE.sub("", lines[starts[-1]])
    causes = [match["message"] for line in [first, *_trace(lines[starts[-1] + 1 :])] if (match := _CAUSE.match(line))]
    return _sentence(next((cause for cause in reversed(causes) if cause), first))


def _trace(lines: list[str]) -> list[str]:
    """The lines that belong to the stack trace at the beginning."""
    end = next((number for number, line in enumerate(lines) if re.match(r"\d{4}-\d\d-\d\dT", line)), len(lines))
    return lines[:end]


def _sentence(text: str) -> str:
    return text.strip().rstrip(".") + "."
