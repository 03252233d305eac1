"""Replaces values of config providers by their placeholders in everything that is shown.

Whoever resolves a placeholder calls `remember`; status traces, REST's error messages and every line of the log pass through
`redact`. The memory is the process's, since an error may show up far from the connector that it belongs to.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterable, Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any

from headrace.errors import HeadraceError

_SHORTEST = 4
"""Values of fewer characters are left: they would be found in every other word."""
_SHORTEST_LINE = 8
_WORDS = frozenset({"true", "false", "none", "null", "never", "always", "earliest", "latest"})
"""What options are set to, and messages and paths consist of: nobody's secret."""

_lock = threading.Lock()
_placeholders: dict[str, str] = {}  # a text that must not be shown -> what stands for it
_pattern: re.Pattern[str] | None = None


def remember(value: str, placeholder: str) -> None:
    """Replace `value` by `placeholder` from now on, also in the forms that logs and messages use."""
    global _pattern
    with _lock:
        # A placeholder stands for itself: it may contain the value (`${env:secret}`), and may be there already.
        new = dict.fromkeys(_forms(value), placeholder) | {placeholder: placeholder}
        if new.items() <= _placeholders.items():
            return
        _placeholders.update(new)
        longest_first = sorted(_placeholders, key=len, reverse=True)
        _pattern = re.compile("|".join(map(re.escape, longest_first)))


def redact(text: str) -> str:
    """The text with every value that a provider gave replaced by its placeholder."""
    pattern = _pattern
    return pattern.sub(lambda match: _placeholders[match[0]], text) if pattern else text


def redacted(tree: Any) -> Any:
    """Redact every text in dicts, lists and tuples; other values are unchanged."""
    if _pattern is None:
        return tree
    if isinstance(tree, str):
        return redact(tree)
    if isinstance(tree, dict):
        return {redacted(key): redacted(value) for key, value in tree.items()}
    if isinstance(tree, list | tuple):
        return type(tree)(map(redacted, tree)) if type(tree) in (list, tuple) else tree
    return tree


def redact_event(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Processor of structlog: the texts of an event. Private keys (`_record` …) are left to structlog."""
    for key, value in event.items():
        if not key.startswith("_"):
            event[key] = redacted(value)
    return event


def redact_line(_logger: object, _method: str, line: str) -> str:
    """Processor of structlog, after the renderer: whatever is still in the line, such as the text of an object."""
    return redact(line)


def is_maskable(text: str) -> bool:
    """Whether a secret can be replaced where it stands: one that is short, or a word of options, is part of other texts."""
    return len(text) >= _SHORTEST and text.lower() not in _WORDS


def maskable(secrets: Iterable[str]) -> list[str]:
    """The texts by which secrets are shown that are `is_maskable`, the longest first: a shorter one may be a part of it.

    One of several lines, as a private key, is shown line by line, too, or with the escapes of logs and JSON.
    """
    return sorted(filter(is_maskable, {text for secret in secrets for text in _shown_as(secret)}), key=len, reverse=True)


def _shown_as(secret: str) -> set[str]:
    texts = {secret, secret.strip(), *_lines(secret)}
    return texts | {json.dumps(text, ensure_ascii=False)[1:-1] for text in texts} | {text.replace("\n", "\\n") for text in texts}


def _lines(text: str) -> set[str]:
    return {line.strip() for line in text.splitlines() if len(line.strip()) >= _SHORTEST_LINE}


@contextmanager
def concealed() -> Iterator[None]:
    """Context in which errors of headrace contain placeholders instead of values."""
    try:
        yield
    except HeadraceError as error:
        clean = redact(str(error))
        if clean != str(error):
            error.args = (clean, *error.args[1:])
        raise


def _forms(value: str) -> set[str]:
    """The value as it is, trimmed, its items as a list, its lines, and each with the escapes of Python and JSON."""
    parts = {value, value.strip(), *(item.strip() for item in value.split(","))}
    parts |= _lines(value)
    parts = {part for part in parts if is_maskable(part)}
    quoted = {json.dumps(part, ensure_ascii=ascii_only)[1:-1] for part in parts for ascii_only in (True, False)}
    return parts | quoted | {repr(part)[1:-1] for part in parts}
