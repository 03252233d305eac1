"""Names of operators: generated from one counter per builder, given by the user, or given with a suffix.

Kafka's rule: an operator takes a number even if it has a name, so that naming one does not rename those behind it.
"""

from __future__ import annotations

from headrace.errors import StreamsError, TopologyError
from headrace.kafka.topic_names import ALLOWED, MAX_LENGTH, why_invalid

STATE_STORE = "STATE-STORE-"


def valid_name(name: str) -> str:
    """The name itself. Raises TopologyError in Kafka's words if no topic could have it."""
    if not name:
        raise TopologyError("Name is illegal, it can't be empty")
    if name in (".", ".."):
        raise TopologyError('Name cannot be "." or ".."')
    if len(name) > MAX_LENGTH:
        raise TopologyError(f"Name is illegal, it can't be longer than {MAX_LENGTH} characters, name: {name}")
    if not ALLOWED.issuperset(name):
        raise TopologyError(
            f"Name \"{name}\" is illegal, it contains a character other than ASCII alphanumerics, '.', '_' and '-'"
        )
    return name


def valid_topic(name: str) -> str:
    """The name of an internal topic itself. Raises StreamsError in Kafka's words if no topic could have it."""
    if why := why_invalid(name):
        raise StreamsError(f"Topic name is invalid: {why}")
    return name


class Names:
    """The counter of a builder."""

    def __init__(self) -> None:
        self._next = 0

    def processor(self, prefix: str) -> str:
        """`KSTREAM-MAP-` → `KSTREAM-MAP-0000000003`."""
        number, self._next = self._next, self._next + 1
        return f"{prefix}{number:010}"

    def store(self, prefix: str) -> str:
        """`KSTREAM-AGGREGATE-` → `KSTREAM-AGGREGATE-STATE-STORE-0000000003`."""
        return self.processor(prefix + STATE_STORE)

    def name_or_generated(self, name: str | None, prefix: str) -> str:
        """The name, or a generated one if it is None; takes a number in both cases. Raises TopologyError for an illegal name."""
        generated = self.processor(prefix)
        return generated if name is None else valid_name(name)

    def suffixed_or_generated(self, name: str | None, suffix: str, prefix: str) -> str:
        """The name with a suffix, or a generated one if it is None; takes a number in both cases. Raises TopologyError for an
        illegal name.
        """
        generated = self.processor(prefix)
        return generated if name is None else valid_name(valid_name(name) + suffix)
