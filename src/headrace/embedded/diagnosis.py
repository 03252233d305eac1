"""The reason why Kafka ended, from its output: one sentence instead of a stack trace; pure."""

from __future__ import annotations

import re

_FAILURE = re.compile(r"^(?:\S+ \[.*?\] (?:ERROR|FATAL) \S+ - |Exception in thread \"[^\"]*\" |Error\b)")
_CAUSE = re.compile(r"^(?:Caused by: )?(?:[\w$]+\.)+[\w$]*(?:Exception|Error)(?:: (?P<message>.*))?$")


def explain(output: str) -> str:
    """The cause of the last failure in the output of one run of Kafka, without Java's class names.

    output: of this run only. Of the causes of the failure, the innermost one with a message is returned.
    """
    if "No space left on device" in output:
        return "the disk is full."
    if bind := re.search(r"Socket server failed to bind to (\S+): (.*?)\.?$", output, re.MULTILINE):
        return f"it cannot listen on {bind[1]}: {bind[2]}."
    lines = output.splitlines()
    starts = [number for number, line in enumerate(lines) if _FAILURE.match(line)]
    if not starts:
        output_lines = [line for line in lines if line.strip()]
        return _sentence(output_lines[-1]) if output_lines else "it wrote nothing."
    first = _FAILURE.sub("", lines[starts[-1]])
    causes = [match["message"] for line in [first, *_trace(lines[starts[-1] + 1 :])] if (match := _CAUSE.match(line))]
    return _sentence(next((cause for cause in reversed(causes) if cause), first))


def _trace(lines: list[str]) -> list[str]:
    """The first lines, up to the next log entry: a stack trace."""
    end = next((number for number, line in enumerate(lines) if re.match(r"\d{4}-\d\d-\d\dT", line)), len(lines))
    return lines[:end]


def _sentence(text: str) -> str:
    return text.strip().rstrip(".") + "."
