"""The policies of `auto.offset.reset`, and `by_duration:<ISO duration>` (KIP-1106): begin at the records of so long ago."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING

from headrace.errors import ConfigError
from headrace.values.times import now_ms

if TYPE_CHECKING:
    from headrace.kafka.admin import Admin
    from headrace.kafka.groups import Partition

BY_DURATION = "by_duration:"
_ISO = re.compile(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?")


def check_policy(policy: str) -> None:
    """Raise ConfigError for what is no policy of Kafka's consumers."""
    if policy.startswith(BY_DURATION):
        reset_ms(policy)
    elif policy not in ("earliest", "latest", "none"):
        expected = "The value must be either 'earliest', 'latest', 'none' or of the format 'by_duration:<PnDTnHnMn.nS.>'."
        raise ConfigError.invalid("auto.offset.reset", policy, expected)


def reset_ms(policy: str) -> int:
    """The milliseconds of `by_duration:` and Java's text of a duration (`P1DT2H3M4.5S`). Raises ConfigError if it is none."""
    match = _ISO.fullmatch(policy.removeprefix(BY_DURATION).upper())
    if match is None or not any(match.groups()):
        raise ConfigError(f"Invalid value {policy} for configuration auto.offset.reset: it has to be like by_duration:PT1H30M.")
    days, hours, minutes, seconds = (float(part or 0) for part in match.groups())
    return round((((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000)


def offsets_since(policy: str, admin: Admin, partitions: Collection[Partition], timeout_s: float) -> dict[Partition, int]:
    """The first offset since then of each partition that has one; none for other policies. Raises KafkaFailure."""
    if not policy.startswith(BY_DURATION):
        return {}
    offsets = admin.partition_offsets(partitions, now_ms() - reset_ms(policy), timeout_s)
    return {partition: offset for partition, offset in offsets.items() if offset >= 0}
