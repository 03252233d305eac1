"""A sink connector under test."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.deployed import CONNECTOR_S, Deployed
from tests.support import wait_until


class Sink(Deployed):
    """A sink connector, driven over REST."""

    def offsets(self) -> dict[tuple[str, int], int]:
        """The committed offsets as REST gives them."""
        found = self.worker.call("GET", self.path + "/offsets")["offsets"]
        return {(o["partition"]["kafka_topic"], o["partition"]["kafka_partition"]): o["offset"]["kafka_offset"] for o in found}

    def await_offsets(self, offsets: Mapping[tuple[str, int], int]) -> None:
        """Wait until these are the committed offsets, and fail if a task does."""

        def done() -> bool:
            assert "FAILED" not in self.states(), self.status()
            return self.offsets() == offsets

        wait_until(done, CONNECTOR_S, f"{self.name} has committed {offsets}")


def lines(file: Path) -> list[str]:
    """The lines of a file, none if it is not there."""
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


def await_lines(file: Path, wanted: list[str]) -> None:
    """Wait until a file has these lines, in any order."""
    wait_until(lambda: len(lines(file)) >= len(wanted), CONNECTOR_S, f"{wanted} in {file}")
    assert sorted(lines(file)) == sorted(wanted)
