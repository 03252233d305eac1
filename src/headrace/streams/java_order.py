"""The order in which a TreeSet of Java's gives its elements: Kafka prints some of them as they come.

`TreeSet` is `java.util.TreeSet`, whose comparator may see other values at each insertion
(Kafka's does: the size of a node grows while a topology is described), so that the shape of the tree matters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class _Node(Generic[T]):
    __slots__ = ("black", "left", "parent", "right", "value")

    def __init__(self, value: T, parent: _Node[T] | None) -> None:
        self.value, self.parent, self.black = value, parent, True
        self.left: _Node[T] | None = None
        self.right: _Node[T] | None = None


class TreeSet(Generic[T]):
    """A red-black tree that inserts as Java's does. `compare(new, present)`: below, above or equal to 0."""

    def __init__(self, compare: Callable[[T, T], int]) -> None:
        self._compare = compare
        self._root: _Node[T] | None = None

    def add(self, value: T) -> None:
        """Insert, unless something on the way down is equal."""
        at, parent, order = self._root, None, 0
        while at is not None:
            parent, order = at, self._compare(value, at.value)
            if order == 0:
                return
            at = at.left if order < 0 else at.right
        new = _Node(value, parent)
        if parent is None:
            self._root = new
        elif order < 0:
            parent.left = new
        else:
            parent.right = new
        self._balance(new)

    def __iter__(self) -> Iterator[T]:
        return self._walk(self._root)

    def _walk(self, node: _Node[T] | None) -> Iterator[T]:
        if node is not None:
            yield from self._walk(node.left)
            yield node.value
            yield from self._walk(node.right)

    def _balance(self, node: _Node[T]) -> None:
        """`TreeMap.fixAfterInsertion`."""
        node.black = False
        while node is not self._root and node.parent is not None and not node.parent.black:
            parent, grand = node.parent, node.parent.parent
            assert grand is not None  # the root is black
            on_left = parent is grand.left
            uncle = grand.right if on_left else grand.left
            if uncle is not None and not uncle.black:
                parent.black = uncle.black = True
                grand.black = False
                node = grand
                continue
            if node is (parent.right if on_left else parent.left):
                node = parent
                self._rotate(node, left=on_left)
            assert node.parent is not None
            node.parent.black, grand.black = True, False
            self._rotate(grand, left=not on_left)
        assert self._root is not None
        self._root.black = True

    def _rotate(self, node: _Node[T], *, left: bool) -> None:
        """`node` goes down to the left (or right), its child on the other side takes its place."""
        up = node.right if left else node.left
        assert up is not None
        inner = up.left if left else up.right
        if left:
            node.right, up.left = inner, node
        else:
            node.left, up.right = inner, node
        if inner is not None:
            inner.parent = node
        up.parent = node.parent
        if node.parent is None:
            self._root = up
        elif node.parent.left is node:
            node.parent.left = up
        else:
            node.parent.right = up
        node.parent = up
