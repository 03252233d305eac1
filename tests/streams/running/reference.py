"""What Kafka Streams computes, in plain Python: one record after the other, as its processors do it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Record = tuple[Any, Any, int]  # key, value, time in ms


def table(batch: list[Record], state: dict, step: Callable[[Any, Record], Any]) -> dict:
    """Fold a batch into a table; returns the last value of each key that changed, None for one that is gone."""
    changed = {}
    for record in batch:
        if record[0] is None or record[1] is None:
            continue
        before = state.get(record[0])
        after = step(before, record)
        if after is None and before is None:
            continue
        state[record[0]] = changed[record[0]] = after
    for key in [key for key, value in state.items() if value is None]:
        del state[key]
    return changed


class Windows:
    """Windowed counts of one task, with the stream time that decides what is late."""

    def __init__(self, size: int, advance: int, grace: int) -> None:
        self.size, self.advance, self.grace = size, advance, grace
        self.time, self.counts = -1, {}

    def take(self, batch: list[Record]) -> dict:
        changed = {}
        for key, _, t in batch:
            if key is None:
                continue
            self.time = max(self.time, t)
            start = max(0, t - self.size + self.advance) // self.advance * self.advance
            while start <= t:
                if start + self.size > self.time - self.grace:
                    self.counts[key, start] = self.counts.get((key, start), 0) + 1
                    changed[key, start] = self.counts[key, start]
                start += self.advance
        return changed

    def kept(self) -> dict:
        """Those whose retention, size and grace, is not over: by the window that begins last."""
        newest = max((start for _, start in self.counts), default=-1)
        return {window: n for window, n in self.counts.items() if window[1] > newest - self.size - self.grace}


class Sessions:
    """Counts per session (KStreamSessionWindowAggregate)."""

    def __init__(self, gap: int, grace: int) -> None:
        self.gap, self.grace, self.time = gap, grace, -1
        self.sessions: dict[Any, dict[tuple[int, int], int]] = {}

    def take(self, batch: list[Record]) -> None:
        for key, _, t in batch:
            if key is None:
                continue
            expired, self.time = self.time - self.gap - self.grace, max(self.time, t)
            sessions = self.sessions.setdefault(key, {})
            near = {s: n for s, n in sessions.items() if s[1] > expired and s[1] >= t - self.gap and s[0] <= t + self.gap}
            start, end = min([t, *(s[0] for s in near)]), max([t, *(s[1] for s in near)])
            if end < self.time - self.grace - self.gap:
                continue
            for session in near:
                del sessions[session]
            sessions[start, end] = sum(near.values()) + 1

    def all(self) -> dict:
        return {(key, *session): n for key, sessions in self.sessions.items() for session, n in sessions.items()}

    def kept(self) -> dict:
        """Those whose retention, gap and grace, is not over."""
        return {session: n for session, n in self.all().items() if session[2] > self.time - self.gap - self.grace}


class Sliding:
    """Aggregates per sliding window of one task (KStreamSlidingWindowAggregate). step: of the value before, None at first."""

    def __init__(self, difference: int, grace: int, step: Callable[[Any, Record], Any]) -> None:
        self.difference, self.grace, self.step, self.time = difference, grace, step, -1
        self.newest = -1  # the greatest start of a window that was put
        self.windows: dict[Any, dict[int, tuple[Any, int]]] = {}

    def take(self, batch: list[Record]) -> dict:
        changed = {}
        for record in batch:
            if record[0] is not None and record[1] is not None:
                self.time = max(self.time, record[2])
                updates = self._process(record)
                self.newest = max([self.newest, *updates])
                changed |= {(record[0], start): value for start, value in updates.items()}
        return changed

    def _process(self, record: Record) -> dict[int, Any]:
        windows, t, size = self.windows.setdefault(record[0], {}), record[2], self.difference
        close, changed = self.time - self.grace, {}
        if t + 1 + size <= close:
            return {}
        first = max(t - 2 * size, self.newest - 2 * size - self.grace + 1)
        near = {start: windows[start] for start in sorted(windows) if first <= start <= t + 1}

        def update(start: int, value: Any, time: int) -> None:
            if start + size >= close:
                new = self.step(value, record)
                windows[start] = new, t if value is None else max(t, time)
                changed[start] = new

        before = ended = opened = None  # the time of the record before, as windows have it; the last window that has ended
        for start, (value, time) in near.items():
            if start + size < t:
                ended = value, time
            elif start <= t:
                if start == max(t - size, 0):
                    before = time if time < t else None
                if start + size > t:
                    opened = value, time
                update(start, value, time)
        left = max(t - size, 0)
        if left in near and near[left][1] >= t >= size:
            return changed
        previous = ended[1] if ended else before
        if previous is not None and previous + 1 not in near and previous + 1 + size >= t:
            update(previous + 1, None, t)
        if left not in near:
            update(left, ended[0] if ended and t - size <= ended[1] else None, t)
        if t + 1 not in near and opened is not None and opened[1] > t:
            windows[t + 1] = opened
            changed[t + 1] = opened[0]
        return changed

    def all(self) -> dict:
        return {(key, start): value for key, windows in self.windows.items() for start, (value, _) in windows.items()}

    def kept(self) -> dict:
        """Those whose retention, two differences and grace, is not over."""
        kept_from = self.newest - 2 * self.difference - self.grace
        return {window: value for window, value in self.all().items() if window[1] > kept_from}


def merged(*topics: list[Record]) -> list[tuple[int, Record]]:
    """The records of one task in the order in which it takes them: always the topic whose next record is the oldest."""
    heads, in_order = [0] * len(topics), []
    while any(head < len(topic) for head, topic in zip(heads, topics, strict=True)):
        left = [i for i, topic in enumerate(topics) if heads[i] < len(topic)]
        i = min(left, key=lambda i: (topics[i][heads[i]][2], i))
        in_order.append((i, topics[i][heads[i]]))
        heads[i] += 1
    return in_order


class StreamJoin:
    """KStreamKStreamJoin: pairs, and for a left or outer join those who stay alone."""

    def __init__(self, before: int, after: int, grace: int, kind: str) -> None:
        self.before, self.after, self.grace, self.kind = before, after, grace, kind
        self.time, self.buffers, self.newest = -1, ([], []), [-1, -1]
        self.waiting: list[tuple[int, Record]] = []

    def take(self, batch: list[tuple[int, Record]]) -> list[tuple]:
        out = []
        for side, record in batch:
            key, value, t = record
            self.time = max(self.time, t)
            out += self._alone()
            if key is None and value is not None and (self.kind == "outer" or (self.kind == "left" and side == 0)):
                out.append(self._without(side, record))
            if key is None or value is None:
                continue
            low, high = (self.before, self.after) if side == 0 else (self.after, self.before)
            oldest = self.newest[1 - side] - (self.before + self.after + self.grace)
            met = [o for o in self.buffers[1 - side] if o[0] == key and t - low <= o[2] <= t + high and o[2] > oldest]
            for other in met:
                left, right = (value, other[1]) if side == 0 else (other[1], value)
                out.append((key, f"{left}-{right}", max(t, other[2])))
                self.waiting = [w for w in self.waiting if w[1] is not other]
            if not met and (self.kind == "outer" or (self.kind == "left" and side == 0)):
                self.waiting.append((side, record))
            self.buffers[side].append(record)
            self.newest[side] = max(self.newest[side], t)
        return out + self._alone()

    def _alone(self) -> list[tuple]:
        over = [(s, r) for s, r in self.waiting if r[2] + (self.after if s == 0 else self.before) + self.grace < self.time]
        self.waiting = [record for record in self.waiting if record not in over]
        return [self._without(*record) for record in over]

    @staticmethod
    def _without(side: int, record: Record) -> tuple:
        return (record[0], f"{record[1]}-None" if side == 0 else f"None-{record[1]}", record[2])
