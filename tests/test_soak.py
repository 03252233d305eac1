"""How the soak counts what became of its records."""

from __future__ import annotations

import pytest
from benchmarks.process import BenchmarkError
from benchmarks.soak import records
from benchmarks.soak.records import Outcome, compare

from headrace.embedded.ports import free_port


def test_records_that_are_missing_there_again_and_out_of_order_are_counted() -> None:
    sent = {0: [b"0", b"1", b"2", b"3"], 1: [b"0"]}
    assert compare(sent, sent) == Outcome()
    assert compare(sent, {0: [b"0", b"2", b"1", b"2"]}) == Outcome(lost=2, twice=1, misplaced=1)


def test_a_topic_that_is_not_read_to_its_end_has_no_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "_READ_S", 0)
    with pytest.raises(BenchmarkError, match="were not read to their ends"):
        records.read(f"127.0.0.1:{free_port()}", "sent")
