"""The base of And, Or and Not: predicates that combine other predicates of the connector, named by their aliases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from headrace.predicates.base import Predicate


class Combination(Predicate):
    """A combination of named predicates; `parts` are set, in the order of the aliases, before `test` is called."""

    refers_by: ClassVar[str]
    """The option that has the aliases."""
    parts: Sequence[Predicate] = ()

    @property
    def aliases(self) -> list[str]:
        """The aliases of its parts."""
        aliases = self[self.refers_by]
        return aliases if isinstance(aliases, list) else [aliases]

    def reads(self) -> Sequence[tuple[str, ...]]:
        """The columns that its parts read."""
        return [path for part in self.parts for path in part.reads()]
