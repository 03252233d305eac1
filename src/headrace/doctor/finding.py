"""What one check found."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class Severity(StrEnum):
    """How bad it is."""

    OK = "ok"
    WARNING = "warning"
    """A worker starts, and something will hurt later."""
    WRONG = "wrong"
    """A worker does not start, or does not do its work."""


@dataclass(frozen=True)
class Finding:
    """One line of the report."""

    check: str
    """What was looked at: `java`, `jars`, `config`, `port`, `cluster`, `topic`, `acl`, `clock`, `version`."""
    status: Severity
    message: str
    """What is so, without a full stop."""
    remedy: str = ""
    """What to do about it, in the imperative; empty where there is nothing to do."""

    def line(self) -> str:
        """Severity, check, message and remedy in one line, whatever the texts of brokers have in them."""
        text = f"{self.message}; {self.remedy}" if self.remedy else self.message
        return f"{self.status:<8} {self.check:<8} {' '.join(text.split())}"

    def body(self) -> dict[str, Any]:
        """The same for JSON."""
        return asdict(self)


def ok(check: str, message: str) -> Finding:
    """Nothing is wrong."""
    return Finding(check, Severity.OK, message)


def warning(check: str, message: str, remedy: str) -> Finding:
    """It works, and will hurt later."""
    return Finding(check, Severity.WARNING, message, remedy)


def wrong(check: str, message: str, remedy: str) -> Finding:
    """It does not work."""
    return Finding(check, Severity.WRONG, message, remedy)
