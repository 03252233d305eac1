"""Random scripts of what a processor does with a store, step by step: `put|a|=x;range|a|-` puts, and then reads.

A step is a method of the store with its arguments: `-` is none, `=x` a value, `a/3/5` a session of the key a, digits are a time.
"""

from __future__ import annotations

import random

from tests.streams.programs.case import Case, Input
from tests.streams.programs.generated import SEED, _case

ROWS = 40
STORES = {
    "keys": 'key_value_store_builder(Stores.persistent_key_value_store("kept"), STRINGS)',
    "keys_in_memory": 'key_value_store_builder(Stores.in_memory_key_value_store("kept"), STRINGS)',
    "keys_with_times": 'timestamped_key_value_store_builder(Stores.persistent_timestamped_key_value_store("kept"), STRINGS)',
    "keys_with_headers": "timestamped_key_value_store_with_headers_builder("
    'Stores.persistent_timestamped_key_value_store_with_headers("kept"), STRINGS)',
    "windows": 'window_store_builder(Stores.persistent_window_store("kept", millis(20), millis(5), False), STRINGS)',
    "windows_in_memory": 'window_store_builder(Stores.in_memory_window_store("kept", millis(20), millis(5), False), STRINGS)',
    "windows_with_times": "timestamped_window_store_builder("
    'Stores.persistent_timestamped_window_store("kept", millis(60), millis(5), False), STRINGS)',
    "windows_with_headers": "timestamped_window_store_with_headers_builder("
    'Stores.persistent_timestamped_window_store_with_headers("kept", millis(60), millis(5), False), STRINGS)',
    "sessions": 'session_store_builder(Stores.persistent_session_store("kept", millis(20)), STRINGS)',
    "sessions_in_memory": 'session_store_builder(Stores.in_memory_session_store("kept", millis(20)), STRINGS)',
    "sessions_with_headers": "session_store_with_headers_builder("
    'Stores.persistent_session_store_with_headers("kept", millis(60)), STRINGS)',
    "versions": 'versioned_key_value_store_builder(Stores.persistent_versioned_key_value_store("kept", millis(20)), STRINGS)',
    "versions_kept_long": "versioned_key_value_store_builder("
    'Stores.persistent_versioned_key_value_store("kept", millis(60)), STRINGS)',
}  # fmt: skip


def _steps(chance: random.Random, kind: str, now: int, put: list[str]) -> str:
    """A step with a store of a kind. put: windows or sessions that have been put, some of which are asked for."""
    key, other = (chance.choice(("a", "a", "b", "aa", "ab", "")) for _ in range(2))
    value = chance.choice(("-", "=x", "=y", "="))
    first, last = sorted(max(0, now - chance.choice((0, 1, 3, 8, 21, 40)) + chance.choice((0, 0, 4))) for _ in range(2))
    writes = chance.random() < 0.5
    if kind == "keys":
        if writes:
            steps = [f"put|{key}|{value}"] * 4 + [f"put_if_absent|{key}|{value}", f"delete|{key}", "put|-|=x"]
        else:
            steps = [
                f"get|{key}",
                f"range|{key}|{other}",
                f"range|-|{key}",
                f"reverse_range|{key}|-",
                f"prefix_scan|{key or other or 'a'}",
            ]
            steps += ["all", "reverse_all"]
    elif kind == "windows":
        if writes:
            put.append(f"{key}|{first}")
            steps = [f"put|{key}|{value}|{first}"]
        else:
            steps = [f"fetch|{key}|{first}|{last}", f"fetch_all|{first}|{last}", "all", f"fetch|{chance.choice(put or ['a|0'])}"]
    elif kind == "sessions":
        if writes:
            put.append(f"{key}/{first}/{last}")
            steps = [f"put|{key}/{first}/{last}|{value}"] * 4 + [f"remove|{chance.choice(put)}"]
        else:
            steps = [f"fetch|{key}", f"find_sessions|{key}|{first}|{last}", f"find_sessions|{key}|{last}|{first}"]
            steps.append(f"fetch_session|{chance.choice(put or ['a/0/0']).replace('/', '|')}")
    elif writes:
        steps = [f"put|{key}|{value}|{first}"] * 3 + [f"delete|{key}|{first}", f"delete|{key}|{max(0, now - 30)}"]
    else:
        steps = [f"get|{key}", f"get|{key}|{first}"]
    return chance.choice(steps)


def _records(seed: str, kind: str) -> Input:
    chance, now, put, rows = random.Random(seed), 20, list[str](), []
    for _ in range(ROWS):
        now += chance.choice((0, 1, 2, 5, 9))
        steps = [_steps(chance, kind, now, put) for _ in range(chance.randrange(1, 5))]
        rows.append(("in", chance.choice("ab"), ";".join(steps), now))
    return tuple(rows)


def cases(seed: int = SEED) -> list[Case]:
    """A program for each store."""
    found = []
    for name, store in STORES.items():
        lines = [
            f"b.add_state_store(Stores.{store.replace('STRINGS', 'Serdes.string(), Serdes.string()')})",
            's = b.stream("in")',
            's.process(SCRIPTED, "kept").to("out")',
        ]
        found.append(_case(f"scripted_{name}", lines, {}, _records(f"scripts {seed} {name}", name.split("_")[0])))
    return found
