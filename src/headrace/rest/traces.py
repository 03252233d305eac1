"""What the trace of a failed connector or task says: its sentences, and what they name."""

from __future__ import annotations

import re

from headrace.errors import CAUSED_BY

_RECORD = re.compile(r"Tolerance exceeded in error handler: record (?P<origin>.*), at (?P<step>.*)")
_SETTING = re.compile(r"for configuration (?P<invalid>[^\s:]+)|[Mm]issing required configuration \"(?P<missing>[^\"]+)\"")


def first_line(trace: str) -> str:
    """The error sentence: the first line of a trace, without the name of the Java class."""
    line = trace.strip().partition("\n")[0].strip()
    name, colon, sentence = line.partition(": ")
    return sentence if colon and sentence and " " not in name and "." in name else line


def causes(trace: str) -> list[str]:
    """Why, in the sentences of a trace: the first line, then what each `Caused by:` adds to it, the root cause last."""
    lines = [line.removeprefix(CAUSED_BY) for line in trace.strip().splitlines() if line.startswith(CAUSED_BY)]
    sentences = [first_line(trace)]
    for sentence in map(first_line, lines):
        if sentence and all(sentence not in before for before in sentences):
            sentences.append(sentence)
    return sentences


def named_in(trace: str) -> list[tuple[str, str]]:
    """What a trace names that one can look for, as far as it names any: the record, the step of the chain, and settings."""
    failed = _RECORD.search(trace)
    labels = [("Record", failed["origin"]), ("Step", failed["step"])] if failed else []
    settings = dict.fromkeys(match["invalid"] or match["missing"] for match in _SETTING.finditer(trace))
    return [*labels, *(("Setting", name) for name in settings)]
