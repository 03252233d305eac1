"""Random programs that are run on records of all kinds: late ones, such without key or value, several at one time.

What is passed on of a table is the last thing of a program, because a batch passes on one change of a row where Kafka Streams,
without a cache, passes on each. The names of programs say what has to be the same of their results: `stream_` every record,
`rows_` the last one of each key, `grouped_` (again) the same where a record is a batch, `alone_` (left and outer joins) every
record at any time, but those that only seemed alone.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.streams.programs.case import UNCACHED, Case, Input, records
from tests.streams.programs.generated import SAME, SEED, _case

COUNT = 12


class _Mixed:
    """A program that grows line by line."""

    def __init__(self, chance: random.Random) -> None:
        self.chance, self.lines, self.numbers = chance, ['s0 = b.stream("in")'], 0
        self.streams, self.tables = ["s0"], list[str]()
        self.kind, self.out = "stream", "s0"

    def put(self, text: str, names: list[str]) -> str:
        self.numbers += 1
        name = f"{'s' if names is self.streams else 't'}{self.numbers}"
        self.lines.append(f"{name} = {text}")
        names.append(name)
        return name

    def stream(self, text: str) -> str:
        self.out = self.put(text, self.streams)
        return self.out

    def table(self, text: str) -> str:
        return self.put(text, self.tables)

    def one(self, names: list[str]) -> str:
        return self.chance.choice(names[-3:])

    def windows(self, *, grace: int = 12) -> str:
        """Windows of a join."""
        after = self.chance.choice(
            ("", f".after(millis({self.chance.randrange(9)}))", f".before(millis({self.chance.randrange(9)}))")
        )
        near, late = self.chance.choice((0, 2, 5)), self.chance.choice((0, grace // 3, grace))
        return f"JoinWindows.of_time_difference_and_grace(millis({near}), millis({late})){after}"


def _step(p: _Mixed) -> None:
    """One more operator, which passes on every record or makes a table."""
    s = p.one(p.streams)
    steps: list[Callable[[], object]] = [
        lambda: p.stream(f"{s}.filter(NOT_A)"),
        lambda: p.stream(f"{s}.filter_not(ROW)"),
        lambda: p.stream(f"{s}.filter(ROW)"),
        lambda: p.stream(f"{s}.map_values(UPPER)"),
        lambda: p.stream(f"{s}.map_values(NONE_IF_X)"),
        lambda: p.stream(f"{s}.flat_map_values(TWICE)"),
        lambda: p.stream(f"{s}.merge({p.one(p.streams)})"),
        lambda: p.stream(f"{s}.join({p.one(p.streams)}, BOTH, {p.windows()})"),
        lambda: p.stream(f"{s}.join({p.one(p.streams)}, BOTH, {p.windows()})"),
        lambda: p.table(f"{s}.to_table()"),
        lambda: p.table(f"{s}.group_by_key().reduce(CONCAT)"),
        lambda: p.table(f"{s}.group_by_key().count().map_values(TEXT)"),
        lambda: p.table(f"{s}.group_by_key().aggregate(EMPTY, APPEND)"),
    ]  # fmt: skip
    if p.tables:
        t, u = p.one(p.tables), p.one(p.tables)
        steps += [
            lambda: p.stream(f"{s}.join({t}, BOTH)"),
            lambda: p.stream(f"{s}.left_join({t}, BOTH)"),
            lambda: p.table(f"{t}.filter({p.chance.choice(('NOT_A', 'ROW'))})"),
            lambda: p.table(f"{t}.filter_not(ROW)"),
            lambda: p.table(f"{t}.map_values({p.chance.choice(('UPPER', 'NONE_IF_X'))})"),
            lambda: p.table(f"{t}.{p.chance.choice(('join', 'left_join', 'outer_join'))}({u}, BOTH)"),
        ]
    p.chance.choice(steps)()


def _rows(p: _Mixed) -> None:
    """The end of a program: the rows of a table."""
    s, chance = p.one(p.streams), p.chance
    strings = "Grouped.with_(Serdes.string(), Serdes.string())"
    p.kind = "rows"
    if not p.tables or chance.random() < 0.3:
        size, grace = chance.choice((3, 5, 8)), chance.choice((0, 2, 6))
        advance = chance.randrange(1, size + 1)
        windows = chance.choice(
            (
                f"TimeWindows.of_size_and_grace(millis({size}), millis({grace}))",
                f"TimeWindows.of_size_and_grace(millis({size}), millis({grace})).advance_by(millis({advance}))",
                f"SlidingWindows.of_time_difference_and_grace(millis({size}), millis({grace}))",
                f"SessionWindows.of_inactivity_gap_and_grace(millis({chance.randrange(5)}), millis({grace}))",
            )
        )
        add = chance.choice(("aggregate(EMPTY, APPEND)", "count()"))
        add = add.replace("APPEND", "APPEND, CONCATENATED") if windows.startswith("Session") else add
        t = p.table(f"{s}.group_by_key({strings}).windowed_by({windows}).{add}")
        way = chance.choice(("", "held", "grouped"))
        if way == "grouped" and (add == "count()" or not windows.startswith("Time")):  # docs/parity.md
            way = ""
        if way == "grouped":
            p.kind = "grouped"
            p.stream(f"{t}.map_values(TEXT).group_by(OF_KEY, {strings}).aggregate(ZERO, LONGER, SHORTER).to_stream()")
            return
        if way == "held":
            t = p.table(f"{t}.suppress(Suppressed.until_window_closes(Suppressed.BufferConfig.unbounded()))")
        p.stream(f"{t}.to_stream().select_key(WITH_BOUNDS).map_values(TEXT)")
        return
    t, u = p.one(p.tables), p.one(p.tables)
    way = chance.choice(("", "", "grouped", "counted", "foreign", "foreign left", "keyed"))
    p.kind = "grouped" if way else "rows"
    if way == "grouped":
        t = p.table(f"{t}.group_by(BY_VALUE, {strings}).aggregate(ZERO, LONGER, SHORTER)")
    elif way == "counted":
        t = p.table(f"{t}.group_by(BY_VALUE, {strings}).count().map_values(TEXT)")
    elif way.startswith("foreign"):
        t = p.table(f"{t}.{'left_join' if way.endswith('left') else 'join'}({u}, FIRST_LETTER, BOTH)")
    elif way == "keyed":
        t = p.table(f"{s}.group_by(OWN_KEY, {strings}).aggregate(EMPTY, APPEND)")
    p.stream(f"{t}.to_stream()")


def _alone(p: _Mixed) -> None:
    """The end of a program: streams, whose records may stay alone."""
    s = p.one(p.streams)
    p.kind = "alone"
    p.stream(f"{s}.{p.chance.choice(('left_join', 'outer_join'))}({p.one(p.streams)}, BOTH, {p.windows()})")


def cases(seed: int = SEED, count: int = COUNT) -> list[Case]:
    """Programs, each `SAME` of them with the same records."""
    found = []
    for number in range(count):
        p = _Mixed(random.Random(f"mixed {seed}-{number}"))
        for _ in range(p.chance.randrange(1, 7)):
            _step(p)
        end = p.chance.random()
        if end < 0.5:
            _rows(p)
        elif end < 0.65:
            _alone(p)
        p.lines.append(f'{p.out}.to("out")')
        found.append(_case(f"{p.kind}_{number}", p.lines, dict(UNCACHED), _records(f"mixed {seed}-{number // SAME}")))
    return found


def _records(seed: str) -> Input:
    """Records of few keys: many are late, some have no key or value, some values are not new; two come long after all others."""
    chance, time, rows = random.Random(seed), 20, []
    for number in range(20):
        time += chance.choice((0, 0, 1, 1, 2, 5))
        key, late = chance.choice("aaabbc-"), chance.choice((0, 0, 0, chance.randrange(20)))
        value = chance.choice((f"{chance.choice('abct')}{number}", f"{chance.choice('abct')}{number}", "tx", "-"))
        rows.append(f"{key}:{value}@{time - late}")
    return records("in", " ".join([*rows, "c:cq@200", "c:cr@300"]))
