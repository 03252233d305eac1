"""Compares random topologies with the real Kafka Streams: `python -m tests.golden.streams.differ SEED [COUNT]`.

Prints each program that differs, with both descriptions line by line. Needs what record.py needs.
"""

from __future__ import annotations

import difflib
import inspect
import sys

from tests.golden.streams.record import record
from tests.streams.programs import generated
from tests.streams.test_programs import made


def main(seed: int, count: int) -> int:
    """How many programs differ."""
    cases = generated.described(seed, count)
    kafka, differing = record(cases), 0
    for case in cases:
        ours, theirs = made(case), kafka[case.name]
        if generated.agree(ours, generated.shortened(theirs)):
            continue
        differing += 1
        print(case.name, case.config, inspect.getsource(case.build), ours.get("error"), theirs.get("error"), sep="\n")
        old, new = (one.get("describe", "").splitlines() for one in (theirs, ours))
        print("\n".join(difflib.unified_diff(old, new, "Kafka Streams", "headrace", lineterm="", n=1)))
    print(f"{differing} of {count} differ")
    return differing


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else generated.DESCRIBED) > 0)
