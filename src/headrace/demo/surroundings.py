"""What the demo takes from its surroundings: example files and a port."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from headrace.embedded.ports import free_port, require_free
from headrace.errors import SetupError

REST_PORT = 8083


def rest_port() -> int:
    """8083, or the next free port of the twenty after it, or any free one."""
    for port in range(REST_PORT, REST_PORT + 20):
        try:
            require_free(port, "The worker")
        except SetupError:
            continue
        return port
    return free_port()


def example(name: str) -> Path:
    """A file of `examples/`: in the checkout, or as installed with the package."""
    checkout = Path(__file__).parents[3] / "examples" / name
    return checkout if checkout.is_file() else Path(str(files("headrace") / "examples" / name))
