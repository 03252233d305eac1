"""The finding of one check."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from headrace.config.redaction import redact


class Severity(StrEnum):
    """The severity of a finding."""

    OK = "ok"
    WARNING = "warning"
    """A worker starts, but will have a problem later."""
    WRONG = "wrong"
    """A worker does not start, or does not work."""


@dataclass(frozen=True)
class Finding:
    """One line of the report."""

    check: str
    """The kind of check: `java`, `jars`, `config`, `port`, `cluster`, `topic`, `acl`, `clock`, `version`."""
    status: Severity
    message: str
    """The sentence about the problem or its absence, without a full stop."""
    remedy: str = ""
    """The remedy, in the imperative; empty if there is nothing to do."""

    def line(self) -> str:
        """Severity, check, message and remedy in one line; line breaks in messages of brokers are replaced.

        Values of config providers are redacted, before the blanks in them are changed.
        """
        text = redact(f"{self.message}; {self.remedy}" if self.remedy else self.message)
        return f"{self.status:<8} {self.check:<8} {' '.join(text.split())}"

    def body(self) -> dict[str, Any]:
        """The fields, for JSON."""
        return asdict(self)


def ok(check: str, message: str) -> Finding:
    """A finding of severity OK."""
    return Finding(check, Severity.OK, message)


def warning(check: str, message: str, remedy: str) -> Finding:
    """A finding of severity WARNING."""
    return Finding(check, Severity.WARNING, message, remedy)


def wrong(check: str, message: str, remedy: str) -> Finding:
    """A finding of severity WRONG."""
    return Finding(check, Severity.WRONG, message, remedy)
