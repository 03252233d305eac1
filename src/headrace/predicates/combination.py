"""What And, Or and Not are: predicates made of other predicates of the connector, which they name by their aliases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from headrace.predicates.base import Predicate


class Combination(Predicate):
    """A predicate of named predicates; `parts` are set, in the order of the aliases, before `test` is called."""

    refers_by: ClassVar[str]
    """The option that has the aliases."""
    parts: Sequence[Predicate] = ()

    @property
    def aliases(self) -> list[str]:
        """Those of the predicates that it is made of."""
        aliases = self[self.refers_by]
        return aliases if isinstance(aliases, list) else [aliases]

    def reads(self) -> Sequence[tuple[str, ...]]:
        """What its parts look at."""
        return [path for part in self.parts for path in part.reads()]
