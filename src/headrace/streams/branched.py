"""`KStream.split`: branches by predicates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Generic, TypeVar

from headrace.streams.flow import StreamFlow
from headrace.streams.functions import Function, KeyValueFunction, check_function
from headrace.streams.graph import Operator
from headrace.streams.operations import Branch, PassThrough
from headrace.streams.options import Branched, take

Stream = TypeVar("Stream")


class BranchedKStream(Generic[Stream]):
    """Branches of a KStream, until `default_branch` or `no_default_branch` gives the map of them."""

    def __init__(self, source: StreamFlow, name: str | None, stream: Callable[[StreamFlow], Stream]) -> None:
        """stream: makes the KStream of a branch."""
        self._stream = stream
        self._name = source.graph.names.name_or_generated(name, "KSTREAM-BRANCH-")
        self._split = Branch()
        self._node = Operator(self._name, self._split)
        self._flow = source.to(self._node)
        self._branches: dict[str, Stream] = {}

    def branch(self, predicate: Function, *options: Branched, **keywords: Branched) -> BranchedKStream[Stream]:
        """Records that went to no earlier branch, and for which the predicate of key and value is true."""
        (branched,) = take(options, keywords, Branched)
        check_function(predicate, "predicate", KeyValueFunction)
        child = self._child(branched, len(self._split.predicates) + 1)
        self._split = replace(self._split, predicates=(*self._split.predicates, (predicate, child)))
        self._node.operation = self._split
        return self

    def default_branch(self, *options: Branched, **keywords: Branched) -> dict[str, Stream]:
        """Records that went to no branch; returns the branches by name: the split's and the branch's, or a number."""
        (branched,) = take(options, keywords, Branched)
        self._split = replace(self._split, default=self._child(branched, 0))
        self._node.operation = self._split
        return self._branches

    def no_default_branch(self) -> dict[str, Stream]:
        """Drop records that went to no branch; returns the branches by name."""
        return self._branches

    def _child(self, branched: Branched | None, number: int) -> str:
        name = self._name + (branched.name if branched and branched.name is not None else str(number))
        self._flow.graph.names.processor(name)  # takes a number, as in Kafka
        child = self._stream(self._flow.to(Operator(name, PassThrough())))
        if branched is None or branched.chain is None:
            self._branches[name] = child
            return name
        result = branched.chain(child)
        if result is not None and not branched.ends:
            self._branches[name] = result
        return name
