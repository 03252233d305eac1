"""The states of connectors and tasks, as Kafka Connect writes them."""

from __future__ import annotations

UNASSIGNED, RUNNING, PAUSED, STOPPED = "UNASSIGNED", "RUNNING", "PAUSED", "STOPPED"
FAILED, RESTARTING = "FAILED", "RESTARTING"
