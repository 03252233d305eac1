"""The base of And, Or and Not: predicates that combine other predicates of the connector, named by their aliases."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from headrace.predicates.base import Predicate


class Combination(Predicate):
    """A combination of named predicates."""

    refers_by: ClassVar[str]
    """The option that has the aliases."""

    def __init__(self, props: Mapping[str, Any], prefix: str, predicate_of: Callable[[str], Predicate]) -> None:
        """predicate_of: a new instance of the predicate of an alias. Raises what it raises; ConfigError."""
        super().__init__(props, prefix)
        aliases = self[self.refers_by]
        self.parts = [predicate_of(alias) for alias in (aliases if isinstance(aliases, list) else [aliases])]
        self.by_topic = all(part.by_topic for part in self.parts)

    def reads(self) -> Sequence[tuple[str, ...]]:
        """The columns that its parts read."""
        return [path for part in self.parts for path in part.reads()]
