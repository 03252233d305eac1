"""Random topologies: a generator that writes programs, which record.py turns into Java like every other.

`described` are not run, and use what there is with and without names; the others have records, and give texts to the topic `out`:
`run`, with `windowed` (every kind of window, with and without grace) and `joined` (left and outer joins of streams).
The seed is fixed, and so what Kafka Streams says of them is recorded; for another one see tests/golden/streams/differ.py.
"""

from __future__ import annotations

import hashlib
import json
import linecache
import random
from collections.abc import Callable, Mapping
from typing import Any

from headrace import streams
from tests.streams.programs import functions
from tests.streams.programs.case import Case, Input, records

SEED, DESCRIBED, RUN, WINDOWED, JOINED = 1, 300, 24, 12, 6
SAME = 6  # so many of those that are run get the same records
_WINDOWS = (
    "TimeWindows.of_size_with_no_grace(minutes(5))",
    "TimeWindows.of_size_and_grace(minutes(5), minutes(1)).advance_by(minutes(1))",
    "SlidingWindows.of_time_difference_with_no_grace(minutes(5))", "SessionWindows.of_inactivity_gap_with_no_grace(minutes(5))",
)  # fmt: skip


class _Program:
    """A program that grows line by line. Streams, tables and groups are the names of its variables."""

    def __init__(self, chance: random.Random) -> None:
        self.chance, self.lines, self.numbers = chance, list[str](), 0
        self.streams, self.tables = list[str](), list[str]()

    def number(self) -> int:
        self.numbers += 1
        return self.numbers

    def stream(self, text: str) -> None:
        self.streams.append(self._put("s", text))

    def table(self, text: str) -> None:
        self.tables.append(self._put("t", text))

    def do(self, text: str) -> None:
        self.lines.append(text)

    def one(self, names: list[str]) -> str:
        return self.chance.choice(names[-4:])

    def option(self, kind: str, *before: str) -> str:
        """The arguments, and sometimes a name."""
        named = [f'{kind}.as_("{kind[0].lower()}{self.number()}")'] if self.chance.random() < 0.35 else []
        return ", ".join([*before, *named])

    def _put(self, prefix: str, text: str) -> str:
        name = f"{prefix}{self.number()}"
        self.lines.append(f"{name} = {text}")
        return name


def _described(p: _Program) -> None:
    """One more step of a program that is not run."""
    s = p.one(p.streams)
    steps: list[Callable[[], None]] = [
        lambda: p.stream(f'b.stream("a{p.number()}")'),
        lambda: p.table("b.table(" + p.option("Materialized", f'"b{p.number()}"') + ")"),
        lambda: p.stream(f"{s}.filter({p.option('Named', 'PREDICATE')})"),
        lambda: p.stream(f"{s}.map_values({p.option('Named', 'VALUE')})"),
        lambda: p.stream(f"{s}.flat_map_values({p.option('Named', 'VALUES')})"),
        lambda: p.stream(f"{s}.map({p.option('Named', 'PAIR')})"),
        lambda: p.stream(f"{s}.select_key({p.option('Named', 'KEY')})"),
        lambda: p.stream(f"{s}.flat_map({p.option('Named', 'PAIRS')})"),
        lambda: p.stream(f"{s}.process({p.option('Named', 'PROCESSOR')})"),
        lambda: p.stream(f"{s}.process_values({p.option('Named', 'FIXED')})"),
        lambda: p.stream(f"{s}.merge({p.option('Named', p.one(p.streams))})"),
        lambda: p.stream(f"{s}.repartition({p.option('Repartitioned')})"),
        lambda: p.table(f"{s}.to_table({p.option('Materialized')})"),
        lambda: p.do(f'{s}.to("out{p.number()}")'),
        lambda: p.table(f"{s}.group_by_key({p.option('Grouped')}).count({p.option('Materialized')})"),
        lambda: p.table(f"{s}.group_by_key({p.option('Grouped')}).reduce({p.option('Materialized', 'REDUCER')})"),
        lambda: p.table(f"{s}.group_by({p.option('Grouped', 'KEY')}).aggregate({p.option('Materialized', 'START', 'ADD')})"),
        lambda: _windowed(p, s),
        lambda: _joined(p, s),
        lambda: _joined(p, s),
        lambda: p.stream(f'{s}.join(b.global_table("g{p.number()}"), KEY, ' + p.option("Named", "JOINER") + ")"),
    ]  # fmt: skip
    if p.tables:
        t, u = p.one(p.tables), p.one(p.tables)
        steps += [
            lambda: p.stream(f"{s}.join({t}, {p.option('Joined', 'JOINER')})"),
            lambda: p.stream(f"{s}.left_join({t}, JOINER)"),
            lambda: p.stream(f"{t}.to_stream({p.option('Named')})"),
            lambda: p.table(f"{t}.filter({p.option('Materialized', 'PREDICATE')})"),
            lambda: p.table(f"{t}.map_values({p.option('Named', 'VALUE')})"),
            lambda: p.table(f"{t}.group_by({p.option('Grouped', 'PAIR')}).count({p.option('Materialized')})"),
            lambda: p.table(
                f"{t}.group_by({p.option('Grouped', 'PAIR')}).reduce({p.option('Materialized', 'REDUCER', 'UNREDUCER')})"
            ),
            lambda: p.table(f"{t}.join({u}, {p.option('Materialized', 'JOINER')})"),
            lambda: p.table(f"{t}.left_join({u}, {p.option('Named', 'JOINER')})"),
            lambda: p.table(f"{t}.outer_join({u}, JOINER)"),
            lambda: p.table(f"{t}.join({u}, FOREIGN, {p.option('TableJoined', 'JOINER')})"),
        ]  # fmt: skip
    p.chance.choice(steps)()


def _windowed(p: _Program, s: str) -> None:
    group = f"{s}.group_by_key({p.option('Grouped')}).windowed_by({p.chance.choice(_WINDOWS)})"
    p.table(f"{group}.count({p.option('Materialized')})")


def _joined(p: _Program, s: str) -> None:
    windows = "JoinWindows.of_time_difference_with_no_grace(minutes(5))"
    kind = p.chance.choice(("join", "left_join", "outer_join"))
    p.stream(f"{s}.{kind}({p.one(p.streams)}, {p.option('StreamJoined', 'JOINER', windows)})")


def _run(p: _Program) -> None:
    """One more step of a program that is run: no new keys, because what comes through a topic comes later."""
    s = p.one(p.streams)
    steps: list[Callable[[], None]] = [
        lambda: p.stream(f"{s}.filter(NOT_A)"),
        lambda: p.stream(f"{s}.filter_not(NOT_A)"),
        lambda: p.stream(f"{s}.map_values(UPPER)"),
        lambda: p.stream(f"{s}.flat_map_values(TWICE)"),
        lambda: p.stream(f"{s}.merge({p.one(p.streams)})"),
        lambda: p.table(f"{s}.group_by_key().reduce(CONCAT)"),
        lambda: p.table(f"{s}.group_by_key().count().map_values(TEXT)"),
        lambda: p.table(f"{s}.group_by_key().aggregate(EMPTY, APPEND)"),
        lambda: p.stream(
            f"{s}.join({p.one(p.streams)}, BOTH, JoinWindows.of_time_difference_and_grace(millis(3), millis(50)))"
        ),
    ]  # fmt: skip
    if p.tables:
        t = p.one(p.tables)
        steps += [
            lambda: p.stream(f"{s}.join({t}, BOTH)"),
            lambda: p.stream(f"{s}.left_join({t}, BOTH)"),
            lambda: p.table(f"{t}.filter(NOT_A)"),
            lambda: p.table(f"{t}.map_values(UPPER)"),
        ]  # fmt: skip
    p.chance.choice(steps)()


def _of_windows(p: _Program) -> None:
    """A windowed aggregation, all of whose changes are passed on, or some."""
    chance, s = p.chance, p.streams[-1]
    size, grace = chance.choice((3, 5, 8)), chance.choice((0, 2, 6))
    add = chance.choice(("aggregate(EMPTY, APPEND)", "count()"))
    windows = chance.choice(
        (
            f"TimeWindows.of_size_and_grace(millis({size}), millis({grace}))",
            f"TimeWindows.of_size_and_grace(millis({size}), millis({grace})).advance_by(millis({chance.randrange(1, size + 1)}))",
            f"SlidingWindows.of_time_difference_and_grace(millis({size}), millis({grace}))",
            f"SessionWindows.of_inactivity_gap_and_grace(millis({chance.randrange(5)}), millis({grace}))",
        )
    )
    emit = chance.choice(("", "", ".emit_strategy(EmitStrategy.on_window_close())"))
    if windows.startswith("Session"):
        add = add.replace("APPEND", "APPEND, CONCATENATED")
    if emit and not windows.startswith("Session"):  # without a longer retention Kafka loses windows that stream time leaps over
        kept = f'Materialized.as_("w{p.number()}-{chance.randrange(10**9)}").with_retention(millis(1000))'
        add = add.replace(")", f", {kept})").replace("(, ", "(")
    grouped = "group_by_key(Grouped.with_(Serdes.string(), Serdes.string()))"
    p.table(f"{s}.{grouped}.windowed_by({windows}){emit}.{add}")
    if not emit and chance.random() < 0.5:
        p.table(f"{p.tables[-1]}.suppress(Suppressed.until_window_closes(Suppressed.BufferConfig.unbounded()))")
    p.stream(f"{p.tables[-1]}.to_stream().select_key(WITH_BOUNDS).map_values(TEXT)")


def _outer_joined(p: _Program) -> None:
    """A join of two streams that passes on records without a partner."""
    after = p.chance.choice(("", f".after(millis({p.chance.randrange(2, 7)}))"))
    windows = f"JoinWindows.of_time_difference_and_grace(millis(3), millis({p.chance.randrange(4)})){after}"
    p.stream(f"{p.streams[0]}.{p.chance.choice(('left_join', 'outer_join'))}({p.streams[-1]}, BOTH, {windows})")


def _case(name: str, lines: list[str], config: dict[str, str], given: Any = ()) -> Case:
    text = f"def {name}(b):\n" + "".join(f"    {line}\n" for line in lines)
    file = f"<{name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    known = {name: getattr(source, name) for source in (streams, functions) for name in vars(source)}
    exec(compile(text, file, "exec"), known)
    return Case(name, known[name], config, {}, False, given)


def described(seed: int = SEED, count: int = DESCRIBED) -> list[Case]:
    """Programs to be described."""
    found = []
    for number in range(count):
        p = _Program(random.Random(f"{seed}-{number}"))
        p.stream('b.stream("in")')
        for _ in range(p.chance.randrange(2, 12)):
            _described(p)
        config = p.chance.choice(({}, {"topology.optimization": "all"}, {"topology.optimization": "merge.repartition.topics"}))
        found.append(_case(f"described_{number}", p.lines, config))
    return found


def run(seed: int = SEED, count: int = RUN) -> list[Case]:
    """Programs to be run, each with records of few keys whose times mostly grow."""
    found = []
    for number in range(count):
        p = _Program(random.Random(f"run {seed}-{number}"))
        p.stream('b.stream("in")')
        for _ in range(p.chance.randrange(2, 7)):
            _run(p)
        p.do(f'{p.streams[-1]}.to("out")')
        found.append(_case(f"run_{number}", p.lines, {}, _records(f"records {seed}-{number // SAME}")))
    return found


def windowed(seed: int = SEED, count: int = WINDOWED) -> list[Case]:
    """Programs with windows, and records of which many are late."""
    return [_each(f"windowed_{number}", _of_windows, f"{seed}-{number // SAME}", late=9) for number in range(count)]


def joined(seed: int = SEED, count: int = JOINED) -> list[Case]:
    """Programs with left and outer joins, and records that are in time for their windows; others: docs/parity.md."""
    return [_each(f"joined_{number}", _outer_joined, f"{seed}-{number // SAME}", late=1) for number in range(count)]


def _each(name: str, step: Callable[[_Program], None], seed: str, late: int) -> Case:
    p = _Program(random.Random(f"{name} {seed}"))
    p.stream('b.stream("in")')
    p.stream(
        p.chance.choice(
            ("s1.filter(NOT_A)", "s1.map_values(UPPER)", "s1.flat_map_values(TWICE)", "s1.merge(s1.map_values(UPPER))")
        )
    )
    step(p)
    p.do(f'{p.streams[-1]}.to("out")')
    return _case(name, p.lines, {"statestore.cache.max.bytes": "0"}, _records(f"records of {step.__name__} {seed}", late))


def _records(seed: str, late: int = 0) -> Input:
    """Records of few keys whose times mostly grow. late: so many milliseconds some are behind; two more come long after them."""
    chance, time, rows = random.Random(seed), 10, []
    for value in "bcdefghijklmnop":
        time += chance.randrange(-1, 4)
        rows.append(f"{chance.choice('aabc')}:{value}@{time - (chance.randrange(late) if late else 0)}")
    end = ["c:q@200", "c:r@300"] if late else []
    return records("in", " ".join([*rows, *end]))


def shortened(found: Mapping[str, Any]) -> dict[str, Any]:
    """What is recorded of a program: digests of its description and topics, which are many; errors without Java's objects."""
    if "error" in found:
        return {"error": found["error"].partition(": ")[2].partition("OptimizableRepartitionNode{")[0]}
    return {name: part if name == "results" else _digest(part) for name, part in found.items()}


def agree(ours: Mapping[str, Any], recorded: Mapping[str, Any]) -> bool:
    """Whether a program was made as is recorded of Kafka Streams; errors begin alike."""
    found = shortened(ours)
    return found == recorded or ("error" in found and "error" in recorded and found["error"].startswith(recorded["error"]))


def _digest(part: Any) -> str:
    return hashlib.sha256(json.dumps(part, sort_keys=True).encode()).hexdigest()[:16]


def cases() -> list[Case]:
    """All of the fixed seed."""
    return described() + run() + windowed() + joined()
