"""Versions are in the order of Maven's own `ComparableVersion` (maven-artifact 3.9.15), of which all pairs here were asked."""

from __future__ import annotations

from itertools import product

import pytest

from headrace.connect_config.maven_version import MavenVersion
from headrace.connect_config.versions import version_range

ORDER = """
0 < unknown < v1.2 < 0.5.3.redhat-00001 < 1.0.0-alpha < 1.0-a1 < 1.0-beta-3 = 1.0b3 < 1.0-m2 = 1.0-milestone-2 < 1.0-rc1
< 1.0-SNAPSHOT < 1.0.Final = 1.0.GA = 1.0.0 < 1.0-sp < 1.0-sp1 < 1.0-1 < 1.0-20240101 < 1.0.1 < 1.9 < 1.10 < 2.0.0.Beta2
< 2.0.0.RELEASE < 2.6.8.Final < 3.6.0.Alpha1 < 3.6.0.Alpha2 < 3.6.0.Beta1 < 3.6.0.Final < 3.6.1.CR1 < 3.6.1 = 3.6.1.Final
< 3.9.1-IBM < 4 < 4.3-rc2 < 4.3.0-rc10 < 4.3.0 = 4.3 < 4.3.1 < 7.5.0 < 7.5.0-ccs < 7.5.0-ce < 7.5.1-ccs < 10.7.4-SNAPSHOT
< 10.7.4 < 11
"""
PLACES = {text.strip(): place for place, same in enumerate(ORDER.split("<")) for text in same.split("=")}


def test_all_pairs_are_in_mavens_order():
    for (one, at), (other, there) in product(PLACES.items(), repeat=2):
        left, right = MavenVersion(one), MavenVersion(other)
        assert (left < right, left == right, left > right) == (at < there, at == there, at > there), (one, other)


@pytest.mark.parametrize(("wanted", "version", "fits"), [
    ("3.6.1", "3.6.1.Final", True), ("[3.6.1,4)", "3.6.1.Final", True), ("[3.6.1,4)", "3.6.1.CR1", False),
    ("[7.5.0,7.5.1)", "7.5.0-ccs", True), ("(,4.3.0)", "4.3.0-SNAPSHOT", True), ("[3.6.1,4)", "4.0.0.Final", False),
])  # fmt: skip
def test_ranges_are_of_that_order(wanted: str, version: str, fits: bool):
    asked = version_range(wanted)
    assert asked is not None and asked.contains(version) is fits
